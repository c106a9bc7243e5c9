import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forget, type Recording, record } from './capture.ts';
import { replay } from './replay.ts';

const thinkMs = 700;
const bulkBytes = 3_000_000;

/** A service that greets, accepts lines, and sends a long answer on request. */
const serve = (socket: Socket): void => {
  socket.write('220 ready\r\n');
  socket.on('data', (line) => {
    const text = line.toString();
    if (text.startsWith('LONG')) socket.write(Buffer.alloc(bulkBytes, text));
    else if (text.startsWith('QUIT')) socket.end('221 bye\r\n');
    else socket.write(`250 ${text}`);
  });
};

const heard = async (socket: Socket, bytes: number): Promise<void> => {
  for (let length = 0; length < bytes; ) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    length += chunk.length;
  }
};

/** Three sessions: two start alike and differ later, the second with a pause; the third receives a long answer. */
const visit = async (port: number): Promise<void> => {
  const talk = async (lines: readonly (readonly [string, number])[], pauseMs = 0) => {
    const socket = connect(port, '127.0.0.1');
    await heard(socket, '220 ready\r\n'.length);
    for (const [line, answerBytes] of lines) {
      await sleep(pauseMs);
      socket.write(line);
      await heard(socket, answerBytes);
    }
    socket.end();
    await once(socket, 'close');
  };
  await talk([
    ['HELO a\r\n', 12],
    ['ONE\r\n', 9],
    ['QUIT\r\n', 9],
  ]);
  await talk(
    [
      ['HELO a\r\n', 12],
      ['TWO\r\n', 9],
    ],
    thinkMs,
  );
  await talk([['LONG\r\n', bulkBytes]]);
};

let recording: Recording;
beforeAll(async () => {
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  recording = await record(port, () => visit(port));
  server.close();
});
afterAll(() => {
  if (recording) forget(recording);
});

const sessions = (...indexes: number[]) => indexes.map((sessionIndex) => ({ sessionIndex }));

describe('sessions in which the server speaks first', () => {
  it('are matched once their bytes differ', async () => {
    const { client, server, notes } = await replay({
      recording,
      play: { sessions: sessions(0, 1), users: 6 },
      share: { iterations: 4 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(48);
    expect(client.counter('application.ko') + server.counter('application.mismatches')).toBe(0);
  });
});

describe('steps of megabytes', () => {
  it('are compared to the last byte', async () => {
    const { client, notes } = await replay({
      recording,
      play: { sessions: sessions(2), users: 2, timeoutMs: 10_000 },
      share: { iterations: 2 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(4);
    expect(client.counter('application.rxBytes')).toBeGreaterThanOrEqual(4 * bulkBytes);
  });
});

describe('pauses', () => {
  const lasted = async (speed: object, leastGapMs: number): Promise<number> => {
    const began = performance.now();
    const { client } = await replay({ recording, play: { sessions: sessions(1), speed, leastGapMs, timeoutMs: 600 } });
    expect(client.counter('application.ok')).toBe(1);
    return performance.now() - began;
  };

  it('are replayed as recorded or faster by a factor, short ones are skipped, and no timeout fires', async () => {
    const fast = () => lasted({ mode: 'original', multiplier: 7 }, 500);
    expect(await lasted({ mode: 'original' }, 500)).toBeGreaterThanOrEqual(2 * thinkMs);
    expect(await fast()).toBeGreaterThanOrEqual((2 * thinkMs) / 7);
    // A busy machine delays some of them, not all.
    await expect.poll(fast).toBeLessThan(1.5 * thinkMs);
    await expect.poll(() => lasted({ mode: 'original' }, 5000)).toBeLessThan(1.5 * thinkMs);
  });
});
