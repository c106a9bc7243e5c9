import { describe, expect, it } from 'vitest';
import type { GroupHostsOptions } from '../../access/groups/group-hosts.ts';
import { isSumValid, sumBytes } from '../../bytes/checksum.ts';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { createRandom } from '../../testing/random.ts';
import { MldHosts } from './hosts.ts';
import { isFromLink, mldHostFormat, parseMld, writeMldQuery } from './message.ts';
import { MldQuerier } from './querier.ts';

const own = 'fe80::a63:1';
const host = 'fe80::a63:9';
const group = 'ff35::8000:1';
const groupHex = 'ff350000000000000000000080000001';
const hostHex = 'fe80000000000000000000000a630009';
const hexOf = (bytes: Uint8Array): string => hexOfBytes(bytes);

describe('messages of MLD', () => {
  const query = { group: undefined, sources: [], responseMs: 10_000, robustness: 2, intervalSec: 125 };
  const none = '0'.repeat(32);

  it('are written byte for byte as the RFCs define them', () => {
    expect(hexOf(writeMldQuery({ version: 1, ...query }))).toBe(`8200000027100000${none}`);
    expect(hexOf(writeMldQuery({ version: 2, ...query }))).toBe(`8200000027100000${none}027d0000`);
    const asked = { ...query, version: 2, group, sources: [host], responseMs: 65_536, intervalSec: 256 };
    expect(hexOf(writeMldQuery(asked))).toBe(`8200000090000000${groupHex}02900001${hostHex}`);
  });

  it('have a router alert, a hop limit of 1 and a checksum over both addresses', () => {
    const memory = createMemory(256);
    const records = [{ type: 4, group, sources: [] }];
    const end = mldHostFormat.writeReport(memory, 48, records);
    mldHostFormat.writeHeader(memory, 0, end, { source: host, destination: 'ff02::16' });
    const text = hexOfBytes(memory.bytes, 0, end);
    expect(text.slice(0, 16)).toBe('6c00000000240001');
    expect(text.slice(80, 96)).toBe('3a00050200000100');
    expect(text.slice(96)).toMatch(new RegExp(`^8f00....0000000104000000${groupHex}$`));
    const pseudo = new Memory(
      bytesOfHex(`${hostHex}ff020000000000000000000000000016 0000001c 0000003a`.replaceAll(' ', '')),
    );
    expect(isSumValid(sumBytes(pseudo, 0, 40) + sumBytes(memory, 48, end))).toBe(true);
  });

  it('are taken from the link alone', () => {
    const packet = { addresses: new Int32Array(8), path: -1, ecn: 0, checks: false, tags: 0, ttl: 1, isV6: true };
    const memory = createMemory(24);
    expect(isFromLink(packet, memory, 0, 24)).toBe(false);
    packet.addresses[4] = 0xfe800000 | 0;
    expect(isFromLink(packet, memory, 0, 24)).toBe(true);
    expect(isFromLink({ ...packet, ttl: 64 }, memory, 0, 24)).toBe(false);
    expect(isFromLink({ ...packet, checks: true }, memory, 0, 24)).toBe(false);
  });
});

const options: GroupHostsOptions<string> = {
  ...{ version: 2, firstGroup: 'ff35::ffff:ffff', groupCount: 4, groupStep: 1, sources: [], isInclude: false },
  ...{ robustness: 2, reportDelayMs: 1000 },
  join: { isAutomatic: true, delayMs: 0, perSec: 0, groupsPerHost: 2 },
  zapping: { intervalMs: 0, count: 10, pauseMs: 30_000, waitMs: 3000, overlapMs: 0 },
};

const createHost = (change: Partial<GroupHostsOptions<string>> = {}) => {
  const memory = createMemory(2048);
  const sent: string[] = [];
  const delays: number[] = [];
  const hosts = new MldHosts(
    {
      ...{ hosts: 1, random: createRandom(3), memory: () => memory, lineOf: () => 0 },
      addressOf: () => host,
      begin: () => 0,
      send: (_, at, end, to) => {
        const text = hexOfBytes(memory.bytes, at + 48, end);
        sent.push(`${to} ${text.slice(0, 4)}${text.slice(8)}`);
      },
      onJoined: (_, delayMs) => delays.push(delayMs),
    },
    { ...options, ...change },
  );
  let now = 0;
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 10) hosts.advance(now);
  };
  return { hosts, sent, delays, run };
};

const second = 'ff350000000000000000000100000000';

