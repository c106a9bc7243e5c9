import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, hexOfBytes } from '../bytes/memory.ts';
import { mutationRuns } from '../testing/mutation-runs.ts';
import { createRandom } from '../testing/random.ts';
import { type FabricOptions, OpenFlowFabric } from './fabric.ts';
import { agreedVersion, helloMessage, MessageWriter, openFlowVersion } from './message.ts';
import { linkPortsOf, neighbourOf, type OpenFlowTopology } from './topology.ts';

const versions = Object.values(openFlowVersion);
const defaults: FabricOptions = {
  ...{ count: 1, firstDatapathId: 1n, topology: 'line', hosts: 2, packetInPerSec: 0, versions },
  ...{ ports: 4, tables: 2, maxFlows: 3, echoMs: 1000, description: (index) => `switch ${index + 1}` },
};

const createFabric = (version: number, more: Partial<FabricOptions> = {}) => {
  const sent: { index: number; type: number; body: string }[] = [];
  const broken: string[] = [];
  const delays: number[] = [];
  const clock = { nowMs: 0 };
  const fabric = new OpenFlowFabric(
    {
      send: (index, message) => {
        const length = ((message[2] as number) << 8) | (message[3] as number);
        if (message.length !== length) throw new Error(`a message of ${message.length} bytes says ${length}`);
        sent.push({ index, type: message[1] as number, body: hexOfBytes(message, 8, message.length) });
      },
      onBroken: (_index, reason) => void broken.push(reason),
      onAnswer: (delayMs) => void delays.push(delayMs),
      now: () => clock.nowMs,
    },
    { ...defaults, ...more },
  );
  const advance = (nowMs: number) => {
    clock.nowMs = nowMs;
    fabric.advance(nowMs);
  };
  for (const one of fabric.switches) {
    one.connected();
    one.receive(helloMessage([version]));
  }
  sent.length = 0;
  const ask = (type: number, body: string, index = 0) => {
    const bytes = new MessageWriter().bytes(bytesOfHex(body)).finish(version, type, 9);
    fabric.switches[index]?.receive(bytes);
    return sent.splice(0);
  };
  return { fabric, sent, broken, delays, advance, ask };
};

const v13 = openFlowVersion['1.3'];
/** A flow of version 1.3: command, idle time, priority, match and instructions after it. */
const flowMod = (command: number, idle: number, priority: number, rest: string) =>
  `${'00'.repeat(16)}000${command}${idle.toString(16).padStart(4, '0')}0000${priority.toString(16).padStart(4, '0')}${'ff'.repeat(12)}00010000${rest}`;
const anyPacket = '0001000400000000';
const arpPackets = '0001000a80000a020806000000000000';
const toController = '0004001800000000' + '00000010fffffffdffff000000000000';
const toSecond = '0004001800000000' + '00000010000000020000000000000000';
/** Packets to 10.0.0.0/8, as version 1.1 matches them. */
const tenNet11 = [
  ...['00000058', '00000000', '000003f7', '000000000000ffffffffffff', '000000000000ffffffffffff'],
  ...['0000000008000000', '00000000ffffffff', '0a00000000ffffff', '00000000', '0000000000000000'],
  ...['0000000000000000ffffffffffffffff'],
].join('');
/** The same in the form of version 1.2 and later. */
const tenNet12 = '00010016' + '80000a020800' + '800019080a000000ff000000' + '0000';
const ethernet = 'ffffffffffff0200000000010800';

describe('the version of OpenFlow', () => {
  it('is the newest one that both have', () => {
    const view = (own: number[]) => new DataView(helloMessage(own).slice().buffer);
    expect(agreedVersion(view([1, 4, 5]), versions)).toBe(5);
    expect(agreedVersion(view([1]), versions)).toBe(1);
    expect(agreedVersion(view([1, 6]), [1, 4])).toBe(1);
    expect(agreedVersion(view([6]), [1, 4])).toBe(-1);
  });

  it('ends the connection where there is none in common', () => {
    const { broken, fabric } = createFabric(7);
    expect(broken).toEqual(['no common version']);
    expect(fabric.switches[0]?.state).toBe('down');
  });
});

