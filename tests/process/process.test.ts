import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cookieJar, createClient } from '@rushhour/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres } from '../../scripts/postgres.ts';
import { runCrashes } from './crash.ts';
import { spawnController } from './spawn-controller.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'rushhour-process-'));
});
afterEach(async () => {
  // Processes that a failed test left running, including those still starting.
  for (const one of await Promise.allSettled(started.splice(0))) {
    if (one.status === 'fulfilled') await one.value.kill('SIGKILL');
  }
  rmSync(dataDir, { recursive: true, force: true });
});

const started: ReturnType<typeof spawnController>[] = [];
const start = (env: Record<string, string> = {}, options: Parameters<typeof spawnController>[1] = {}) => {
  const controller = spawnController({ RUSHHOUR_DATA_DIR: dataDir, ...env }, options);
  started.push(controller);
  return controller;
};

describe('the first start', () => {
  it('prints credentials once; their session must set a password', async () => {
    const first = await start();
    const [, email = '', password = ''] = /e-mail\s+(\S+)\s+password\s+(\S+)/.exec(first.output()) ?? [];
    const client = createClient(first.url, cookieJar());
    expect((await client.auth.login({ body: { email, password } })).data.isRequiredToSetPassword).toBe(true);
    expect(await first.kill('SIGTERM')).toBe(0);
    const second = await start();
    expect(second.output()).not.toContain('password');
    expect(await second.kill('SIGINT')).toBe(0);
  });

  it('makes folder, key and database readable by the owner only', async () => {
    const folder = join(dataDir, 'new');
    // Without this variable the compile cache is in the data folder, and was the first to make it.
    const env = { RUSHHOUR_DATA_DIR: folder, NODE_COMPILE_CACHE: '' };
    const controller = await start(env);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['rushhour.db', 'rushhour.db-wal', 'secret.key']),
    );
    for (const { name } of files) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    await controller.kill('SIGKILL');
    for (const { name } of files) chmodSync(join(folder, name), 0o644);
    chmodSync(folder, 0o755);
    await (await start(env)).kill('SIGKILL');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const { name } of files) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it('is refused in a folder of others, whose permissions stay', async () => {
    chmodSync(dataDir, 0o755);
    writeFileSync(join(dataDir, 'notes.txt'), '');
    await expect(start()).rejects.toThrow(
      /ended with 1: could not start: the data folder \S+ is open to other users[^\n]*\n$/,
    );
    expect(statSync(dataDir).mode & 0o777).toBe(0o755);
  });

  it('is refused with all problems of the configuration', async () => {
    await expect(start({ RUSHHOUR_PORT: 'x', RUSHHOUR_LOG_LEVEL: 'y' })).rejects.toThrow(
      /ended with 78[\s\S]*RUSHHOUR_PORT[\s\S]*RUSHHOUR_LOG_LEVEL/,
    );
  });

  it('is refused with another secret key than before', async () => {
    const controller = await start();
    await controller.kill('SIGTERM');
    writeFileSync(join(dataDir, 'secret.key'), Buffer.alloc(32, 1).toString('base64'));
    await expect(start()).rejects.toThrow('sealed with another secret key');
  });

  it('happens once when several controllers start together on one database', async () => {
    const cluster = await startPostgres();
    try {
      const env = { DATABASE_URL: cluster.url, RUSHHOUR_SECRET_KEY: Buffer.alloc(32, 3).toString('base64') };
      const controllers = await Promise.all([1, 2, 3].map(() => start(env)));
      expect(controllers.filter((one) => one.output().includes('password')).length).toBe(1);
      for (const controller of controllers) expect(await controller.kill('SIGTERM')).toBe(0);
    } finally {
      await cluster.stop();
    }
  });

  it('is refused while another controller uses the folder, and possible once that one was killed', async () => {
    const two = await Promise.allSettled([start(), start()]);
    const [first] = two.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const [refusal] = two.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error).message] : []));
    expect(refusal).toMatch(/^ended with 1: could not start: another controller uses the data folder [^\n]*\n$/);
    expect((await fetch(`${first?.url}/readyz`)).status).toBe(200);
    await first?.kill('SIGKILL');
    await (await start()).kill('SIGTERM');
  });
});

it('contents that no record names are in the trash after a start, and the log has their number', async () => {
  await (await start()).kill('SIGTERM');
  const sha256 = 'ab'.repeat(32);
  const shelf = join(dataDir, 'files', 'ab', 'ab');
  mkdirSync(shelf, { recursive: true });
  writeFileSync(join(shelf, sha256), 'an orphan');
  const { output } = await start({ RUSHHOUR_LOG_LEVEL: 'warn' });
  await expect.poll(output).toMatch(/"trashed":1,.*swept file contents/);
  expect([join(dataDir, 'files', '.trash'), shelf].map((folder) => existsSync(join(folder, sha256)))).toEqual([
    true,
    false,
  ]);
});

