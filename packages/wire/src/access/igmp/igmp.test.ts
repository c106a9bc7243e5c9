import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { ip4 } from '../../testing/access-ends.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { createRandom } from '../../testing/random.ts';
import { IgmpHosts, type IgmpOptions } from './hosts.ts';
import { IgmpQuery, writeIgmp, writeReport3 } from './message.ts';

const options: IgmpOptions = {
  version: 3,
  firstGroup: ip4('239.0.0.1'),
  groupCount: 8,
  groupStep: 1,
  sources: [],
  isInclude: false,
  robustness: 2,
  reportDelayMs: 1000,
  join: { isAutomatic: true, delayMs: 0, perSec: 0, groupsPerHost: 1 },
  zapping: { intervalMs: 0, count: 10, pauseMs: 30_000, waitMs: 3000, overlapMs: 0 },
};
const server = ip4('10.0.0.9');
const query = (text: string) => new Memory(bytesOfHex(text));
const generalQuery = query('1114 eeeb 00000000');

/** Hosts in one VLAN, and what they send: time, host, group it goes to, message without its checksum. */
const createHosts = (change: Partial<IgmpOptions> = {}, hosts = 1) => {
  const memory = createMemory(2048);
  const sent: [number, number, string][] = [];
  const delays: string[] = [];
  let nowMs = 0;
  const igmp = new IgmpHosts(
    {
      ...{ hosts, random: createRandom(3), memory: () => memory, lineOf: () => 7 },
      addressOf: (session) => ip4('10.0.0.10') + session,
      begin: () => 0,
      send: (session, at, end) => {
        const text = hexOfBytes(memory.bytes, at + 24, end);
        sent.push([nowMs, session, `${text.slice(0, 4)}${text.slice(8)}`]);
      },
      onJoined: (session, delayMs) => delays.push(`${session} joined ${delayMs}`),
      onLeft: (session, delayMs) => delays.push(`${session} left ${delayMs}`),
    },
    { ...options, ...change },
  );
  const run = (untilMs: number, stepMs = 10) => {
    while (nowMs < untilMs) {
      nowMs += stepMs;
      igmp.advance(nowMs);
    }
  };
  const deliver = (group: string, source = server) => igmp.receiveData(7, { source, destination: ip4(group) });
  return { igmp, sent, delays, run, deliver };
};

describe('messages of IGMP', () => {
  it('are written with their checksums', () => {
    const memory = createMemory(64);
    expect(hexOfBytes(memory.bytes, 0, writeIgmp(memory, 0, 0x16, ip4('239.0.0.1')))).toBe('1600fafdef000001');
    const end = writeReport3(memory, 0, [{ type: 4, group: ip4('239.0.0.1'), sources: [] }]);
    expect(hexOfBytes(memory.bytes, 0, end)).toBe('2200eafc0000000104000000ef000001');
  });

  it('of queriers are read in all versions', () => {
    const one = new IgmpQuery();
    expect(one.parse(generalQuery, 0, 8)).toBe(true);
    expect([one.group, one.maxResponseMs]).toEqual([0, 2000]);
    expect(one.parse(query('1100eeff00000000'), 0, 8)).toBe(true);
    expect(one.maxResponseMs).toBe(10_000);
    expect(one.parse(query('118fec63000000000209 0000'.replace('0209', '0214')), 0, 12)).toBe(false);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        one.parse(new Memory(bytes), 0, bytes.length);
      }),
      { numRuns: mutationRuns(2000) },
    );
  });
});

describe('hosts', () => {
  it.each([
    [1, ['1200ef000001', '1200ef000001'], []],
    [2, ['1600ef000001', '1600ef000001'], ['1700ef000001']],
    [
      3,
      ['22000000000104000000ef000001', '22000000000104000000ef000001'],
      ['22000000000103000000ef000001', '22000000000103000000ef000001'],
    ],
  ])('of version %i join and leave as their RFC says', (version, joins, departures) => {
    const { igmp, sent, run } = createHosts({ version });
    igmp.start(0);
    run(3000);
    expect(sent.map(([, , text]) => text)).toEqual(joins);
    sent.length = 0;
    igmp.leave(0);
    run(6000);
    expect(sent.map(([, , text]) => text)).toEqual(departures);
    expect(igmp.groupsOf(0)).toEqual([]);
  });

  it('join certain sources and take packets of them alone', () => {
    const { igmp, sent, delays, run, deliver } = createHosts({ isInclude: true, sources: [server] });
    igmp.start(0);
    run(100);
    expect(sent[0]?.[2]).toBe('22000000000105000001ef0000010a000009');
    deliver('239.0.0.1', ip4('10.0.0.8'));
    expect(delays).toEqual([]);
    deliver('239.0.0.1');
    expect(delays).toEqual(['0 joined 90']);
  });

  it('answer queries within the time that is given', () => {
    const { igmp, sent, run } = createHosts({ version: 2, join: { ...options.join, groupsPerHost: 3 } }, 4);
    for (let host = 0; host < 4; host++) igmp.start(host);
    run(3000);
    sent.length = 0;
    igmp.receive([0, 1, 2, 3], generalQuery, 0, 8);
    run(5100);
    expect(sent).toHaveLength(12);
    expect(new Set(sent.map(([, host]) => host)).size).toBe(4);
    for (const [at] of sent) expect(at).toBeLessThanOrEqual(5020);
    sent.length = 0;
    igmp.receive([0], query('110a00f0ef000002'.replace('00f0', 'fff2')), 0, 8);
    igmp.receive([0], query('110affff00000000'), 0, 8);
    run(7000);
    expect(sent.map(([, , text]) => text)).toEqual(['1600ef000002']);
    expect(igmp.counters.invalid).toBe(1);
  });

  it('change channels, and measure how long the old one stays and the new one takes', () => {
    const zapping = { intervalMs: 5000, count: 2, pauseMs: 20_000, waitMs: 1000, overlapMs: 200 };
    const { igmp, delays, run, deliver } = createHosts({ robustness: 1, zapping });
    igmp.start(0);
    run(50);
    deliver('239.0.0.1');
    run(5010);
    expect(igmp.groupsOf(0)).toEqual([ip4('239.0.0.1'), ip4('239.0.0.2')].reverse());
    run(5110);
    deliver('239.0.0.2');
    run(5310);
    expect(igmp.groupsOf(0)).toEqual([ip4('239.0.0.2')]);
    deliver('239.0.0.1');
    run(7000);
    expect(delays).toEqual(['0 joined 40', '0 joined 100', '0 left 100']);
    // The second change has no packets within the wait; then there is a pause.
    run(12_000);
    expect([igmp.counters.zaps, igmp.counters.timeouts]).toEqual([2, 1]);
    run(29_000);
    expect(igmp.counters.zaps).toBe(2);
    run(31_000);
    expect(igmp.counters.zaps).toBe(3);
  });

  it('join at their pace, and leave with their session', () => {
    const join = { ...options.join, delayMs: 500, perSec: 10 };
    const { igmp, sent, run } = createHosts({ join, robustness: 1 }, 20);
    for (let host = 0; host < 20; host++) igmp.start(host);
    run(490);
    expect(sent).toHaveLength(0);
    run(1500);
    expect(sent.length).toBeGreaterThanOrEqual(9);
    expect(sent.length).toBeLessThanOrEqual(12);
    run(4000);
    expect(igmp.counters.joins).toBe(20);
    sent.length = 0;
    igmp.stop(4);
    igmp.stop(4);
    expect(sent.map(([, host]) => host)).toEqual([4]);
    igmp.join(4);
    expect(igmp.groupsOf(4)).toEqual([]);
  });
});
