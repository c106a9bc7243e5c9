import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CaptureReader } from '@rushhour/pcap';
import type { DumpState, ToController } from '@rushhour/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../log/log.ts';
import { CaptureFile } from './capture-file.ts';
import { type CaptureRecord, contentPath, partPath, saveRecord } from './capture-record.ts';
import { CaptureStore } from './capture-store.ts';
import { finishCapture } from './finish-capture.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rushhour-dump-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const of = { runId: 1, epoch: 2, name: '1-eth0' };
const facts = { size: 0, packets: 0, drops: 0, truncated: false, sha256: '', firstAt: null, lastAt: null, problem: '' };
const record: CaptureRecord = { ...of, ...facts, interface: 'eth0', state: 'open', pid: 2 ** 22 + 1 };
const fileOf = (keep: 'first' | 'newest', maxBytes: number, savelen = 2000) =>
  new CaptureFile({
    ...{ interface: 'eth0', linkType: 1, savelen, keep, maxBytes },
    pathOf: (part) => partPath(folder, of, part),
  });

/** The n-th packet bears its number as its time. */
const frame = (seconds: number, length = 100) => ({
  ...{ seconds, nanoseconds: 0, bytes: Buffer.alloc(length, seconds), start: 0, end: length, wireLength: length },
  ...{ isOutgoing: false, tag: -1 },
});
const counts = { received: 0, dropped: 0, from: 0, to: 0 };

const timesIn = (path: string): { times: number[]; isCut: boolean } => {
  const times: number[] = [];
  const reader = new CaptureReader(({ seconds }) => times.push(seconds) > 0);
  reader.push(readFileSync(path));
  reader.end();
  return { times, isCut: reader.cutFile };
};

describe('a capture on disk', () => {
  it('never exceeds its size, and holds the first or the newest packets without a gap', async () => {
    const sizes = fc.array(fc.integer({ min: 20, max: 1500 }), { minLength: 1, maxLength: 300 });
    const property = fc.asyncProperty(
      fc.constantFrom('first' as const, 'newest' as const),
      fc.integer({ min: 2000, max: 100_000 }),
      sizes,
      async (keep, maxBytes, lengths) => {
        const file = fileOf(keep, maxBytes);
        for (const [index, length] of lengths.entries()) if (!file.add(frame(index + 1, length))) break;
        file.end(counts);
        const { packets, truncated } = file.facts;
        const closed = await finishCapture(folder, { ...record, packets, truncated });
        const { times, isCut } = timesIn(contentPath(folder, of));
        expect(isCut).toBe(false);
        expect(closed.size).toBeLessThanOrEqual(maxBytes);
        expect(times).toHaveLength(packets);
        expect(truncated).toBe(times.length < lengths.length);
        const isWhole = lengths.every((length) => length + 200 < maxBytes / 8);
        if (keep === 'first') expect(times).toEqual(times.map((_, index) => index + 1));
        else if (isWhole) expect(times).toEqual(times.map((_, index) => lengths.length - times.length + 1 + index));
        for (const name of readdirSync(folder)) rmSync(join(folder, name));
      },
    );
    await fc.assert(property, { numRuns: 30 });
  });

  it('is closed with its hash', async () => {
    const file = fileOf('first', 10_000);
    file.add(frame(5));
    file.end(counts);
    const closed = await finishCapture(folder, { ...record, ...file.facts });
    const bytes = readFileSync(contentPath(folder, of));
    expect(closed).toMatchObject({ state: 'closed', size: bytes.length, packets: 1, firstAt: 5000, lastAt: 5000 });
    expect(closed.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  });
});

describe('captures of a restarted agent', () => {
  const sent: ToController[] = [];
  const openDumps = () =>
    new CaptureStore({
      ...{ folder, cacheFolder: folder, log: new Log([]), controller: () => undefined },
      send: (message) => sent.push(message) > 0,
    });
  const reported = (): DumpState[] => sent.flatMap((message) => (message.type === 'dumps' ? message.dumps : []));
  beforeEach(() => void sent.splice(0));

  it('are recovered from a killed process: truncated to whole blocks, counted and reported', async () => {
    const file = fileOf('first', 100_000);
    for (const second of [1, 2, 3]) file.add(frame(second));
    file.flush();
    appendFileSync(partPath(folder, of, 0), readFileSync(partPath(folder, of, 0)).subarray(60, 95));
    await saveRecord(folder, record);
    const captures = openDumps();
    await captures.load();
    await vi.waitFor(() => expect(reported()).toHaveLength(1));
    const [state] = reported();
    expect(state).toMatchObject({ ...of, state: 'closed', packets: 3, truncated: true, firstAt: 1000, lastAt: 3000 });
    expect(state?.problem).toContain('interrupted');
    expect(timesIn(contentPath(folder, of))).toEqual({ times: [1, 2, 3], isCut: false });
  });

  it('are read in pieces and deleted when the controller has them', async () => {
    const file = fileOf('first', 100_000);
    for (const second of [1, 2, 3]) file.add(frame(second, 1000));
    file.end(counts);
    await finishCapture(folder, { ...record, ...file.facts });
    const bytes = readFileSync(contentPath(folder, of));
    const captures = openDumps();
    await captures.load();
    captures.sessionOpened();
    expect(reported()).toMatchObject([{ ...of, state: 'closed', packets: 3 }]);
    const pieces = [];
    for (let offset = 0; offset < bytes.length; offset += 700) {
      pieces.push(Buffer.from((await captures.read({ ...of, offset, length: 700 })).base64, 'base64'));
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    await captures.forget(of);
    expect(readdirSync(folder)).toEqual([]);
    await expect(captures.read({ ...of, offset: 0, length: 1 })).rejects.toThrow('no closed capture');
  });
});