describe('hosts', () => {
  it('join and leave with records, and their groups go on behind 32 bits', () => {
    const { hosts, sent, run } = createHost();
    hosts.start(0);
    run(2000);
    expect(hosts.groupsOf(0).sort()).toEqual(['ff35::1:0:0', 'ff35::ffff:ffff']);
    const join = `ff02::16 8f000000000104000000${second}`;
    expect(sent.filter((text) => text === join)).toHaveLength(2);
    sent.length = 0;
    hosts.leave(0, [hosts.groupOf('ff35::1:0:0')]);
    expect(sent).toEqual([`ff02::16 8f000000000103000000${second}`]);
  });

  it('of version 1 report to the group and leave to all routers', () => {
    const { hosts, sent, run } = createHost({ version: 1, join: { ...options.join, groupsPerHost: 1, firstHost: 1 } });
    hosts.start(0);
    run(100);
    hosts.stop(0);
    expect(sent).toEqual([`ff35::1:0:0 830000000000${second}`, `ff02::2 840000000000${second}`]);
  });

  it('answer queries for all groups and for one', () => {
    const { hosts, sent, run } = createHost();
    hosts.start(0);
    run(3000);
    for (const asked of [undefined, 'ff35::1:0:0']) {
      sent.length = 0;
      const query = { version: 2, group: asked, sources: [], responseMs: 1000, robustness: 2, intervalSec: 125 };
      const bytes = writeMldQuery(query);
      hosts.receive([0], new Memory(bytes), 0, bytes.length);
      run(1100);
      const records = asked === undefined ? 2 : 1;
      expect(sent.map((text) => text.slice(0, 21))).toEqual([`ff02::16 8f000000000${records}`.padEnd(21)]);
      expect(sent[0]).toContain(`02000000${second}`);
    }
  });

  it('take packets of their groups', () => {
    const { hosts, delays, run } = createHost({ sources: [own] });
    hosts.start(0);
    run(500);
    for (const source of [own, host]) hosts.receiveData(0, { source, destination: 'ff35::1:0:0' });
    hosts.receiveData(0, { source: host, destination: 'ff36::1:0:0' });
    expect(delays).toEqual([490]);
  });
});

const report = (...records: readonly string[]) =>
  bytesOfHex(`8f0000000000${records.length.toString(16).padStart(4, '0')}${records.join('')}`);
const done = bytesOfHex(`8400000000000000${groupHex}`);
const joined = bytesOfHex(`8300000000000000${groupHex}`);

const createQuerier = () => {
  const sent: string[] = [];
  let now = 0;
  const querier = new MldQuerier(
    {
      ...{ version: 2, address: own, queryIntervalSec: 10, responseMs: 1000, robustness: 2, startupCount: 2 },
      ...{ lastMemberMs: 500, lastMemberCount: 2, yieldsToLower: true },
    },
    { send: (bytes, to) => sent.push(`${now} ${to} ${bytes.length}`), onQuerier() {} },
  );
  querier.start(0);
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 100) querier.advance(now);
  };
  return { querier, sent, run, hear: (bytes: Uint8Array, source = host) => querier.receive(bytes, source, now) };
};

describe('a querier', () => {
  it.each([
    ['version 1', joined, done],
    ['version 2', report(`04000000${groupHex}`), report(`03000000${groupHex}`)],
  ])('keeps groups of hosts of %s until nobody answers after a leave', (_, join, leave) => {
    const { querier, sent, run, hear } = createQuerier();
    run(5000);
    hear(join);
    expect([...querier.groups.keys()]).toEqual([group]);
    hear(leave);
    run(1200);
    expect(querier.groups.size).toBe(0);
    expect(sent).toEqual(['0 ff02::1 28', '2500 ff02::1 28', `5000 ${group} 28`, `5500 ${group} 28`]);
  });

  it('knows sources and falls silent while a lower address asks', () => {
    const { querier, sent, run, hear } = createQuerier();
    hear(report(`05000001${groupHex}${hostHex}`));
    expect([...(querier.groups.get(group)?.sources.keys() ?? [])]).toEqual([host]);
    const before = sent.length;
    const query = { version: 2, group: undefined, sources: [], responseMs: 1, robustness: 2, intervalSec: 10 };
    hear(writeMldQuery(query), 'fe80::a63:2');
    expect(querier.querier).toBe(own);
    hear(writeMldQuery(query), 'fe80::1');
    run(15_000);
    expect(querier.querier).toBe('fe80::1');
    expect(sent.length - before).toBeLessThanOrEqual(1);
  });

  it('reads or refuses changed messages, never more', () => {
    const records = [`04000000${groupHex}`, `01000002${groupHex}${hostHex}${hostHex}`, `06000001${groupHex}${hostHex}`];
    const seeds = [report(...records), joined, done, report(`03000000${groupHex}`)];
    const { querier } = createQuerier();
    const random = createRandom(11);
    const next = (limit: number) => Math.floor(random() * limit);
    let read = 0;
    for (let i = 0; i < 300_000; i++) {
      const seed = seeds[i % seeds.length] as Uint8Array;
      const bytes = seed.slice(0, i % 5 === 0 ? 8 + next(seed.length - 7) : undefined);
      for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(256);
      if (parseMld(bytes) !== undefined) read++;
      querier.receive(bytes, host, i);
      if (i % 1000 === 0) querier.advance(i);
    }
    expect(read).toBeGreaterThan(100_000);
    expect(querier.counters.invalid).toBeGreaterThan(10_000);
  });
});
