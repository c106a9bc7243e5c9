import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@rushhour/client';
import { cookieJar, createClient, type Send } from '@rushhour/client';
import { Agent, fetch as fetchWith } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../process/free-port.ts';
import { type Spawned, spawnController } from '../process/spawn-controller.ts';
import { BareRoot } from './bare-root.ts';

const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
const scratch = mkdtempSync(join(tmpdir(), 'rushhour-install-'));
const archives = join(scratch, 'archives');
const packer = new URL('../../packages/agent/src/upgrade/pack-agent.ts', import.meta.url).pathname;
const service = new URL('../../packages/agent/service/', import.meta.url).pathname;

const started: Spawned[] = [];
const start = async (name: string, env: Record<string, string> = {}) => {
  const controller = await spawnController({
    ...{ RUSHHOUR_DATA_DIR: mkdtempSync(join(scratch, `${name}-`)), RUSHHOUR_AGENT_ARCHIVES: archives },
    ...{ RUSHHOUR_ADMIN_EMAIL: admin.email, RUSHHOUR_ADMIN_PASSWORD: admin.password },
    ...env,
  });
  started.push(controller);
  return controller;
};
afterAll(async () => {
  for (const controller of started) await controller.kill('SIGTERM');
  rmSync(scratch, { recursive: true, force: true });
});

const signIn = async (url: string, send?: Send) => {
  const client = createClient(url, cookieJar(send));
  await client.auth.login({ body: admin });
  return client;
};
const tokenOf = async (client: Client) =>
  (await client.agents.createToken({ body: { name: 'install', ttlSec: 600, maxUses: 1 } })).data;
const agentNamed = async (client: Client, name: string) =>
  (await client.agents.list({ query: {} })).data.find((agent) => agent.name === name);
const online = 1;

/** Runs a command line on this machine. */
const run = (line: string) =>
  promisify(execFile)('sh', ['-c', line]).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error) => ({ code: error.code as number, output: `${error.stdout}${error.stderr}` }),
  );

/** The command as it is printed, fetched by the wget of BusyBox. */
const byWget = (command: string) => command.replace('curl -fsSL', 'wget -q -O -');

