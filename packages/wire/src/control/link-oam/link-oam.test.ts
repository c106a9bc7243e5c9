import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../bytes/memory.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { LinkOam, type LinkOamOptions } from './link.ts';
import { oamFlag, parseOam, writeFrameErrors, writeOamInformation } from './pdu.ts';

const options: LinkOamOptions = {
  ...{ isActive: true, pdusPerSec: 10, lostLinkMs: 5000, maxPduBytes: 1518, answersVariables: true, loopbackMs: 0 },
  ...{ frames: { windowMs: 1000, threshold: 1 }, event: undefined, oui: 0x02_00_5e },
};

/** Two ends of a link that can be cut. */
const createLink = (near: Partial<LinkOamOptions> = {}, far: Partial<LinkOamOptions> = {}) => {
  const link = { now: 0, isCut: false, errors: 0, sent: [[], []] as Uint8Array[][], events: [] as string[] };
  const ends: LinkOam[] = [near, far].map((more, side) => {
    return new LinkOam(
      { ...options, ...more },
      {
        send: (bytes) => {
          link.sent[side]?.push(bytes);
          if (!link.isCut) ends[1 - side]?.receive(bytes, link.now);
        },
        onChange: () => {},
        onEvent: (text) => link.events.push(`${side} ${text}`),
        counters: () => ({ txFrames: 7, rxFrames: 8, rxErrors: link.errors }),
      },
    );
  });
  for (const end of ends) end.start(0);
  const run = (ms: number) => {
    for (const end = link.now + ms; link.now < end; link.now += 10) for (const one of ends) one.advance(link.now);
  };
  return Object.assign(link, { ends: ends as [LinkOam, LinkOam], run });
};

describe('packets of link OAM', () => {
  const local = { revision: 0, state: 0, config: 0x19, maxPduBytes: 1518, oui: 0x02_00_5e };

  it('have the bytes of IEEE 802.3', () => {
    const bytes = writeOamInformation(oamFlag.localEvaluating, { local, remote: undefined });
    expect(hexOfBytes(bytes)).toBe('030008000110010000001905ee02005e00000000'.padEnd(92, '0'));
    expect(parseOam(bytes)).toMatchObject({ flags: 8, code: 0, local, hasRemote: false });
    const event = { timestamp: 5, window: 10, threshold: 1, errors: 2, totalErrors: 3, totalEvents: 1 };
    expect(hexOfBytes(writeFrameErrors(0x50, 1, event)).slice(0, 64)).toBe(
      '030050010001021a0005000a0000000100000002000000000000000300000001',
    );
  });

  it('that are changed are read or skipped, never more', () => {
    const { ends, run } = createLink();
    run(3000);
    const seeds = [
      writeOamInformation(0x50, { local, remote: local }),
      Uint8Array.from([3, 0, 0x50, 2, 7, 0, 2, 7, 0, 9, 0]),
    ];
    let state = 7;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    for (let i = 0; i < mutationRuns(20_000); i++) {
      const seed = seeds[i % 2] as Uint8Array;
      const bytes = seed.slice(0, i % 5 === 0 ? next(seed.length) : undefined);
      for (let k = next(4); k > 0 && bytes.length > 0; k--) bytes[next(bytes.length)] = next(256);
      ends[0].receive(bytes, 3000);
      if (i % 100 === 0) run(10);
    }
    expect(ends[0].counters.invalid).toBeGreaterThan(1000);
    expect(ends[0].counters.rx).toBeGreaterThan(5000);
  });
});

describe('link OAM', () => {
  it.each([
    ['two active ends', {}],
    ['a passive end', { isActive: false }],
  ])('comes up with %s and sends once a second', (_, far) => {
    const { ends, run, sent } = createLink({}, far);
    run(2000);
    expect(ends.map(({ state }) => state)).toEqual(['up', 'up']);
    const before = sent[0]?.length ?? 0;
    run(10_000);
    expect((sent[0]?.length ?? 0) - before).toBe(10);
    // Both ends are stable for each other.
    expect(parseOam(sent[0]?.at(-1) as Uint8Array)).toMatchObject({ flags: 0x50, hasRemote: true });
  });

  it('does not come up where both ends wait', () => {
    const { ends, run, sent } = createLink({ isActive: false }, { isActive: false });
    run(5000);
    expect(ends.map(({ state }) => state)).toEqual(['waiting', 'waiting']);
    expect(sent.flat()).toEqual([]);
  });

  it('is lost after silence and comes back', () => {
    const link = createLink({ lostLinkMs: 2000 });
    link.run(2000);
    link.isCut = true;
    link.run(2500);
    expect(link.ends[0]).toMatchObject({ state: 'sendLocal', lastError: 'lost' });
    link.isCut = false;
    link.run(7000);
    expect(link.ends.map(({ state }) => state)).toEqual(['up', 'up']);
  });

  it('reports events, frames with errors and its end', () => {
    const link = createLink({ event: { flag: oamFlag.critical, intervalMs: 3000 } });
    link.run(5000);
    expect(link.events).toEqual(['1 critical event']);
    link.errors = 4;
    link.run(1500);
    expect(link.events.filter((text) => text.endsWith('link event')).sort()).toEqual(['0 link event', '1 link event']);
    link.ends[0].stop();
    expect(link.events.at(-1)).toBe('1 dying gasp');
  });

  it('answers requests for variables', () => {
    const { ends, run, sent, now } = createLink();
    run(2000);
    ends[1].receive(Uint8Array.from([3, 0, 0x50, 2, 7, 0, 2, 7, 0, 99, 0, 0, 0]), now);
    run(1000);
    const answer = sent[1]?.find((bytes) => bytes[3] === 3);
    expect(hexOfBytes(answer as Uint8Array).slice(8, 40)).toBe('070002080000000000000007070063a2');
  });

  it('starts a loopback only at an end that has it', () => {
    const { ends, run, sent } = createLink({ loopbackMs: 1000 });
    run(3000);
    expect(ends[0]).toMatchObject({ lastError: 'the other end has no loopback', counters: { loopbacks: 0 } });
    expect(sent[0]?.some((bytes) => bytes[3] === 4)).toBe(false);
  });
});
