import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createStreamTransport } from '../data-path.ts';
import type { Chunk, Connection, Transport } from '../transport/transport.ts';

const options = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false } as const;

/** Something that sends back whatever arrives. */
const listenForEchoes = (transport: Transport) =>
  transport.listen({ host: '127.0.0.1', port: 0, isShared: false }, (connection) => ({
    onOpen() {},
    onData: ({ bytes, start, end }: Chunk) => connection.writeCopy(bytes.subarray(start, end)),
    onClose() {},
  }));

const connectTo = async (transport: Transport, port: number, onData: (connection: Connection) => void) => {
  const opened = Promise.withResolvers<void>();
  const connection = transport.connect(
    { address: '127.0.0.1', port },
    { onOpen: () => opened.resolve(), onData: () => onData(connection), onClose() {} },
  );
  await opened.promise;
  return connection;
};

const quantileOf = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

describe.each(['io_uring', 'epoll'] as const)('iterations of the loop by %s', (path) => {
  const echo = Buffer.from('echo');

  it('end when a timer is due, however busy it is', async () => {
    const transport = createStreamTransport({ path, note: () => {} }, options);
    try {
      const { port } = await listenForEchoes(transport);
      let rounds = 0;
      const again = (connection: Connection) => {
        rounds++;
        connection.writeCopy(echo);
      };
      for (let count = 0; count < 8; count++) again(await connectTo(transport, port, again));
      const lateness: number[] = [];
      for (let count = 0; count < 40; count++) {
        const due = performance.now() + 5;
        await sleep(5);
        lateness.push(performance.now() - due);
      }
      expect(rounds).toBeGreaterThan(1000);
      // Not the median: other work on the machine makes many late, but none early.
      expect(quantileOf(lateness, 0.2)).toBeLessThan(2.5);
    } finally {
      await transport.close();
    }
  });

  it('run after immediates that others have queued', async () => {
    const transport = createStreamTransport({ path, note: () => {} }, options);
    let [rounds, served] = [0, 0];
    let isOwed = false;
    const alarm = transport.createAlarm(() => {
      alarm.set(0);
      if (isOwed) return;
      isOwed = true;
      served++;
      setImmediate(() => {
        isOwed = false;
      });
    });
    try {
      alarm.set(0);
      for (; rounds < 50; rounds++) await new Promise(setImmediate);
      // The other way round it would be every second one.
      expect(served).toBeGreaterThan(rounds * 0.8);
    } finally {
      alarm.cancel();
      await transport.close();
    }
  });

  /** How long an echo takes for one who waits for it by a promise. */
  const timeEchoes = async (usesPromises: boolean): Promise<number> => {
    const transport = createStreamTransport({ path, note: () => {} }, { ...options, usesPromises });
    try {
      const { port } = await listenForEchoes(transport);
      let arrived = Promise.withResolvers<void>();
      const connection = await connectTo(transport, port, () => arrived.resolve());
      const times: number[] = [];
      for (let count = 0; count < 40; count++) {
        const start = performance.now();
        arrived = Promise.withResolvers<void>();
        connection.writeCopy(echo);
        await arrived.promise;
        times.push(performance.now() - start);
      }
      return quantileOf(times, 0.5);
    } finally {
      await transport.close();
    }
  };

  it('end with each event for users of promises', { retry: 2 }, async () => {
    expect(await timeEchoes(true)).toBeLessThan((await timeEchoes(false)) / 2);
  });
});