describe('an agent on a machine with a shell, wget and tar', () => {
  let client: Client;
  beforeAll(async () => {
    // Made once; otherwise the first installation waits for it.
    await promisify(execFile)(process.execPath, [packer, 'archive', '--out', archives]);
    client = await signIn((await start('plain')).url);
  });

  it('is installed, enrolled, stopped, upgraded and removed', async () => {
    const bare = await BareRoot.create(['setpriv', 'useradd', 'userdel']);
    try {
      const { command, warning } = await tokenOf(client);
      expect(command).toMatch(
        /^curl -fsSL http:\/\/127\.0\.0\.1:\d+\/agent\/install\.sh \| sh -s -- --token rh_join_\S+$/,
      );
      expect(warning).toContain('RUSHHOUR_HOST=0.0.0.0');
      const before = performance.now();
      const installed = await bare.run(`time -p sh -c '${byWget(command)} --name bare'`);
      const tookSec = (performance.now() - before) / 1000;
      expect(installed).toMatchObject({ code: 0, output: expect.stringContaining('enrolled at') });
      // Other tests share the machine: its processor time is what the installation itself needs.
      const [, user, system] = /^user (\S+)\nsys (\S+)/m.exec(installed.output) ?? [];
      console.log(`installed in ${tookSec.toFixed(1)} s, ${user} s user, ${system} s system`);
      expect(Number(user) + Number(system)).toBeLessThan(10);
      await expect.poll(async () => (await agentNamed(client, 'bare'))?.status).toBe(online);

      // The library that calls the kernel and OpenSSL came along.
      const { id } = (await agentNamed(client, 'bare')) ?? { id: 0 };
      const { plugins } = (await client.agents.capabilities({ params: { id } })).data;
      expect(plugins.filter(({ reason }) => reason.includes('no direct system calls'))).toEqual([]);

      // Not root, with the capabilities of this machine, and without the token in its configuration.
      expect((await bare.run('ps -o user,args | grep "[m]ain.js"')).output).toMatch(/^rushhour/m);
      const pid = (await bare.run("pgrep -f '[m]ain.js' | tail -n 1")).output.trim();
      expect((await bare.run(`grep CapAmb /proc/${pid}/status`)).output).not.toContain('0000000000000000');
      expect((await bare.run('cat /etc/rushhour-agent/agent.env')).output).not.toContain('rh_join_');

      expect(await bare.run('rushhour-agent status')).toMatchObject({ code: 0 });
      expect(await bare.run('rushhour-agent stop')).toMatchObject({ code: 0 });
      expect(await bare.run('rushhour-agent status')).toMatchObject({ code: 3 });
      await expect.poll(async () => (await agentNamed(client, 'bare'))?.status).not.toBe(online);
      const upgraded = await bare.run('rushhour-agent upgrade');
      expect(upgraded).toMatchObject({ code: 0, output: expect.stringContaining('running') });
      await expect.poll(async () => (await agentNamed(client, 'bare'))?.status).toBe(online);
      expect(await bare.run('rushhour-agent uninstall --purge')).toMatchObject({ code: 0 });
      for (const path of [
        'opt/rushhour-agent',
        'var/lib/rushhour-agent',
        'etc/rushhour-agent',
        'usr/local/bin/rushhour-agent',
      ])
        expect(existsSync(join(bare.root, path)), path).toBe(false);
      expect((await bare.run('ps')).output).not.toContain('main.js');
    } finally {
      await bare.close();
    }
  });

  it('runs as root, and says so, where no account can get capabilities; a damaged archive is refused', async () => {
    const bare = await BareRoot.create();
    try {
      const { command } = await tokenOf(client);
      const script = (await bare.run(byWget(command).replace(/ \| sh.*/, ''))).output;
      writeFileSync(join(bare.root, 'tmp/damaged.sh'), script.replace(/^(archives='\w+ )\w{4}/m, '$10000'));
      const options = /-- (--token \S+)/.exec(command)?.[1];
      expect(await bare.run(`sh /tmp/damaged.sh ${options}`)).toMatchObject({
        code: 1,
        output: expect.stringContaining('is damaged'),
      });
      expect(existsSync(join(bare.root, 'opt/rushhour-agent'))).toBe(false);
      const installed = await bare.run(`${byWget(command)} --name plain-root`);
      expect(installed).toMatchObject({ code: 0, output: expect.stringContaining('the agent runs as root') });
      await expect.poll(async () => (await agentNamed(client, 'plain-root'))?.status).toBe(online);
    } finally {
      await bare.close();
    }
  });

  it('is refused with what to do: no token, an unknown option', async () => {
    const bare = await BareRoot.create();
    try {
      const { command } = await tokenOf(client);
      const fetched = byWget(command).replace(/ --token.*/, '');
      expect(await bare.run(fetched)).toMatchObject({ code: 1, output: expect.stringContaining('--token is needed') });
      expect(await bare.run(`${fetched} --tokn x`)).toMatchObject({ code: 64 });
    } finally {
      await bare.close();
    }
  });

  it('is refused on an architecture that the controller has no archive for', async () => {
    const { command } = await tokenOf(client);
    const other = process.arch === 'arm64' ? 'x86_64' : 'aarch64';
    writeFileSync(join(scratch, 'uname'), `#!/bin/sh\n[ "$1" = -m ] && echo ${other} || echo Linux\n`, {
      mode: 0o755,
    });
    const elsewhere = await run(`export PATH=${scratch}:$PATH; ${command} --prefix ${scratch}/other`);
    expect(elsewhere).toMatchObject({ code: 1, output: expect.stringContaining('npm run agent:archive -- --arch') });
  });

  it('has at most 60 MB', () => {
    const name = `rushhour-agent-0.1.0-linux-${process.arch}.tar.gz`;
    expect(statSync(join(archives, name)).size).toBeLessThan(60e6);
  });
});

it('the printed command works with curl and a self-signed certificate, by its pin alone', async () => {
  const [key, cert] = [join(scratch, 'key.pem'), join(scratch, 'cert.pem')];
  const subject = ['-subj', '/CN=elsewhere.test', '-days', '1', '-newkey', 'rsa:2048', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const controller = await start('tls', { RUSHHOUR_TLS_CERT: cert, RUSHHOUR_TLS_KEY: key });
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const client = await signIn(controller.url, ((url: string, init: object) =>
    fetchWith(url, { ...init, dispatcher })) as unknown as Send);
  const { command } = await tokenOf(client);
  expect(command).toContain('--fingerprint ');
  const prefix = join(scratch, 'instance');
  const forged = command.replace(/sha256\/\/.{6}/, 'sha256//AAAAAA');
  expect((await run(`${forged} --prefix ${prefix}`)).output).toContain('public key');
  expect(existsSync(prefix)).toBe(false);
  const installed = await run(`${command} --prefix ${prefix} --name tls --user root`);
  expect(installed).toMatchObject({ code: 0, output: expect.stringContaining('enrolled at https://') });
  await expect.poll(async () => (await agentNamed(client, 'tls'))?.status).toBe(online);
  expect(await run(`${prefix}/program/rushhour-agent uninstall`)).toMatchObject({ code: 0 });
  expect(existsSync(join(prefix, 'data/identity.json'))).toBe(true);
});

it('the packed agent is installed by npm and runs', async () => {
  const port = await freePort();
  const controller = await start('npm', { RUSHHOUR_PORT: String(port) });
  const client = await signIn(controller.url);
  const folder = mkdtempSync(join(scratch, 'npm-'));
  const npm = (...args: string[]) => promisify(execFile)('npm', args, { cwd: folder });
  const pack = (...args: string[]) => promisify(execFile)(process.execPath, [packer, ...args], { cwd: folder });
  await pack('pack', '--out', 'agent.tgz');
  writeFileSync(join(folder, 'package.json'), '{}');
  await npm('install', '--no-audit', '--no-fund', './agent.tgz');
  const { token } = await tokenOf(client);
  // What `npx rushhour-agent` starts.
  const program = join(folder, 'node_modules/.bin/rushhour-agent');
  const options = ['--controller', controller.url, '--token', token, '--name', 'by-npm'];
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
  const agent = execFile(program, [...options, '--data-dir', join(folder, 'data')], { env });
  const ended = new Promise((resolve) => agent.once('exit', resolve));
  await expect.poll(async () => (await agentNamed(client, 'by-npm'))?.status).toBe(online);
  agent.kill('SIGTERM');
  expect(await ended).toBe(0);
});

it('the scripts and the unit pass their checkers', async () => {
  execFileSync('shellcheck', ['-s', 'sh', join(service, 'install.sh'), join(service, 'rushhour-agent')]);
  const { output } = await controllerUnit();
  expect(output).toEqual([]);
});

/** The unit as setup would write it, checked by systemd itself. */
const controllerUnit = async () => {
  const text = readFileSync(join(service, 'rushhour-agent'), 'utf8');
  const unit = /<<UNIT\n([\s\S]*?)UNIT\n/.exec(text)?.[1] ?? '';
  const file = join(scratch, 'rushhour-agent.service');
  const values: Record<string, string> = {
    program: '/opt/x',
    configuration: '/dev/null',
    account: 'root',
    data: '/tmp',
  };
  const filled = unit.replace(/\$(\w+)/g, (_all, name) => values[name] ?? 'CAP_NET_RAW CAP_BPF');
  writeFileSync(file, filled.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
  const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', file]);
  // systemd also checks the units of other packages of this machine.
  return { output: stderr.split('\n').filter((line) => line.includes('rushhour-agent')) };
};
