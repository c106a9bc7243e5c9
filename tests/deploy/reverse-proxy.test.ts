import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookieJar, createClient, type Send } from '@rushhour/client';
import { Agent, fetch as fetchWith, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documents } from '../docs/documents.ts';
import { stopProcess, waitForPort } from '../engines/programs.ts';
import { freePort } from '../process/free-port.ts';
import { type System, startSystem } from '../system/system.ts';

// nginx with the configuration that the documentation shows, and a controller with the variables beside it.
const page = documents.find(({ path }) => path === 'docs/operations.md');
const shown = page?.blocks.find(({ language }) => language === 'nginx')?.text ?? '';
const account = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
const folder = mkdtempSync(join(tmpdir(), 'rushhour-proxy-'));
const cert = join(folder, 'cert.pem');
let system: System;
let nginx: ChildProcess;
let url: string;
let dispatcher: Agent;

const startNginx = async (port: number) => {
  const replaced: [string, string][] = [
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['/etc/ssl/lab.pem', cert],
    ['/etc/ssl/lab.key', join(folder, 'key.pem')],
    ['http://127.0.0.1:8080', system.url],
  ];
  for (const [text] of replaced) expect(shown).toContain(text);
  const block = replaced.reduce((text, [from, to]) => text.replace(from, to), shown);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  const general = `worker_processes 1; daemon off; pid ${folder}/pid; events {}`;
  writeFileSync(join(folder, 'nginx.conf'), `${general}\nhttp { access_log off; ${paths.join(' ')}\n${block}}\n`);
  nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' });
  await waitForPort(port);
};

beforeAll(async () => {
  const names = ['-addext', 'subjectAltName=DNS:lab.example.test,IP:127.0.0.1', '-subj', '/CN=lab.example.test'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', join(folder, 'key.pem'), '-out', cert], {
    stdio: 'ignore',
  });
  const variables = {
    RUSHHOUR_PUBLIC_URL: 'https://lab.example.test',
    RUSHHOUR_TRUSTED_PROXIES: '127.0.0.1',
    RUSHHOUR_ALLOWED_HOSTS: 'lab.example.test',
    RUSHHOUR_ALLOW_HTTP: '',
  };
  for (const name of Object.keys(variables).slice(0, 3))
    expect(readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')).toContain(`\`${name}\``);
  system = await startSystem({}, variables);
  const port = await freePort();
  await startNginx(port);
  url = `https://lab.example.test:${port}`;
  dispatcher = new Agent({
    connect: {
      ca: readFileSync(cert),
      lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    },
  });
});
afterAll(async () => {
  await system?.close();
  if (nginx !== undefined) await stopProcess(nginx);
  await dispatcher?.close();
  rmSync(folder, { recursive: true, force: true });
});

const throughProxy: Send = ((address: string, init: object) =>
  fetchWith(address, { ...init, dispatcher })) as unknown as Send;

it('people sign in with secure cookies, and upload more than a proxy takes by itself', async () => {
  const login = await request(`${url}/v1/auth/login`, {
    ...{ dispatcher, method: 'POST', body: JSON.stringify(account) },
    headers: { 'content-type': 'application/json', origin: 'https://lab.example.test' },
  });
  await login.body.dump();
  expect([login.statusCode, String(login.headers['set-cookie'])]).toEqual([200, expect.stringContaining('Secure')]);
  const client = createClient(url, cookieJar(throughProxy));
  await client.auth.login({ body: account });
  const content = Buffer.alloc(3 * 1024 * 1024, 7);
  const body = { name: 'large', category: 'other', size: content.length } as const;
  const { data: id } = await client.files.create({ body });
  await client.files.content(
    { params: { id }, chunk: content },
    { headers: { 'content-range': `bytes 0-${content.length - 1}/${content.length}` } },
  );
  const file = await client.files.download({ params: { id } });
  expect(Buffer.from(await file.arrayBuffer()).equals(content)).toBe(true);
  const { data } = await client.agents.createToken({ body: { name: 'x', ttlSec: 600, maxUses: 1 } });
  expect(data.command).toMatch(/^curl -fsSL https:\/\/lab\.example\.test\/agent\/install\.sh \| sh /);
});

it('events arrive as they happen', async () => {
  const client = createClient(url, cookieJar(throughProxy));
  await client.auth.login({ body: account });
  const stream = await client.notifications.stream({});
  const first = (async () => {
    for await (const { event, data } of stream)
      if (event === 'notification' && (data as { kind: string }).kind === 'settings.changed') return event;
    return 'the stream ended';
  })();
  await system.client.settings.update({ body: { auth: { accessTtlSec: 601 } } });
  expect(await first).toBe('notification');
});

it('agents reach the controller, and strangers’ names are refused', async () => {
  const port = new URL(url).port;
  const agent = await system.addAgent('behind-proxy', {
    url: `https://127.0.0.1:${port}`,
    env: { RUSHHOUR_CONTROLLER_CA: cert },
  });
  expect(agent.id).toBeGreaterThan(0);
  const names = { servername: 'lab.example.test', headers: { host: 'evil.example' } };
  const asked = get({ host: '127.0.0.1', port, path: '/v1/projects', ca: readFileSync(cert), ...names });
  const [stranger] = (await once(asked, 'response')) as [IncomingMessage];
  stranger.resume();
  expect(stranger.statusCode).toBe(421);
});
