import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { shopCapture, shopSteps } from '../testing/shop-capture.ts';
import { runCaptureTask } from './run-capture-task.ts';

const nothing = { clientIp: '', mode: 'stateful', parameters: [], sessions: undefined };
const open = async () => Readable.from(chunksOf(shopCapture(), 100));
const looking = (pattern: string) => ({
  kind: 'analyze' as const,
  job: { ...nothing, options: { find: [{ pattern, type: 'regex' as const }] } },
});

function* chunksOf(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('many tasks at once each get their own answer', async () => {
  const counts = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const outcome = await runCaptureTask(looking(index % 2 === 0 ? 'anna' : 'cart of'), { open });
      return outcome.matches.filter(({ sessionIdx, encoding }) => sessionIdx === 0 && encoding === 'plain').length;
    }),
  );
  const occurrences = (text: string) => shopSteps.join('').split(text).length - 1;
  expect(counts).toEqual(Array.from({ length: 8 }, (_, index) => occurrences(index % 2 === 0 ? 'anna' : 'cart of')));
});

test('a task that takes too long is ended, and the next one is served', async () => {
  const started = performance.now();
  const evil = looking('(?:(?:.*)*)*%%%');
  await expect(runCaptureTask(evil, { open, searchMs: 200 })).rejects.toMatchObject({ code: 'PATTERN_TOO_SLOW' });
  expect(performance.now() - started).toBeLessThan(10_000);
  expect((await runCaptureTask(looking('anna'), { open })).matches.length).toBeGreaterThan(0);
});

test('a caller who goes away ends the task', async () => {
  const slow = async () =>
    new Readable({
      read() {},
    });
  const ending = new AbortController();
  const task = runCaptureTask(looking('anna'), { open: slow, signal: ending.signal });
  setTimeout(() => ending.abort(new Error('gone')), 100);
  await expect(task).rejects.toThrow('gone');
});

test('files that are not captures and broken streams fail differently', async () => {
  const text = async () => Readable.from([Buffer.from('this is no capture at all, only a line of text')]);
  await expect(runCaptureTask(looking('x'), { open: text })).rejects.toMatchObject({ code: 'NOT_A_PCAP' });
  const broken = async () =>
    Readable.from(
      (async function* () {
        yield shopCapture().subarray(0, 50);
        throw new Error('the disk is gone');
      })(),
    );
  await expect(runCaptureTask(looking('x'), { open: broken })).rejects.toThrow('the disk is gone');
});

test('a trimmed capture is written while it is made', async () => {
  const chunks: Uint8Array[] = [];
  const write = async (bytes: Uint8Array) => {
    chunks.push(bytes);
  };
  const job = { clientIp: '', parameters: [], options: { keepSessions: [1, 2] } };
  const outcome = await runCaptureTask({ kind: 'trim', job }, { open, write });
  expect(outcome.sessionsRemap).toEqual([
    { from: 1, to: 0 },
    { from: 2, to: 1 },
  ]);
  const trimmed = async () => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const { sessions } = await runCaptureTask({ kind: 'analyze', job: { ...nothing, options: {} } }, { open: trimmed });
  expect(sessions.map(({ protocol }) => protocol)).toEqual(['udp', 'tcp']);
});
