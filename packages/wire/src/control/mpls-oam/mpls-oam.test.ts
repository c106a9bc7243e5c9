import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../bytes/memory.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { createRandom } from '../../testing/random.ts';
import {
  answerLspEcho,
  type LspEcho,
  lspMessage,
  lspReplyMode,
  lspReturn,
  lspTarget,
  parseLspEcho,
  writeLspEcho,
} from './message.ts';
import { LspPing, type LspPingOptions } from './pinger.ts';

const target = { kind: lspTarget['ldp-ipv4'], address: 0x0a800001, length: 32 };
const request: LspEcho = {
  ...{ type: lspMessage.request, replyMode: lspReplyMode.ip, returnCode: 0, returnSubcode: 0 },
  ...{ handle: 0x0a63000a, sequence: 7, sentMs: 1500, receivedMs: 0, target, copied: 0, dropped: 0 },
};
const header = '00010001010200000a63000a00000007';
const fec = '0001000c000100050a80000120000000';

describe('messages of LSP ping', () => {
  it('are written byte for byte as RFC 8029 says', () => {
    // 1.5 seconds after 1970 in the time of NTP.
    const times = `83aa7e8180000000${'0'.repeat(16)}`;
    expect(hexOfBytes(writeLspEcho(request))).toBe(`${header}${times}${fec}`);
    const padded = hexOfBytes(writeLspEcho({ ...request, dropped: 5, copied: 4 }));
    expect(padded).toBe(`${header}${times}${fec}0003000501000000000000000003000402000000`);
  });

  it('are read as they were written', () => {
    const bytes = writeLspEcho({ ...request, dropped: 6, copied: 3 });
    expect(parseLspEcho(bytes)).toEqual({ ...request, dropped: 6, copied: 3 });
    const generic = { ...target, kind: lspTarget['generic-ipv4'], length: 24 };
    expect(parseLspEcho(writeLspEcho({ ...request, target: generic }))?.target).toEqual(generic);
  });

  it('ask for BFD with the bytes of RFC 5884, and answers have the discriminator of their own end only', () => {
    const bytes = writeLspEcho({ ...request, bfdDiscriminator: 0x80000001 });
    expect(hexOfBytes(bytes).slice(-16)).toBe('000f000480000001');
    const parsed = parseLspEcho(bytes) as LspEcho;
    expect(parsed).toEqual({ ...request, bfdDiscriminator: 0x80000001 });
    const answer = answerLspEcho(parsed, 16, { labelOf: () => 16, isKnown: () => true }, 1000);
    expect(answer).toMatchObject({ returnCode: lspReturn.egress, bfdDiscriminator: undefined });
  });

  it('tell what is wrong with a request', () => {
    const codeOf = (change: (bytes: Uint8Array) => unknown): number | undefined => {
      const bytes = writeLspEcho(request);
      change(bytes);
      return parseLspEcho(bytes)?.returnCode;
    };
    const put = (at: number, value: number) => (bytes: Uint8Array) => bytes.fill(value, at, at + 1);
    expect(codeOf(() => {})).toBe(lspReturn.none);
    expect(codeOf(put(35, 200))).toBe(lspReturn.malformed);
    expect(codeOf(put(44, 33))).toBe(lspReturn.malformed);
    expect(codeOf(put(33, 200))).toBe(lspReturn.unknownTlv);
    expect(codeOf(put(32, 0x80))).toBe(lspReturn.none);
    expect(codeOf(put(1, 2))).toBeUndefined();
    expect(codeOf(put(4, 9))).toBeUndefined();
  });

  it.each([
    ['its label', 100_000, target, lspReturn.egress],
    ['the label of another prefix', 100_001, target, lspReturn.otherLabel],
    ['a label that was not given out', 99, target, lspReturn.noLabel],
    ['a prefix without a label', 100_000, { ...target, address: 1 }, lspReturn.noMapping],
    ['no label where one is needed', undefined, target, lspReturn.otherLabel],
    ['no label for the own address', undefined, { ...target, address: 2 }, lspReturn.egress],
    ['no prefix', 100_000, undefined, lspReturn.malformed],
  ] as const)('are answered with the code for %s', (_, label, wanted, code) => {
    const lookup = {
      labelOf: ({ address }: { address: number }) =>
        ({ 1: undefined, 2: 3 })[address] ?? (address > 2 ? 100_000 : undefined),
      isKnown: (one: number) => one >= 100_000,
    };
    const answer = answerLspEcho({ ...request, target: wanted, copied: 9, dropped: 5 }, label, lookup, 2000);
    const kept = { handle: request.handle, sequence: 7, sentMs: 1500, receivedMs: 2000, copied: 9, dropped: 0 };
    expect(answer).toMatchObject({ type: lspMessage.reply, returnCode: code, target: undefined, ...kept });
    expect(answerLspEcho({ ...request, replyMode: lspReplyMode.none }, label, lookup, 2000)).toBeUndefined();
  });
});