describe('a switch', () => {
  it('says what it is', () => {
    const features = createFabric(v13).ask(5, '');
    expect(features).toEqual([{ index: 0, type: 6, body: `000000000000000100000000020000000000000700000000` }]);
    const [old] = createFabric(1).ask(5, '');
    expect(old?.body.length).toBe((24 + 4 * 48) * 2);
    const [ports] = createFabric(v13).ask(18, '000d000000000000');
    expect(ports?.body.length).toBe((8 + 4 * 64) * 2);
    const [echo] = createFabric(v13).ask(2, 'abcd');
    expect(echo).toMatchObject({ type: 3, body: 'abcd' });
  });

  it('keeps flows, sends packets by them, and lets them go', () => {
    const { ask, fabric, sent, advance } = createFabric(v13);
    const [one] = fabric.switches;
    const arp = bytesOfHex(`ffffffffffff0200000000010806${'00'.repeat(46)}`);
    one?.receiveFrame(1, arp);
    expect(sent).toEqual([]);
    expect(ask(14, flowMod(0, 0, 0, anyPacket + toController))).toEqual([]);
    expect(ask(14, flowMod(0, 5, 9, arpPackets + toSecond))).toEqual([]);
    one?.receiveFrame(1, arp);
    expect([sent.length, fabric.counters.hostFrames, one?.countersOf(2).sent]).toEqual([0, 1, 1]);
    one?.receiveFrame(1, bytesOfHex(`ffffffffffff020000000001 86dd${'00'.repeat(46)}`));
    expect(sent.splice(0)).toMatchObject([{ type: 10 }]);
    advance(6000);
    expect(sent.splice(0).filter(({ type }) => type === 11)).toHaveLength(1);
    expect(one?.tables.count).toBe(1);
    expect(ask(14, flowMod(3, 0, 0, anyPacket))).toMatchObject([{ type: 11 }]);
    expect(one?.tables.count).toBe(0);
  });

  it.each([
    // Version 1.1 has a match of fixed places, whose masks name the bits that are ignored.
    [2, `${tenNet11}${toSecond}`, '00000001 00000001 003c 00 00'],
    [3, `${tenNet12}${toSecond}`, '003c 00 00 0001000c80000004 00000001 00000000 0000'],
  ])('of version %i sends up what no flow takes, in the form of its version', (version, flow, head) => {
    const { ask, fabric, sent } = createFabric(version);
    const [one] = fabric.switches;
    expect(ask(14, flowMod(0, 0, 9, flow))).toEqual([]);
    const to = (destination: string) =>
      bytesOfHex(`${ethernet}4500002e0000000040110000c0000201${destination}${'00'.repeat(26)}`);
    one?.receiveFrame(1, to('0a010203'));
    expect([sent.length, one?.countersOf(2).sent]).toEqual([0, 1]);
    one?.receiveFrame(1, to('0b010203'));
    expect(sent.splice(0)).toEqual([
      { index: 0, type: 10, body: `ffffffff${head.replaceAll(' ', '')}${hexOfBytes(to('0b010203'))}` },
    ]);
    const [table] = ask(18, '0003000000000000');
    expect(table?.body.length).toBe((8 + 2 * (version === 2 ? 88 : 128)) * 2);
    const [features] = ask(5, '');
    expect(features?.body.length).toBe((24 + 4 * 64) * 2);
    expect(ask(18, '000d000000000000')).toMatchObject([{ type: 1 }]);
  });

  it('refuses what does not fit into a table, and what it does not know', () => {
    const { ask } = createFabric(v13);
    for (const priority of [1, 2, 3]) ask(14, flowMod(0, 0, priority, anyPacket));
    expect(ask(14, flowMod(0, 0, 4, anyPacket))).toMatchObject([{ type: 1, body: expect.stringMatching(/^00050001/) }]);
    expect(ask(15, '')).toMatchObject([{ type: 1, body: expect.stringMatching(/^00010001/) }]);
    expect(ask(18, '0063000000000000')).toMatchObject([{ type: 1, body: expect.stringMatching(/^00010002/) }]);
  });

  it('passes packets of the controller on to the next switch, which sends them up', () => {
    const { ask } = createFabric(1, { count: 3 });
    const lldp = `0180c200000e0e000000000188cc${'00'.repeat(46)}`;
    const found = ask(13, `ffffffffffff0008 0000000800020000 ${lldp}`, 1);
    expect(found).toMatchObject([{ index: 2, type: 10 }]);
    expect(found[0]?.body.slice(12, 16)).toBe('0001');
  });

  it('measures the answers to its packets, and gives up a controller that is silent', () => {
    const { sent, advance, ask, delays, broken } = createFabric(v13, { packetInPerSec: 10 });
    advance(100);
    const [up] = sent.splice(0);
    const frame = up?.body.slice(-120) ?? '';
    advance(150);
    ask(13, `ffffffff0000000100100000000000000000001000000002ffff000000000000${frame}`);
    expect(delays).toEqual([50]);
    for (let now = 1000; now < 8000; now += 100) advance(now);
    expect(broken).toEqual(['echo without answer']);
  });

  it.each(versions)('takes any bytes without harm (version %s)', (version) => {
    const { fabric, sent } = createFabric(version, { count: 2 });
    const random = createRandom(version);
    const seeds = [
      flowMod(0, 5, 9, arpPackets + toSecond),
      flowMod(3, 0, 0, anyPacket),
      `ffffffff0000000100100000000000000000001000000002ffff000000000000${'11'.repeat(60)}`,
      '0001000000000000ff000000ffffffffffffffff00000000000000000000000000000000000000000001000400000000',
    ];
    for (let i = 0; i < mutationRuns(5000); i++) {
      const body = bytesOfHex(seeds[i % seeds.length] as string);
      for (let k = 0; k < 3; k++) body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
      const type = [14, 14, 13, version === 1 ? 16 : 18][i % seeds.length] as number;
      const cut = random() < 0.2 ? body.subarray(0, Math.floor(random() * body.length)) : body;
      fabric.switches[0]?.receive(new MessageWriter().bytes(cut).finish(version, random() < 0.1 ? i & 31 : type, i));
      sent.length = 0;
    }
    expect(fabric.switches[0]?.tables.count).toBeLessThanOrEqual(6);
    expect(fabric.switches[0]?.state).toBe('up');
  });
});

it('every link of a topology has two ends that agree', () => {
  const kinds: OpenFlowTopology[] = ['line', 'ring', 'star', 'mesh', 'none'];
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.integer({ min: 1, max: 9 }), (topology, count) => {
      let ends = 0;
      for (let index = 0; index < count; index++)
        for (let port = 1; port <= linkPortsOf(topology, count, index); port++, ends++) {
          const other = neighbourOf(topology, count, { index, port });
          expect(other && neighbourOf(topology, count, other)).toEqual({ index, port });
        }
      expect(ends % 2).toBe(0);
    }),
  );
});
