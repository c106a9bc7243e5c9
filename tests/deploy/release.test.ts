import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cookieJar, createClient } from '@rushhour/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../process/free-port.ts';
import { BareRoot } from './bare-root.ts';
import { stagesOf } from './dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'rushhour-release-'));
const keys = mkdtempSync(join(tmpdir(), 'rushhour-release-key-'));
const keyFile = join(keys, 'release-key.pem');
let releaseKey: string;
const version = '0.2.0';
const name = `rushhour-${version}-linux-${process.arch}`;
/** A test listens for this machine alone. */
const loopback = { RUSHHOUR_HOST: '127.0.0.1' };
afterAll(() => {
  for (const folder of [scratch, keys]) rmSync(folder, { recursive: true, force: true });
});

describe('a release', () => {
  beforeAll(async () => {
    const packer = join(root, 'packages/agent/src/upgrade/pack-agent.ts');
    releaseKey = execFileSync(process.execPath, [packer, 'key', keyFile], { encoding: 'utf8' }).trim();
    const options = ['scripts/release.ts', '--out', scratch, '--version', version, '--key', keyFile];
    await promisify(execFile)(process.execPath, options, { cwd: root });
  });

  it('has archives of controller and agent, checksums and a bill of materials', () => {
    expect(readdirSync(scratch).toSorted()).toEqual(
      [
        'SHA256SUMS',
        `rushhour-${version}.cdx.json`,
        `${name}.tar.gz`,
        `rushhour-agent-${version}-linux-${process.arch}.json`,
        `rushhour-agent-${version}-linux-${process.arch}.tar.gz`,
        `rushhour-agent-${version}.tgz`,
      ].toSorted(),
    );
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: scratch, stdio: 'ignore' });
    const bill = JSON.parse(readFileSync(join(scratch, `rushhour-${version}.cdx.json`), 'utf8'));
    expect(bill.bomFormat).toBe('CycloneDX');
    const components = bill.components.map((component: { name: string }) => component.name);
    expect(components).toEqual(expect.arrayContaining(['fastify', 'kysely', 'ws']));
    expect(components).not.toContain('vitest');
  });

  it('has agents that accept its signed package, and no other', async () => {
    const unpacked = join(keys, 'agent');
    mkdirSync(unpacked);
    const archiveFile = join(scratch, `rushhour-agent-${version}-linux-${process.arch}.tar.gz`);
    execFileSync('tar', ['-xzf', archiveFile, '-C', unpacked]);
    // The program of the archive, with the keys that are part of it.
    const check = `
      import { releaseKeys } from '@rushhour/protocol';
      import { installPackage } from './src/upgrade/install.js';
      const [file, versionsFolder] = process.argv.slice(2);
      await installPackage({ file, version: '${version}', versionsFolder, trustedKeys: releaseKeys });
      console.log(releaseKeys.join());
    `;
    writeFileSync(join(unpacked, 'package/check.js'), check);
    const install = (file: string) =>
      execFileSync(join(unpacked, 'bin/node'), [join(unpacked, 'package/check.js'), file, join(keys, 'versions')], {
        ...{ encoding: 'utf8', stdio: 'pipe' },
      }).trim();
    const signed = join(scratch, `rushhour-agent-${version}.tgz`);
    expect(install(signed)).toBe(releaseKey);
    const tampered = readFileSync(signed);
    tampered[100] = (tampered[100] as number) ^ 1;
    writeFileSync(join(keys, 'tampered.tgz'), tampered);
    expect(() => install(join(keys, 'tampered.tgz'))).toThrow('the signature does not match');
  });

  /** A machine without Node.js with what a stage of the Dockerfile has. */
  const startContainer = async (stageName: 'controller' | 'agent', more: Record<string, string>) => {
    const { base, [stageName]: stage } = stagesOf(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'));
    const bare = await BareRoot.create(['setpriv', 'useradd', 'setcap']);
    for (const command of base?.run ?? []) expect(await bare.run(command)).toMatchObject({ code: 0 });
    mkdirSync(join(bare.root, 'opt'));
    execFileSync('tar', ['-xzf', join(scratch, `${name}.tar.gz`), '-C', join(bare.root, 'opt')]);
    renameSync(join(bare.root, 'opt', name), join(bare.root, 'opt/rushhour'));
    // The packages of the distribution are there already.
    const commands = (stage?.run ?? []).flatMap((line) => line.split('&&')).filter((one) => !/apt/.test(one));
    for (const command of commands) expect(await bare.run(command)).toMatchObject({ code: 0 });
    const env = Object.entries({ ...base?.env, ...stage?.env, ...more });
    const asUser = (command: readonly string[] = []) => {
      const words = [...env.map((entry) => entry.join('=')), '/usr/bin/setpriv', `--reuid=${stage?.user}`];
      const all = ['env', ...words, `--regid=${stage?.user}`, '--clear-groups', ...command];
      return bare.run(all.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' '));
    };
    const ended = asUser(stage?.command);
    const isHealthy = async () => (await asUser(stage?.healthCheck)).code;
    await Promise.race([
      expect.poll(isHealthy, { timeout: 120_000 }).toBe(0),
      ended.then(({ output }) => Promise.reject(new Error(output))),
    ]);
    return bare;
  };

  it('runs as the Dockerfile says on machines without Node.js: controller, web interface, command line and agents', async () => {
    const machines: BareRoot[] = [];
    try {
      const port = await freePort();
      const account = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
      const admin = { RUSHHOUR_ADMIN_EMAIL: account.email, RUSHHOUR_ADMIN_PASSWORD: account.password };
      const controller = await startContainer('controller', { RUSHHOUR_PORT: `${port}`, ...loopback, ...admin });
      machines.push(controller);
      const url = `http://127.0.0.1:${port}`;
      const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
      expect(page).toContain('/assets/');
      expect(await (await fetch(`${url}/v1/version`)).json()).toMatchObject({ data: { version } });
      expect(await (await fetch(`${url}/guide/concepts`)).text()).toContain('/guide/pictures/concepts.svg');
      const script = await (await fetch(`${url}/agent/install.sh`)).text();
      expect(script).toContain(`version='${version}'`);
      expect(script).toMatch(new RegExp(`^archives='${process.arch} [0-9a-f]{64} [0-9a-f]{64}'$`, 'm'));

      const link = 'ln -s /opt/rushhour/bin/rushhour /usr/local/bin/rushhour';
      expect(await controller.run(`mkdir -p /usr/local/bin && ${link}`)).toMatchObject({ code: 0 });
      const called = await controller.run(`RUSHHOUR_URL=${url} rushhour meta version -o json`);
      expect([called.code, JSON.parse(called.output)]).toMatchObject([0, { data: { version } }]);

      const client = createClient(url, cookieJar());
      await client.auth.login({ body: account });
      const { data } = await client.agents.createToken({ body: { name: 'x', ttlSec: 600, maxUses: 1 } });
      const token = { RUSHHOUR_JOIN_TOKEN: data.token, RUSHHOUR_AGENT_NAME: 'contained' };
      machines.push(await startContainer('agent', { RUSHHOUR_CONTROLLER: url, ...token }));
      const agent = async () => (await client.agents.list({ query: {} })).data.find(({ name }) => name === 'contained');
      await expect.poll(async () => (await agent())?.status).toBe(1);
      // An ordinary user that may send raw frames.
      const { plugins } = (await client.agents.capabilities({ params: { id: (await agent())?.id ?? 0 } })).data;
      expect(plugins.find((plugin) => plugin.name === 'stream')).toMatchObject({ available: true });
    } finally {
      for (const machine of machines) await machine.close();
    }
  });
});
