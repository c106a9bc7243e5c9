import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { parseMac } from '../../ethernet/ethernet.ts';
import { createEnds, dhcpClientOptions, dhcpServerOptions, ip4, ipoeOptions } from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import type { VlanPlan } from '../lines.ts';
import { sessionState } from '../session-table.ts';
import { DhcpMessage, DhcpWriter, dhcpOption, dhcpType } from './message.ts';

const up = sessionState.up;
const second = 1000;

const qinq: VlanPlan = {
  mode: '1:1',
  outerStart: 100,
  outerEnd: 109,
  innerStart: 7,
  innerEnd: 16,
  outerTpid: 0x88a8,
  priority: 3,
};

const withDhcp = (more: Partial<typeof dhcpClientOptions>) => ({
  access: { ipoe: { ...ipoeOptions, ipv4: { dhcp: { ...dhcpClientOptions, ...more } } } },
});
const withServer = (more: Partial<typeof dhcpServerOptions>) => ({ dhcp: { ...dhcpServerOptions, ...more } });

describe('messages of DHCP', () => {
  it('are written byte for byte as Windows writes a DISCOVER, and read back', () => {
    const { bytes, ...memory } = createMemory(600);
    const mac = parseMac('00:0b:82:01:fc:42');
    const end = new DhcpWriter()
      .begin({ bytes, ...memory } as Memory, 0, {
        isReply: false,
        type: dhcpType.discover,
        xid: 0x3d1d,
        isBroadcast: false,
        mac,
      })
      .bytes(dhcpOption.clientId, mac, 1)
      .word(dhcpOption.requestedAddress, 0)
      .bytes(dhcpOption.parameters, Uint8Array.of(1, 3, 6, 42))
      .end();
    // The well-known example capture of Wireshark's wiki (dhcp.pcap), first frame.
    const expected = `01010600 00003d1d 0000 0000 00000000 00000000 00000000 00000000
      000b8201fc42 00000000000000000000 ${'00'.repeat(192)} 63825363
      350101 3d0701000b8201fc42 320400000000 37040103062a ff 00000000000000`.replaceAll(' ', '');
    expect(hexOfBytes(bytes, 0, end)).toBe(hexOfBytes(bytesOfHex(expected)).padEnd(600, '0'));
    const message = new DhcpMessage();
    expect(message.parse(new Memory(bytes), 0, end)).toBe(true);
    expect([message.type, message.xid, message.lengthOf(dhcpOption.parameters)]).toEqual([1, 0x3d1d, 4]);
  });

  it('may have options in the fields for file and server name', () => {
    const memory = createMemory(600);
    const writer = new DhcpWriter();
    const mac = parseMac('02:00:00:00:00:01');
    const header = { isReply: true, type: dhcpType.ack, xid: 1, isBroadcast: false, mac };
    const end = writer.begin(memory, 0, header).byte(dhcpOption.overload, 3).end();
    memory.bytes.set([51, 4, 0, 0, 1, 0, 255], 108);
    memory.bytes.set([3, 4, 10, 0, 0, 1, 255], 44);
    const message = new DhcpMessage();
    expect(message.parse(memory, 0, end)).toBe(true);
    expect(message.word(memory, dhcpOption.leaseTime)).toBe(256);
    expect(message.word(memory, dhcpOption.router)).toBe(ip4('10.0.0.1'));
  });
});

