import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';

const identity = createSelfSigned(['localhost']);
/** A prime length: a part that is missing, twice or moved changes the text. */
const pattern = 'segments-'.repeat(40).slice(0, 251);
const size = 200_000;
const text = pattern.repeat(Math.ceil(size / pattern.length)).slice(0, size);
const responses = [{ body: { type: 'pattern', data: pattern, size } }];
const emulated = '10.99.0.200';

const hostsOn = (side: Side, hosts: string): HostStack => ({
  interface: side.device,
  networks: [{ subnet: '10.99.0.0/24', hosts: [hosts] }],
  vlan: [],
  header: {},
  tcp: {},
});

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-peers-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Runs a server program in a namespace until the test ends; resolves once it listens. */
const start = async (side: Side, port: number, ...command: string[]): Promise<void> => {
  requireProgram(command[0] as string);
  const [program = '', ...args] = [...inside(side), ...command];
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await expect.poll(() => side.run('ss', '-ltnH', `sport = :${port}`)).toContain(`:${port}`);
};

const run = async (side: Side, ...command: string[]): Promise<string> => {
  const [program = '', ...args] = [...inside(side), ...command];
  return (await execute(program, args, { maxBuffer: 1 << 26 })).stdout;
};

const writeIdentity = (folder: string) => {
  const [cert, key, both] = [join(folder, 'cert'), join(folder, 'key'), join(folder, 'both')];
  writeFileSync(cert, identity.certificate);
  writeFileSync(key, identity.privateKey);
  writeFileSync(both, `${identity.certificate}\n${identity.privateKey}`);
  return { cert, key, both };
};

const nginxConfiguration = (folder: string, address: string): string => {
  const { cert, key } = writeIdentity(folder);
  writeFileSync(join(folder, 'body'), `${text}the end`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root;
    events { worker_connections 1024; }
    http { log_format seen '$remote_addr'; access_log ${folder}/access.log seen;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      server { listen ${address}:8081; listen ${address}:8443 ssl http2;
        ssl_certificate ${cert}; ssl_certificate_key ${key}; root ${folder}; } }`;
};

describe('emulated hosts and programs on the kernel of another machine', () => {
  const cable = useCable('test');

  const ask = (config: object, engine = 'http', count = 60) =>
    runJobIn(cable.left, {
      engine,
      config: { role: 'client', connections: 6, ...config },
      duration: { mode: 'count', count },
      stack: hostsOn(cable.left, '10.99.0.10-10.99.0.19'),
    });
  const serve = (more: object = {}) =>
    startJobIn(cable.left, {
      engine: 'http',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], responses, ...more },
      duration: { mode: 'continuous' },
      stack: hostsOn(cable.left, emulated),
    });

  it.each([
    ['HTTP/1.1', 8081, {}],
    ['TLS', 8443, { tls: { verify: true, ca: identity.certificate, sni: 'localhost' } }],
    ['HTTP/2 over TLS', 8443, { version: '2', maxStreams: 4, tls: { alpn: ['h2'] } }],
  ])('are answered by nginx: %s', async (_name, port, more) => {
    const folder = temporaryFolder();
    const { address } = cable.right;
    writeFileSync(join(folder, 'nginx.conf'), nginxConfiguration(folder, address));
    await start(cable.right, port, 'nginx', '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log'));
    const client = await ask({
      targets: [{ host: address, port }],
      path: '/body',
      expect: { bodyContains: 'the end' },
      ...more,
    });
    expect(client.counter('http.rxBytes')).toBeGreaterThan(60 * size);
    expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([60, 0]);
    const seen = () => readFileSync(join(folder, 'access.log'), 'utf8').trim().split('\n');
    await expect.poll(() => seen().length).toBe(client.counter('http.requests'));
    expect(seen().every((from) => /^10\.99\.0\.1\d$/.test(from))).toBe(true);
  });

  it('shake hands with openssl s_server, and s_client with them', async () => {
    const { cert, key } = writeIdentity(temporaryFolder());
    const port = 8444;
    await start(
      cable.right,
      port,
      'openssl',
      's_server',
      '-accept',
      String(port),
      '-cert',
      cert,
      '-key',
      key,
      '-quiet',
    );
    const client = await ask({ targets: [{ host: cable.right.address, port }], connections: 1, tls: {} }, 'tls', 10);
    expect([client.counter('tls.full'), client.counter('tls.failed')]).toEqual([10, 0]);
    const server = await serve({ tls: { ...identity } });
    const request = String.raw`printf 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'`;
    const s_client = `openssl s_client -connect ${emulated}:8080 -ign_eof -quiet -CAfile ${cert} -verify_return_error`;
    expect(await run(cable.right, 'sh', '-c', `${request} | ${s_client} 2>/dev/null`)).toContain(text);
    await server.stop();
  });

  it.each([
    ['HTTP/1.1', ['--next', '-sk', `http://${emulated}:8080/`], {}],
    ['TLS', [] as string[], { tls: { ...identity } }],
    ['HTTP/2 over TLS', ['--http2'], { version: '2', tls: { ...identity } }],
  ])('answer curl: %s', async (_name, more, options) => {
    const server = await serve(options);
    const url = `${'tls' in options ? 'https' : 'http'}://${emulated}:8080/`;
    const answer = await run(cable.right, 'curl', '-sk', url, ...more);
    const times = more.includes('--next') ? 2 : 1;
    expect(answer === text.repeat(times)).toBe(true);
    expect((await server.stop()).counter('http.served')).toBe(times);
  });

  it.each([
    ['TCP', 'tcp', false],
    ['TLS at the front', 'http', true],
  ])('talk to each other through HAProxy: %s', async (_name, mode, isSecure) => {
    const folder = temporaryFolder();
    const { both } = writeIdentity(folder);
    const server = await serve();
    const front = `bind ${cable.right.address}:8082${isSecure ? ` ssl crt ${both}` : ''}`;
    writeFileSync(
      join(folder, 'haproxy.cfg'),
      `defaults\n mode ${mode}\n timeout connect 60s\n timeout client 60s\n timeout server 60s\n
       frontend f\n ${front}\n default_backend b\nbackend b\n server s ${emulated}:8080\n`,
    );
    await start(cable.right, 8082, 'haproxy', '-db', '-f', join(folder, 'haproxy.cfg'));
    const targets = [{ host: cable.right.address, port: 8082 }];
    const client = await ask({ targets, expect: { bodyContains: pattern }, ...(isSecure && { tls: {} }) });
    expect(client.counter('http.rxBytes')).toBeGreaterThan(60 * size);
    expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([60, 0]);
    expect((await server.stop()).counter('http.served')).toBe(client.counter('http.requests'));
  });
});