const options: LspPingOptions = {
  ...{ handle: 5, target, intervalMs: 100, timeoutMs: 300, count: 0, padBytes: 0, ttl: 255 },
  ...{ replyMode: 'ip', traceTtl: undefined },
};

/** A path of so many hops; the last one is its end. */
const createPath = (hops: number, change: Partial<LspPingOptions> = {}) => {
  const path = {
    now: 0,
    isCut: false,
    hasLabel: true,
    seen: [] as string[],
    ttls: [] as number[],
    answers: [] as [LspEcho, string][],
  };
  const ping = new LspPing(
    { ...options, ...change },
    {
      clock: () => path.now,
      send(bytes, ttl) {
        const echo = parseLspEcho(bytes);
        path.ttls.push(ttl);
        if (!path.hasLabel || echo === undefined) return false;
        const returnCode = ttl >= hops ? lspReturn.egress : 8;
        if (!path.isCut)
          path.answers.push([{ ...echo, type: lspMessage.reply, returnCode }, `hop ${Math.min(ttl, hops)}`]);
        return true;
      },
      onAnswer: ({ from, code }) => path.seen.push(`${from} ${code}`),
    },
  );
  ping.start(0);
  const run = (ms: number) => {
    for (const end = path.now + ms; path.now < end; path.now += 10) {
      for (const [echo, from] of path.answers.splice(0)) ping.receive(echo, from, path.now);
      ping.advance(path.now);
    }
  };
  return { path, ping, run };
};

describe('a path', () => {
  it('is up while its end answers, and down once it does not', () => {
    const { path, ping, run } = createPath(3, { count: 40 });
    run(1000);
    expect(ping).toMatchObject({ isUp: true, counters: { sent: 10, received: 10, lost: 0 } });
    path.isCut = true;
    run(1000);
    expect(ping).toMatchObject({ isUp: false, lastError: 'no answer' });
    run(10_000);
    expect(ping.counters.sent).toBe(40);
  });

  it('is traced hop by hop', () => {
    const { path, ping, run } = createPath(3, { traceTtl: 30 });
    run(600);
    expect(path.ttls).toEqual([1, 2, 3, 1, 2, 3]);
    expect(path.seen.slice(0, 3)).toEqual(['hop 1 8', 'hop 2 8', 'hop 3 3']);
    expect(ping.counters.lost).toBe(0);
  });

  it('without a label is not tested', () => {
    const { path, ping, run } = createPath(1);
    path.hasLabel = false;
    run(500);
    expect(ping.counters).toMatchObject({ sent: 0, unsent: 5 });
    expect(ping.lastError).toBe('the label of the path is not known');
  });
});

describe('changed messages', () => {
  it('are read or refused, never more', () => {
    const random = createRandom(13);
    const next = (limit: number) => Math.floor(random() * limit);
    const seeds = [
      request,
      { ...request, dropped: 40, copied: 9, bfdDiscriminator: 7 },
      { ...request, type: lspMessage.reply },
    ].map(writeLspEcho);
    const { ping } = createPath(1);
    let read = 0;
    for (let i = 0; i < mutationRuns(300_000); i++) {
      const seed = seeds[i % seeds.length] as Uint8Array;
      const bytes = seed.slice(0, i % 5 === 0 ? 8 + next(seed.length - 7) : undefined);
      for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(256);
      const echo = parseLspEcho(bytes);
      if (echo === undefined) continue;
      read++;
      ping.receive(echo, '10.0.0.1', i);
      const answer = answerLspEcho(echo, 16, { labelOf: () => 16, isKnown: () => true }, 1000);
      if (answer !== undefined) parseLspEcho(writeLspEcho(answer));
    }
    expect(read).toBeGreaterThan(mutationRuns(300_000) / 3);
  });
});
