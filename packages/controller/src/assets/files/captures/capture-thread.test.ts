import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { smallCapture } from '../testing/captures.ts';
import type { CaptureSelection, SelectedSessions } from './capture-selection.ts';
import { parseSearch } from './capture-selection.ts';
import { CaptureThread } from './capture-thread.ts';

const contentOf = (bytes: Buffer) => ({
  size: bytes.length,
  read: async (start: number, end: number) => Readable.from([bytes.subarray(start, end)]),
});
const selection: CaptureSelection = { offset: 0, length: 10, encoding: 'text', page: 1, count: 20 };

describe('the capture thread', () => {
  const thread = new CaptureThread();
  afterAll(() => thread.close());
  const endless = 're:^(([a-z\\s\\S])+.)+[A-Z]([a-z])+#$';
  const look = (search: string, timeoutMs = 20_000, signal?: AbortSignal) =>
    thread.run<SelectedSessions>(
      contentOf(smallCapture('a'.repeat(60))),
      { ...selection, search },
      { timeoutMs, signal },
    );

  it('ends a pattern that takes forever and goes on with the next capture', async () => {
    await look('warm up');
    await expect(look(endless, 1000)).rejects.toMatchObject({
      code: 'SEARCH_TOO_LONG',
    });
    expect((await look('hello')).matches).toHaveLength(1);
  });

  it('gives up what a client that went away asked for, running or waiting', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const [running, waiting] = [look(endless, 60_000, first.signal), look(endless, 60_000, second.signal)];
    second.abort();
    setTimeout(() => first.abort(), 200);
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await look('hello')).matches).toHaveLength(1);
  });

  it('answers many at once one after the other, and refuses only those that are no captures', async () => {
    const good = Array.from({ length: 5 }, () => look('hello'));
    const bad = thread.run(contentOf(Buffer.alloc(100, 1)), selection);
    await expect(bad).rejects.toMatchObject({ code: 'NOT_A_PCAP' });
    expect((await Promise.all(good)).map(({ sessions }) => sessions.length)).toEqual([1, 1, 1, 1, 1]);
  });
});

describe('a search', () => {
  const bytes = Buffer.from('abcabc\x00\xffé', 'utf8');
  it.each([
    ['abc', [0, 3]],
    ['hex:61 62', [0, 3]],
    ['re:[bc]+', [1, 4]],
    ['é', [9]],
    ['nothing', []],
  ])('for %s finds it at %j', (text, offsets) => {
    expect(parseSearch(text)(bytes).map(({ offset }) => offset)).toEqual(offsets);
  });

  it('never answers more than a hundred places of one step', () => {
    expect(parseSearch('a')(Buffer.alloc(5000, 'a'))).toHaveLength(100);
    expect(parseSearch('re:a')(Buffer.alloc(5000, 'a'))).toHaveLength(100);
  });
});
