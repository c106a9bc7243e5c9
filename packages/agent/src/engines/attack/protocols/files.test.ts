import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { FileExchange } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../../../tests/process/free-port.ts';
import { attemptOf, runBothEnds } from '../testing/two-ends.ts';

const protocols = ['ftp', 'smtp', 'pop3', 'imap'] as const;
const paths: [(typeof protocols)[number], 'up' | 'down'][] = [
  ['ftp', 'up'],
  ['ftp', 'down'],
  ['smtp', 'up'],
  ['pop3', 'down'],
  ['imap', 'up'],
  ['imap', 'down'],
];

const endpoint = async (protocol: string) => ({
  ...{ host: '127.0.0.1', port: await freePort() },
  ...{ service: protocol, protocol },
});
const exchangeOf = (protocol: FileExchange['protocol'], direction: 'up' | 'down', content: Buffer): FileExchange => ({
  ...{ protocol, direction, name: 'sample file.bin', contentType: 'auto' },
  content: { data: content.toString('base64') },
});

describe.each(paths)('a file over %s, %s', (protocol, direction) => {
  it.each([0, 1, 700, 300_000])('of %i bytes arrives unchanged', async (size) => {
    const content = size === 1 ? Buffer.from('.') : randomBytes(size);
    const listen = await endpoint(protocol);
    const both = await runBothEnds({
      attempts: [0, 1].map((id) =>
        attemptOf(id, { service: protocol, exchange: exchangeOf(protocol, direction, content) }),
      ),
      targets: [listen],
      listen: [listen],
      client: { timeoutMs: 3000 },
    });
    expect(both.controls.every(({ isGood }) => isGood)).toBe(true);
    for (const attempt of [0, 1]) {
      const client = both.clients[attempt];
      const server = both.servers.find((seen) => seen.attempt === attempt);
      expect(client).toMatchObject({ connect: 'ok', end: 'response', isComplete: true });
      expect(server).toMatchObject({ seen: 'full', correlation: 'token' });
      expect(client?.rxSha256).toBe(server?.sentSha256);
      if (direction === 'up' || size > 0) expect(client?.responseIsOurs).toBe(true);
      if (direction === 'up') expect(client?.sentSha256).toBe(server?.rxSha256);
    }
  });
});

/** A device that looks at what passes and may put something else in its place. */
const deviceBefore = async (port: number, treat: (text: string, client: Socket) => string | undefined) => {
  const device = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const pass = (from: Socket, to: Socket) =>
      from.on('data', (bytes) => {
        const passed = treat(bytes.toString('latin1'), client);
        if (passed !== undefined) to.write(passed, 'latin1');
      });
    pass(client, server);
    pass(server, client);
    for (const socket of [client, server]) {
      socket.on('error', () => {}).on('close', () => [client, server].map((one) => one.destroy()));
    }
  });
  device.listen(0, '127.0.0.1');
  await once(device, 'listening');
  return { port: (device.address() as AddressInfo).port, close: () => device.close() };
};

const coded = Buffer.from('a very bad file that a device would stop').toString('base64').slice(0, 24);

describe('a device in the mail path', () => {
  const run = async (
    protocol: 'smtp' | 'pop3' | 'imap',
    direction: 'up' | 'down',
    treat: Parameters<typeof deviceBefore>[1],
  ) => {
    const content = Buffer.from('a very bad file that a device would stop');
    const listen = await endpoint(protocol);
    const device = await deviceBefore(listen.port, treat);
    const both = await runBothEnds({
      attempts: [attemptOf(0, { service: protocol, exchange: exchangeOf(protocol, direction, content) })],
      targets: [{ ...listen, port: device.port }],
      listen: [listen],
      client: { timeoutMs: 1500 },
    });
    device.close();
    return { client: both.clients[0], server: both.servers.find(({ attempt }) => attempt === 0) };
  };

  it('that refuses the mail is reported with its reply', async () => {
    const { client, server } = await run('smtp', 'up', (text, client) => {
      if (!text.includes(coded)) return text;
      client.end('554 5.7.1 a virus was found\r\n');
      return undefined;
    });
    expect(client).toMatchObject({ end: 'response', status: 554, responseIsOurs: false });
    expect(server).toMatchObject({ seen: 'connected' });
  });

  it('that removes the attachment is detected', async () => {
    const { client, server } = await run('smtp', 'up', (text) =>
      text.replace(/Content-Transfer-Encoding: base64[\s\S]*?\r\n--/, 'removed\r\n--'),
    );
    expect(client).toMatchObject({ end: 'response', responseIsOurs: true });
    expect(server).toMatchObject({ seen: 'modified' });
  });

  it('that replaces the attachment is detected by the client', async () => {
    const { client, server } = await run('pop3', 'down', (text) => text.replace(coded, 'QUFBQUFBQUFBQUFBQUFBQUFB'));
    expect(server).toMatchObject({ seen: 'full' });
    expect(client).toMatchObject({ end: 'response', responseIsOurs: false });
    expect(client?.rxSha256).not.toBe(server?.sentSha256);
  });

  it('that resets the connection is distinguished from a silent one', async () => {
    const reset = await run('imap', 'down', (text, client) => {
      if (text.includes(coded)) client.resetAndDestroy();
      return text.includes(coded) ? undefined : text;
    });
    expect(reset.client).toMatchObject({ end: 'reset' });
    const silent = await run('imap', 'up', (text) => (text.includes(coded) ? undefined : text));
    expect(silent.client).toMatchObject({ end: 'timeout' });
  });
});