describe('subscribers with DHCP', () => {
  it('obtain addresses, find their gateway and give the addresses back', () => {
    const { lab, client, gateway } = createEnds();
    client.subscribers.begin();
    expect(lab.run(2 * second, () => client.subscribers.table.counts[up] === 100)).toBe(true);
    expect(new Set(client.ipoe?.address).size).toBe(100);
    expect(gateway.ipoe?.dhcp.active).toBe(100);
    expect(client.subscribers.table.setupMs[0]).toBeLessThan(10);
    expect(client.ipoe?.dhcp?.dns[0]).toBe(ip4('100.64.0.1'));
    client.subscribers.end();
    expect(lab.run(2 * second, () => client.subscribers.isOver)).toBe(true);
    lab.run(10);
    expect(gateway.ipoe?.dhcp.active).toBe(0);
    expect(client.subscribers.timers.count).toBe(0);
  });

  it('have one pair of VLAN tags each', () => {
    const { lab, client } = createEnds({ vlan: qinq }, { outerTpid: 0x88a8 });
    lab.keepsFrames = true;
    client.subscribers.begin();
    lab.run(2 * second, () => client.subscribers.table.counts[up] === 100);
    const tags = lab.frames.map((frame) => hexOfBytes(frame, 12, 20));
    expect(new Set(tags).size).toBe(100);
    expect(tags[0]).toBe('88a8606481006007');
  });

  it.each([
    ['two messages', { rapidCommit: true }, 2],
    ['broadcast answers', { isBroadcast: true }, 4],
    ['a DUID', { clientId: 'duid' as const }, 4],
    [
      'a relay agent',
      {
        relay: {
          circuitId: () => Uint8Array.of(1, 2),
          remoteId: () => Uint8Array.of(3),
          gatewayAddress: ip4('100.64.0.200'),
        },
      },
      4,
    ],
  ])('work with %s', (_name, more, messages) => {
    const { lab, client, gateway } = createEnds({ count: 10, ...withDhcp(more) });
    client.subscribers.begin();
    expect(lab.run(2 * second, () => client.subscribers.table.counts[up] === 10)).toBe(true);
    const counters = gateway.ipoe?.dhcp.counters;
    expect([counters?.received, counters?.sent]).toEqual([messages * 5, messages * 5]);
  });

  it('renew their leases, rebind them, and fail when they expire', () => {
    const { lab, client, gateway } = createEnds({ count: 5 }, withServer({ leaseSec: 60 }));
    client.subscribers.begin();
    lab.run(130 * second);
    expect(client.ipoe?.dhcp?.counters.renewals).toBe(20);
    lab.tamper = (frame, from) => (from === 1 ? undefined : frame);
    const flaps = () => client.subscribers.table.flaps.reduce((sum, one) => sum + one, 0);
    expect(lab.run(90 * second, () => flaps() === 5)).toBe(true);
    expect(client.subscribers.table.causeOf(0)).toMatch(/DHCP: lease expired|ARP: gateway/);
    lab.tamper = undefined;
    expect(lab.run(60 * second, () => client.subscribers.table.counts[up] === 5)).toBe(true);
    expect(gateway.ipoe?.dhcp.used).toBe(5);
  });

  it('report an exhausted pool, and get an address when one is free again', () => {
    const { lab, client } = createEnds({ count: 12, ...withDhcp({ retries: 1 }) }, withServer({ poolSize: 10 }));
    client.subscribers.begin();
    lab.run(2500);
    expect(client.subscribers.table.counts[up]).toBe(10);
    const failed = client.subscribers.table.state.findIndex((state) => state !== up);
    expect(client.subscribers.table.viewOf(failed)).toMatchObject({ state: 'waiting', cause: 'DHCP: no offer' });
    const other = client.subscribers.table.state.indexOf(up);
    client.subscribers.stop(other, other + 1);
    expect(lab.run(10 * second, () => client.subscribers.table.state[failed] === up)).toBe(true);
    expect(client.subscribers.table.viewOf(other)).toMatchObject({ state: 'ended', cause: 'stopped' });
  });

  it('decline an address that another machine uses', () => {
    const { lab, client, gateway } = createEnds({ count: 1 });
    lab.tamper = (frame, from) => {
      // The answer of the gateway to the first question of ARP is turned into one of the owner of the address.
      const isReply = from === 1 && frame[12] === 8 && frame[13] === 6 && gateway.ipoe?.dhcp.counters.declined === 0;
      if (!isReply) return frame;
      const changed = frame.slice();
      changed.set(frame.subarray(38, 42), 28);
      return changed;
    };
    client.subscribers.begin();
    expect(lab.run(10 * second, () => client.subscribers.table.counts[up] === 1)).toBe(true);
    expect(gateway.ipoe?.dhcp.counters.declined).toBe(1);
    expect(client.ipoe?.address[0]).toBe(ip4('100.64.0.3'));
  });

  it('fail when the gateway is silent or not trusted', () => {
    const neighbours = { ...ipoeOptions.neighbours, trusted: [ip4('100.64.9.9')] };
    const strange = createEnds({ count: 1, access: { ipoe: { ...ipoeOptions, neighbours } } });
    strange.client.subscribers.begin();
    strange.lab.run(100);
    expect(strange.client.subscribers.table.causeOf(0)).toBe('ARP: gateway is not trusted');
    const silent = createEnds({ count: 1 });
    silent.lab.tamper = (frame) => (frame[12] === 8 && frame[13] === 6 ? undefined : frame);
    silent.client.subscribers.begin();
    silent.lab.run(4 * second);
    expect(silent.client.subscribers.table.causeOf(0)).toBe('ARP: gateway does not answer');
  });

  it.each([1, 2, 3])('come up on a wire that loses, repeats and reorders frames (seed %i)', (seed) => {
    const lab = new AccessLab(seed);
    const { client, gateway } = createEnds({ vlan: qinq }, {}, lab);
    Object.assign(lab, { lossPct: 20, duplicatePct: 10, jitterMs: 30 });
    client.subscribers.begin();
    expect(lab.run(120 * second, () => client.subscribers.table.counts[up] === 100)).toBe(true);
    expect(new Set(client.ipoe?.address).size).toBe(100);
    expect(gateway.ipoe?.dhcp.active).toBe(100);
  });

  it('prove by echoes that packets pass', () => {
    const { lab, client } = createEnds({ proofPerSec: 2 });
    client.subscribers.begin();
    lab.run(3 * second);
    const { echoSent = 0, echoReceived } = client.ipoe?.counters ?? {};
    expect(echoSent).toBeGreaterThan(400);
    expect(echoReceived).toBeGreaterThan(echoSent - 10);
    expect(client.subscribers.table.rxPackets[7]).toBeGreaterThan(3);
  });

  it('keep to their pace and to the number in setup', () => {
    const load = { startPerSec: 50, stopPerSec: 100, maxOutstanding: 20, startDelayMs: 500 };
    const { lab, client } = createEnds({ load });
    client.subscribers.begin();
    lab.run(500);
    expect(client.subscribers.table.counts[sessionState.idle]).toBe(100);
    lab.run(second);
    expect(client.subscribers.table.counts[up]).toBeGreaterThanOrEqual(48);
    expect(client.subscribers.table.counts[up]).toBeLessThanOrEqual(51);
    lab.tamper = () => undefined;
    lab.run(second);
    expect(client.subscribers.table.counts[sessionState.setup]).toBe(20);
  });

  it('can be stopped, started and restarted by range, and held for a time', () => {
    const life = { holdMs: 5000, reconnect: true, reconnectDelayMs: 100, maxAttempts: 2 };
    const { lab, client } = createEnds({ count: 10, life });
    const { table } = client.subscribers;
    client.subscribers.begin();
    lab.run(second);
    client.subscribers.stop(0, 3);
    lab.run(500);
    expect(Array.from(table.state).filter((state) => state === up)).toHaveLength(7);
    client.subscribers.start(0, 2);
    client.subscribers.restart(4, 5);
    lab.run(500);
    expect(Array.from(table.state).filter((state) => state === up)).toHaveLength(9);
    expect([table.attempts[0], table.attempts[4], table.attempts[5]]).toEqual([2, 2, 1]);
    lab.run(20 * second);
    expect(table.counts[sessionState.ended]).toBe(10);
    expect(table.viewOf(5)).toMatchObject({ cause: 'hold time over', attempts: 2 });
  });
});

it('mutated packets of DHCP break neither end', () => {
  const { lab, client, gateway } = createEnds({ count: 20 });
  lab.keepsFrames = true;
  client.subscribers.begin();
  lab.run(second);
  const { frames } = lab;
  lab.keepsFrames = false;
  fc.assert(
    fc.property(
      fc.nat(frames.length - 1),
      fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.nat(420),
      (index, changes, length) => {
        const frame = (frames[index] as Uint8Array).slice(0, Math.max(length, 14));
        for (const [at, value] of changes) if (at < frame.length) frame[at] = value;
        client.receive(new Memory(frame), 0, frame.length);
        gateway.receive(new Memory(frame), 0, frame.length);
      },
    ),
    { numRuns: mutationRuns(3000) },
  );
  lab.run(300 * second, () => client.subscribers.table.counts[up] === 20, 5);
  expect(client.subscribers.table.counts[up]).toBe(20);
});