describe('a start is refused with one sentence when', () => {
  const nobody = 65_534;
  let template: string;
  beforeAll(async () => {
    template = mkdtempSync(join(tmpdir(), 'rushhour-template-'));
    await (await spawnController({ RUSHHOUR_DATA_DIR: template })).kill('SIGTERM');
  });
  afterAll(() => rmSync(template, { recursive: true, force: true }));
  const database = () => join(dataDir, 'rushhour.db');
  /** Permissions do not bind root, so root runs the controller as another user. */
  const makeReadOnly = () => {
    chmodSync(database(), 0o400);
    if (process.getuid?.() !== 0) return {};
    for (const name of ['.', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(dataDir, name), nobody, nobody);
    }
    return { uid: nobody };
  };
  const cases: Record<string, { spoil(): unknown; sentence: RegExp }> = {
    'the key file is missing': {
      spoil: () => rmSync(join(dataDir, 'secret.key')),
      sentence: /the key file \S+ is missing/,
    },
    'the database is no database': {
      spoil: () => writeFileSync(database(), 'x'.repeat(8192)),
      sentence: /the database file is damaged: restore it from a backup/,
    },
    'the database is cut off': {
      spoil: () => truncateSync(database(), Math.floor(statSync(database()).size / 8192) * 4096),
      sentence: /the database file is damaged/,
    },
    'the database is read-only': { spoil: makeReadOnly, sentence: /the database file cannot be written/ },
  };

  it.for(Object.entries(cases))('%s', async ([, { spoil, sentence }]) => {
    cpSync(template, dataDir, { recursive: true });
    const options = spoil() as { uid?: number } | undefined;
    const error = (await start({}, options).catch((reason) => reason)) as Error;
    expect(error.message).toMatch(/^ended with 1: could not start: [^\n]+\n$/);
    expect(error.message).toMatch(sentence);
    expect(readdirSync(dataDir).includes('secret.key')).toBe(!sentence.source.includes('key file'));
  });

  it('the port is used', async () => {
    const { url } = await start();
    const env = { RUSHHOUR_PORT: new URL(url).port, RUSHHOUR_DATA_DIR: join(dataDir, 'other') };
    await expect(start(env)).rejects.toThrow(/^ended with 1: could not start: port \d+ of 127.0.0.1 is used [^\n]+\n$/);
  });
});

describe('two controllers on one database', () => {
  it('notify each other of changes: settings and notifications reach both', async () => {
    const cluster = await startPostgres();
    const admin = { email: 'two@example.test', password: 'six-Warm-Stones-lie' };
    const env = {
      DATABASE_URL: cluster.url,
      RUSHHOUR_SECRET_KEY: Buffer.alloc(32, 4).toString('base64'),
      RUSHHOUR_ADMIN_EMAIL: admin.email,
      RUSHHOUR_ADMIN_PASSWORD: admin.password,
    };
    const controllers = await Promise.all([start(env), start(env)]);
    try {
      const send = cookieJar();
      const [one, two] = controllers.map(({ url }) => createClient(url, send));
      await one?.auth.login({ body: admin });
      const stream = await two?.notifications.stream();
      await one?.settings.update({ body: { auth: { accessTtlSec: 61 } } });
      for await (const { event, data } of stream ?? []) {
        expect([event, data]).toMatchObject(['notification', { kind: 'settings.changed' }]);
        break;
      }
      const login = await two?.auth.login({ body: admin });
      expect(Date.parse(login?.data.accessExpiresAt ?? '') - Date.now()).toBeLessThanOrEqual(61_000);
    } finally {
      await Promise.all(controllers.map((controller) => controller.kill('SIGKILL')));
      await cluster.stop();
    }
  });
});

describe('a signal', () => {
  const slowRequest = (url: string) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 31\r\n\r\n{"email":"a"',
    );
    // A process that exits immediately resets its connections.
    socket.on('error', () => {});
    const answer = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
    return { answer, finish: () => socket.write(',"password":"abcd"}') };
  };

  it('lets requests in flight finish and ends with 0', async () => {
    const controller = await start();
    const request = slowRequest(controller.url);
    await sleep(200);
    controller.process.kill('SIGTERM');
    await sleep(300);
    request.finish();
    expect(await request.answer).toMatch(/^HTTP\/1.1 401/);
    expect(await controller.ended).toBe(0);
  });

  it('ends the process immediately when sent twice', async () => {
    const controller = await start();
    slowRequest(controller.url);
    await sleep(200);
    controller.process.kill('SIGTERM');
    await sleep(200);
    expect(await controller.kill('SIGTERM')).toBe(1);
  });
});

describe('probes', () => {
  it('report liveness, readiness and metrics', async () => {
    const controller = await start();
    expect((await fetch(`${controller.url}/livez`)).status).toBe(200);
    expect(await (await fetch(`${controller.url}/readyz`)).json()).toMatchObject({ status: 'ok' });
    await fetch(`${controller.url}/v1/version`);
    const metrics = await (await fetch(`${controller.url}/metrics`)).text();
    expect(metrics).toMatch(/rushhour_http_request_duration_seconds_count{operation="meta.version",status="200"} 1/);
    await controller.kill('SIGTERM');
  });
});

describe('SIGKILL in the middle of writes', () => {
  it('loses no acknowledged write, and the audit chain is intact', async () => {
    const { acknowledged, lost, audit } = await runCrashes(3);
    expect(Object.entries(acknowledged).filter(([, count]) => count === 0)).toEqual([]);
    expect(lost).toEqual([]);
    expect(audit).toEqual({ entries: expect.any(Number) });
  });
});

it('HTTPS uses the configured certificate and marks cookies Secure', async () => {
  const [key, cert] = [join(dataDir, 'key.pem'), join(dataDir, 'cert.pem')];
  await new Promise((resolve, reject) => {
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
    ];
    execFile('openssl', args, (error) => (error ? reject(error) : resolve(undefined)));
  });
  const admin = { email: 'tls@example.test', password: 'two-Blue-Anchors-rest' };
  const controller = await start({
    RUSHHOUR_TLS_CERT: cert,
    RUSHHOUR_TLS_KEY: key,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
  });
  expect(controller.url).toMatch(/^https:/);
  const { Agent, fetch: fetchWith } = await import('undici');
  const response = await fetchWith(`${controller.url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
    dispatcher: new Agent({ connect: { ca: readFileSync(cert, 'utf8'), checkServerIdentity: () => undefined } }),
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000');
  for (const cookie of response.headers.getSetCookie()) expect(cookie).toContain('; Secure');
  await controller.kill('SIGTERM');
});
