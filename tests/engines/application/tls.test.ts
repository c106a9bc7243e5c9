import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createSelfSigned } from '@rushhour/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { dataPaths } from '../conformance/data-paths.ts';
import { runJob, startServer } from '../job.ts';
import { requireProgram, stopProcess, waitForPort } from '../programs.ts';
import { beside, forget, type Recording, record, recordNames, recordShop, stepsOf } from './capture.ts';
import { startHaproxy } from './proxies.ts';
import { replay } from './replay.ts';

const identity = createSelfSigned(['shop.test']);
const trusting = { verify: true, ca: identity.certificate, sni: 'shop.test' };

/** A peer in the clear that answers each line with its reverse, as `openssl s_server -rev` does. */
const recordReversed = async (): Promise<Recording> => {
  const port = await freePort();
  const reversing = createServer((socket) => {
    socket.on('data', (bytes) => socket.write(`${bytes.toString().trimEnd().split('').toReversed().join('')}\n`));
    socket.on('end', () => socket.end());
  }).listen(port, '127.0.0.1');
  await once(reversing, 'listening');
  const recording = await record(port, async () => {
    const client = connect(port, '127.0.0.1');
    for (const line of ['harbour', 'another line']) {
      client.write(`${line}\n`);
      await once(client, 'data');
    }
    client.end();
    await once(client, 'close');
  });
  reversing.close();
  return recording;
};

let [shop, reversed, names] = [] as unknown as [Recording, Recording, Recording];
const files = { certificate: '', key: '', both: '' };
beforeAll(async () => {
  shop = await recordShop();
  reversed = await recordReversed();
  names = await recordNames();
  files.certificate = beside(shop, 'cert.pem', identity.certificate);
  files.key = beside(shop, 'key.pem', identity.privateKey);
  files.both = beside(shop, 'both.pem', `${identity.certificate}\n${identity.privateKey}`);
});
afterAll(() => {
  for (const recording of [shop, reversed, names]) if (recording) forget(recording);
});

const running = async <T>(child: ChildProcess, port: number, use: () => Promise<T>): Promise<T> => {
  try {
    await waitForPort(port);
    return await use();
  } finally {
    await stopProcess(child);
  }
};

const playOf = ({ file }: Recording) => ({
  ...{ name: 'recorded', capture: file, sessions: [{ sessionIndex: 0 }], speed: { mode: 'max' }, users: 1 },
  ...{ seed: 'a', timeoutMs: 2000 },
});
const clientOf = (recording: Recording, port: number, tls: object) => ({
  engine: 'application',
  config: {
    role: 'client',
    applications: [playOf(recording)],
    targets: [{ host: '127.0.0.1', ports: [{ recorded: recording.port, ports: [port] }] }],
    shares: [{ firstUser: 0, users: 1, iterations: 3, load: {} }],
    tls,
  },
});

describe('a recorded application over TLS', () => {
  it.each(dataPaths)('is played byte for byte over %s', async (dataPath) => {
    const { client, server } = await replay({
      recording: shop,
      play: { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], users: 3 },
      shared: { dataPath },
      share: { iterations: 5 },
      more: { tls: { ...trusting, resumption: 'psk' } },
      serving: { tls: { ...identity } },
    });
    expect(client.outcome).toMatchObject({ status: 'finished' });
    expect(client.counter('application.ok')).toBe(30);
    expect(client.counter('application.ko') + server.counter('application.mismatches')).toBe(0);
  });

  it('is answered by s_server', async () => {
    requireProgram('openssl');
    const port = await freePort();
    const args = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', files.certificate, '-key', files.key];
    const reversing = spawn('openssl', [...args, '-rev', '-tls1_3'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const client = await running(reversing, port, () => runJob(clientOf(reversed, port, trusting)));
    expect(client.counter('application.ok')).toBe(3);
    expect(client.counter('application.exchanges')).toBe(6);
    expect(client.counter('application.ko') + client.counter('application.mismatches')).toBe(0);
  });

  it('answers s_client', async () => {
    requireProgram('openssl');
    const port = await freePort();
    const listen = [{ host: '127.0.0.1', port, recorded: reversed.port }];
    const tls = { ...identity, alpn: ['lines'], versions: ['1.2'] };
    const server = await startServer('application', { applications: [playOf(reversed)], listen, tls });
    const args = ['s_client', '-connect', `127.0.0.1:${port}`, '-CAfile', files.certificate, '-verify_return_error'];
    const child = spawn('openssl', [...args, '-servername', 'shop.test', '-alpn', 'lines', '-ign_eof']);
    let text = '';
    child.stdout.on('data', (bytes) => {
      const before = text;
      text += bytes;
      if (!before.includes('ruobrah') && text.includes('ruobrah')) child.stdin.write('another line\n');
    });
    child.stdin.write('harbour\n');
    const ended = once(child, 'close');
    while (!text.includes('enil rehtona')) await once(child.stdout, 'data');
    await stopProcess(child);
    await ended;
    const served = await server.stop();
    expect(text).toContain('ALPN protocol: lines');
    expect(text).toContain('Verify return code: 0 (ok)');
    expect(text).toMatch(/TLSv1\.2/);
    expect(served.counter('application.mismatches')).toBe(0);
  });

  it('passes HAProxy that decrypts it and encrypts it again, byte for byte', async () => {
    const { client, server } = await replay({
      recording: shop,
      play: { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], users: 2 },
      share: { iterations: 5 },
      more: { tls: trusting },
      serving: { tls: { ...identity } },
      through: (port) =>
        startHaproxy('tcp', port, { bind: `ssl crt ${files.both}`, server: 'ssl verify none sni str(shop.test)' }),
    });
    expect(client.counter('application.ok')).toBe(20);
    expect(client.counter('application.ko') + server.counter('application.mismatches')).toBe(0);
  });
});

