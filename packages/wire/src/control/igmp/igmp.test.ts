import { describe, expect, it } from 'vitest';
import { checksumOf, sumBytes } from '../../bytes/checksum.ts';
import { hexOfBytes, Memory } from '../../bytes/memory.ts';
import type { QuerierOptions } from '../groups/group-querier.ts';
import { MessageWriter } from '../message-writer.ts';
import { floatCode, parseGroupMessage, writeGroupQuery } from './message.ts';
import { IgmpQuerier } from './querier.ts';

const own = 0x0a630005;
const host = 0x0a630009;
const group = 0xef010203;
const options: QuerierOptions<number> = {
  ...{ version: 3, address: own, queryIntervalSec: 10, responseMs: 1000, robustness: 2, startupCount: 2 },
  ...{ lastMemberMs: 500, lastMemberCount: 2, yieldsToLower: true },
};

const signed = (bytes: Uint8Array): Uint8Array => {
  const memory = new Memory(bytes);
  memory.view.setUint16(2, 0);
  memory.view.setUint16(2, checksumOf(sumBytes(memory, 0, bytes.length)));
  return bytes;
};
const short = (type: number, of = group) => signed(new MessageWriter(8).u8(type).u8(0).u16(0).u32(of).take());
const report = (...records: readonly (readonly [type: number, ...sources: number[]])[]) => {
  const writer = new MessageWriter(64).u8(0x22).u8(0).u16(0).u16(0).u16(records.length);
  for (const [type, ...sources] of records) {
    writer.u8(type).u8(0).u16(sources.length).u32(group);
    for (const source of sources) writer.u32(source);
  }
  return signed(writer.take());
};

const createQuerier = (more: Partial<QuerierOptions<number>> = {}) => {
  const sent: string[] = [];
  let now = 0;
  const querier = new IgmpQuerier(
    { ...options, ...more },
    {
      send: (bytes, destination) => sent.push(`${now} ${destination.toString(16)} ${hexOfBytes(bytes)}`),
      onQuerier: () => {},
    },
  );
  querier.start(0);
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 100) querier.advance(now);
  };
  const hear = (bytes: Uint8Array, source = host) => querier.receive(bytes, source, now);
  return { querier, sent, run, hear };
};

describe('queries', () => {
  const query = { group: 0, sources: [], responseMs: 10_000, robustness: 2, intervalSec: 125 };

  it('are written byte for byte as the RFCs define them', () => {
    const hexOf = (version: number, more = {}) => hexOfBytes(writeGroupQuery({ version, ...query, ...more }));
    expect(hexOf(1)).toBe('1100eeff00000000');
    expect(hexOf(2)).toBe('1164ee9b00000000');
    expect(hexOf(3)).toBe('1164ec1e00000000027d0000');
    expect(hexOf(3, { group, sources: [host], responseMs: 1000 })).toBe('110af106ef010203027d00010a630009');
  });

  it('have large numbers as mantissa and exponent', () => {
    expect([0, 127, 128, 248, 256, 31_744].map(floatCode)).toEqual([0, 127, 128, 143, 144, 255]);
  });
});

describe('a querier', () => {
  it('asks often at the start, then at its interval', () => {
    const { sent, run } = createQuerier();
    run(13_000);
    expect(sent.map((text) => text.slice(0, 14))).toEqual(['0 e0000001 110', '2500 e0000001 ', '12500 e0000001']);
  });

  it.each([
    ['version 1', short(0x12)],
    ['version 2', short(0x16)],
    ['version 3', report([2])],
  ])('keeps groups of hosts of %s as long as they are reported', (_, bytes) => {
    const { querier, run, hear } = createQuerier();
    run(100);
    hear(bytes);
    run(20_500);
    expect(querier.groups.get(group)).toMatchObject({ reporter: host });
    run(1000);
    expect(querier.groups.size).toBe(0);
  });

  it.each([
    ['version 2', short(0x17)],
    ['version 3', report([3])],
  ])('asks for the group after a leave of %s, and keeps it if another host answers', (_, leave) => {
    const { querier, sent, run, hear } = createQuerier();
    hear(report([4]));
    run(5000);
    hear(leave);
    run(300);
    hear(short(0x16), host + 1);
    run(5000);
    expect(querier.groups.get(group)).toMatchObject({ reporter: host + 1 });
    hear(leave);
    run(1100);
    expect(querier.groups.size).toBe(0);
    const asked = sent.filter((text) => text.includes(' ef010203 '));
    expect(asked.map((text) => text.split(' ')[0])).toEqual(['5000', '10300', '10800']);
  });

  it('knows sources, which are asked for before they are dropped', () => {
    const { querier, sent, run, hear } = createQuerier();
    hear(report([5, 1, 2, 3]));
    run(1000);
    expect([...(querier.groups.get(group)?.sources.keys() ?? [])]).toEqual([1, 2, 3]);
    hear(report([6, 2, 9]));
    run(1100);
    expect([...(querier.groups.get(group)?.sources.keys() ?? [])]).toEqual([1, 3]);
    expect(sent.at(-1)).toMatch(/ef010203020a000100000002$/);
    hear(report([3]));
    run(1100);
    expect(querier.groups.size).toBe(0);
  });

  it('falls silent while a lower address asks', () => {
    const { querier, sent, run, hear } = createQuerier();
    run(3000);
    const before = sent.length;
    hear(short(0x11, 0), own - 1);
    run(20_000);
    expect(querier.querier).toBe(own - 1);
    expect(sent).toHaveLength(before);
    run(1000);
    expect(querier.querier).toBe(own);
    expect(sent.length).toBeGreaterThan(before);
    hear(short(0x11, 0), own + 1);
    expect(querier.querier).toBe(own);
    const deaf = createQuerier({ yieldsToLower: false });
    deaf.hear(short(0x11, 0), own - 1);
    expect(deaf.querier.querier).toBe(own);
  });

  it('reads or refuses changed messages, never more', () => {
    const seeds = [report([4], [1, 5, 6], [6, 7]), report([2, 8], [3]), short(0x16), short(0x17)];
    const { querier } = createQuerier();
    let state = 7;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    let read = 0;
    for (let i = 0; i < 300_000; i++) {
      const seed = seeds[i % seeds.length] as Uint8Array;
      const bytes = seed.slice(0, i % 5 === 0 ? 8 + next(seed.length - 7) : undefined);
      for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(256);
      if (i % 10 !== 0) signed(bytes);
      if (parseGroupMessage(bytes) !== undefined) read++;
      querier.receive(bytes, host, i);
      if (i % 1000 === 0) querier.advance(i);
    }
    expect(read).toBeGreaterThan(100_000);
    expect(querier.counters.invalid).toBeGreaterThan(10_000);
  });
});