describe('TLS of applications', () => {
  it('that does not verify fails by its alert, which both sides count', async () => {
    const { client, server } = await replay({
      recording: shop,
      share: { iterations: 2 },
      more: { tls: { ...trusting, ca: createSelfSigned(['other.test']).certificate } },
      serving: { tls: { ...identity } },
    });
    expect(client.counter('application.ko')).toBe(2);
    expect(client.counter('application.errors.tls')).toBe(2);
    const alerts = (sent: string) => `application.alerts.${sent}`;
    const names = ['unknownCa', 'badCertificate'].flatMap((name) => [
      alerts(`sent.${name}`),
      alerts(`received.${name}`),
    ]);
    const sent = names.map((name) => client.counter(name) + server.counter(name));
    expect(sent.toSorted()).toEqual([0, 0, 2, 2]);
  });

  it('is refused where nothing can be added to: all sessions are datagrams or were recorded encrypted', async () => {
    const encrypted = await recordEncrypted();
    for (const recording of [names, encrypted]) {
      const { client } = await replay({ recording, more: { tls: {} } });
      expect(client.outcome.error).toBe('recorded has no session over TCP that TLS could be added to');
    }
    forget(encrypted);
  });

  it('is refused where other sessions of a port were recorded encrypted', async () => {
    const mixed = await recordMixed();
    const sessions = [{ sessionIndex: 0 }, { sessionIndex: 1 }];
    const run = replay({ recording: mixed, play: { sessions }, more: { tls: {} }, serving: { tls: {} } });
    await expect(run).rejects.toThrow(/was recorded encrypted, other sessions of this port were not/);
    forget(mixed);
  });

  it('leaves the bytes as they were recorded', async () => {
    expect((await stepsOf(reversed.file, 0)).join('')).toBe('harbour\nruobrah\nanother line\nenil rehtona\n');
  });
});

/** A session in the clear, and one that begins with a ClientHello. */
const recordMixed = async (): Promise<Recording> => {
  const port = await freePort();
  const echoing = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(port, '127.0.0.1');
  await once(echoing, 'listening');
  const recording = await record(port, async () => {
    const client = connect(port, '127.0.0.1').end('harbour\n').resume();
    await once(client, 'close');
    await new Promise((resolve) =>
      connectTls({ port, host: '127.0.0.1' }, () => resolve(undefined)).on('error', resolve),
    );
  });
  echoing.close();
  return recording;
};

/** A session of s_client with s_server. */
const recordEncrypted = async (): Promise<Recording> => {
  const port = await freePort();
  const args = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', files.certificate, '-key', files.key];
  const child = spawn('openssl', [...args, '-rev'], { stdio: ['pipe', 'ignore', 'ignore'] });
  return running(child, port, () =>
    record(port, async () => {
      const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-quiet']);
      client.stdin.write('harbour\n');
      await once(client.stdout, 'data');
      client.stdin.end();
      await stopProcess(client);
    }),
  );
};
