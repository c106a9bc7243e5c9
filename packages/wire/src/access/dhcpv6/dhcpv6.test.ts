import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { formatAddress, parseAddress } from '../../ip/address.ts';
import {
  createEnds,
  dhcpv6ClientOptions,
  dhcpv6ServerOptions,
  gateway6Options,
  ipoe6Options,
  ipoeOptions,
} from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import type { Ipoe6Options } from '../ipv6/ipoe6.ts';
import type { Ipoe6GatewayOptions } from '../ipv6/ipoe6-gateway.ts';
import type { VlanPlan } from '../lines.ts';
import { sessionState } from '../session-table.ts';
import { ClientId } from './client-id.ts';
import type { Dhcpv6ClientOptions } from './client-options.ts';
import { Dhcpv6Message, Dhcpv6Writer, dhcpv6Option, dhcpv6Type } from './message.ts';
import type { Dhcpv6ServerOptions } from './server-options.ts';

const { up } = sessionState;
const second = 1000;
const prefix = { words: parseAddress('2001:db8:7::'), validSec: 3600, preferredSec: 1800 };
const vlans: VlanPlan = {
  ...{ mode: '1:1', outerStart: 100, outerEnd: 199, innerStart: 0, innerEnd: 0, outerTpid: 0x8100, priority: 0 },
};

interface Change {
  readonly count?: number;
  readonly client?: Partial<Dhcpv6ClientOptions>;
  readonly method?: Ipoe6Options['method'];
  readonly trusted?: readonly Int32Array[];
  readonly server?: Partial<Dhcpv6ServerOptions>;
  readonly gateway?: Partial<Ipoe6GatewayOptions>;
  readonly hasIpv4?: boolean;
  readonly proof6PerSec?: number;
}

/** Subscribers with IPv6 and their gateway. */
const createEnds6 = (change: Change = {}, lab = new AccessLab()) => {
  const { count = 20, client, method, trusted = [], server, gateway, hasIpv4 = false, proof6PerSec = 0 } = change;
  const ipv6: Ipoe6Options = {
    ...ipoe6Options,
    method: method ?? { dhcpv6: { ...dhcpv6ClientOptions, ...client } },
    neighbours: { ...ipoe6Options.neighbours, trusted },
  };
  const access = { ipoe: { ...ipoeOptions, ...(!hasIpv4 && { ipv4: undefined }), ipv6 } };
  return createEnds(
    { count, access, vlan: vlans, proof6PerSec },
    { ipv6: { ...gateway6Options, dhcpv6: { ...dhcpv6ServerOptions, ...server }, ...gateway } },
    lab,
  );
};
const isUp =
  ({ client }: ReturnType<typeof createEnds6>, count: number) =>
  () =>
    client.subscribers.table.counts[up] === count;
const addressesOf = ({ client }: ReturnType<typeof createEnds6>) =>
  Array.from({ length: client.lines.count }, (_, i) => formatAddress(client.ipoe?.ipv6?.address as Int32Array, i * 4));

describe('messages of DHCPv6', () => {
  it('are written byte for byte and read back', () => {
    const memory = createMemory(200);
    const mac = Uint8Array.of(2, 0, 0, 0, 0, 1);
    const end = new Dhcpv6Writer()
      .begin(memory, 0, dhcpv6Type.solicit, 0xabcdef)
      .bytes(dhcpv6Option.clientId, new ClientId('ll', 0).of(mac))
      .association(dhcpv6Option.iaNa, { iaid: 1, words: parseAddress('2001:db8::5'), preferredSec: 60, validSec: 120 })
      .association(dhcpv6Option.iaPd, {
        iaid: 1,
        words: parseAddress('2001:db8:100::'),
        prefixLength: 40,
        validSec: 9,
      }).end;
    const expected = bytesOfHex(`01abcdef 0001000a 00030001 020000000001
      00030028 00000001 00000000 00000000 00050018 20010db8000000000000000000000005 0000003c 00000078
      00190029 00000001 00000000 00000000 001a0019 00000000 00000009 28 20010db8010000000000000000000000`);
    expect(hexOfBytes(memory.bytes, 0, end)).toBe(hexOfBytes(expected));
    const message = new Dhcpv6Message();
    expect(message.parse(memory, 0, end)).toBe(true);
    expect(message.address).toMatchObject({ iaid: 1, hasLease: true, preferredSec: 60, validSec: 120 });
    expect(message.prefix).toMatchObject({ prefixLength: 40, validSec: 9 });
    expect(message.parse(memory, 0, end - 1)).toBe(false);
  });

  it('identify clients by link address, link address and time, or UUID', () => {
    const mac = Uint8Array.of(2, 0, 0, 0, 0, 9);
    const texts = (['ll', 'llt', 'uuid'] as const).map((kind) => hexOfBytes(new ClientId(kind, 0x01020304).of(mac)));
    expect(texts).toEqual([
      '00030001020000000009',
      '0001000101020304020000000009',
      '000452757368686f80728000020000000009',
    ]);
  });
});

describe('subscribers with DHCPv6', () => {
  it('find their router, obtain an address and a prefix, and give both back', () => {
    const ends = createEnds6({ proof6PerSec: 5 });
    const { lab, client, gateway } = ends;
    client.subscribers.begin();
    expect(lab.run(2 * second, isUp(ends, 20))).toBe(true);
    expect(new Set(addressesOf(ends)).size).toBe(20);
    expect(addressesOf(ends)[0]).toBe('2001:db8:1::2');
    const { dhcpv6 } = client.ipoe?.ipv6 ?? {};
    expect(formatAddress(dhcpv6?.prefix as Int32Array, 4)).toBe('2001:db8:4000:100::');
    expect(dhcpv6?.prefixLength[1]).toBe(56);
    expect(gateway.ipoe6?.dhcpv6?.active).toBe(20);
    lab.run(second);
    const { echoSent = 0, echoReceived = 0 } = client.ipoe?.ipv6?.counters ?? {};
    expect(echoSent).toBeGreaterThan(80);
    expect(echoReceived).toBeGreaterThan(echoSent - 5);
    client.subscribers.end();
    expect(lab.run(2 * second, () => client.subscribers.isOver)).toBe(true);
    lab.run(10);
    expect(gateway.ipoe6?.dhcpv6?.active).toBe(0);
    expect(client.subscribers.timers.count).toBe(0);
  });

  it.each<[string, Partial<Dhcpv6ClientOptions>, number]>([
    ['two messages', { rapidCommit: true }, 2],
    ['an identifier with a time', { duid: 'llt' }, 4],
    ['a UUID', { duid: 'uuid' }, 4],
    ['an address only', { wantsPrefix: false }, 4],
    ['a prefix only', { wantsAddress: false }, 4],
    ['a relay', { relay: { interfaceId: (n) => Uint8Array.of(1, n), remoteId: () => Uint8Array.of(7) } }, 4],
  ])('work with %s', (_name, options, messages) => {
    const ends = createEnds6({ count: 10, client: options });
    ends.client.subscribers.begin();
    expect(ends.lab.run(2 * second, isUp(ends, 10))).toBe(true);
    const { received, sent } = ends.gateway.ipoe6?.dhcpv6?.counters ?? {};
    expect([received, sent]).toEqual([messages * 5, messages * 5]);
  });

  it('renew their leases, rebind them, and fail when they expire', () => {
    const ends = createEnds6({ count: 5, server: { preferredSec: 40, validSec: 60 } });
    const { lab, client, gateway } = ends;
    client.subscribers.begin();
    lab.run(90 * second);
    expect(client.ipoe?.ipv6?.dhcpv6?.counters.renewals).toBe(20);
    lab.tamper = (frame, from) => (from === 1 && frame[14 + 4 + 6] === 17 ? undefined : frame);
    const flaps = () => client.subscribers.table.flaps.reduce((sum, one) => sum + one, 0);
    expect(lab.run(90 * second, () => flaps() === 5)).toBe(true);
    expect(client.subscribers.table.causeOf(0)).toBe('DHCPv6: lease expired');
    lab.tamper = undefined;
    expect(lab.run(60 * second, isUp(ends, 5))).toBe(true);
    expect(gateway.ipoe6?.dhcpv6?.used).toBe(5);
  });

  it('renew when the server asks them to and proves that it is the one that gave the lease', () => {
    const ends = createEnds6({ client: { reconfigure: true }, server: { reconfigureSec: 10 } });
    const { lab, client, gateway } = ends;
    client.subscribers.begin();
    expect(lab.run(5 * second, isUp(ends, 20))).toBe(true);
    const own = client.ipoe?.ipv6?.dhcpv6?.counters;
    const messages: Uint8Array[] = [];
    const isReconfigure = (frame: Uint8Array) => frame[54 + 4 + 8] === dhcpv6Type.reconfigure;
    lab.tamper = (frame, from) => {
      if (from === 1 && isReconfigure(frame)) messages.push(frame);
      return frame;
    };
    lab.run(25 * second, () => (own?.renewals ?? 0) >= 40, 5);
    expect(own).toMatchObject({ reconfigured: 40, renewals: 40, invalid: 0 });
    expect(gateway.ipoe6?.dhcpv6?.counters.reconfigured).toBe(40);
    // A repetition, then a message that is not signed with the key.
    const [again] = messages.slice(-1) as [Uint8Array];
    client.receive(new Memory(again), 0, again.length);
    const forged = again.slice();
    const counterEnd = again.length - 17;
    forged[counterEnd - 1] = 99;
    client.receive(new Memory(forged), 0, forged.length);
    expect(own).toMatchObject({ reconfigured: 40, invalid: 2 });
  });

  it('renew a lease that is never preferred at half of its time', () => {
    const ends = createEnds6({ count: 1, server: { preferredSec: 0, validSec: 10 } });
    ends.client.subscribers.begin();
    expect(ends.lab.run(5 * second, isUp(ends, 1))).toBe(true);
    ends.lab.run(21 * second, () => false, 10);
    expect(ends.client.ipoe?.ipv6?.dhcpv6?.counters.renewals).toBe(4);
  });

  it('are not asked to renew unless they agree', () => {
    const ends = createEnds6({ server: { reconfigureSec: 5 } });
    ends.client.subscribers.begin();
    expect(ends.lab.run(5 * second, isUp(ends, 20))).toBe(true);
    ends.lab.run(20 * second, () => false, 10);
    expect(ends.gateway.ipoe6?.dhcpv6?.counters.reconfigured).toBe(0);
  });

  it('report an exhausted pool, a silent server, and a router that is missing or not trusted', () => {
    const causeOf = (change: Change, loses = false) => {
      const { lab, client } = createEnds6({ count: 3, ...change });
      if (loses) lab.tamper = (frame, from) => (from === 1 && frame[24] === 17 ? undefined : frame);
      client.subscribers.begin();
      lab.run(2900);
      return client.subscribers.table.causeOf(2);
    };
    expect(causeOf({ client: { retries: 1 }, server: { poolSize: 2 } })).toBe('pool exhausted');
    expect(causeOf({ client: { retries: 1, rapidCommit: true }, server: { poolSize: 2 } })).toBe('pool exhausted');
    expect(causeOf({ client: { retries: 1 } }, true)).toBe('DHCPv6: no answer');
    const { lab, client } = createEnds6({ count: 1, trusted: [parseAddress('fe80::9')] });
    client.subscribers.begin();
    lab.run(3100);
    expect(client.subscribers.table.causeOf(0)).toBe('router advertisement: none');
  });

  it('decline an address that another machine uses', () => {
    const ends = createEnds6({ count: 1 });
    const { lab, client, gateway } = ends;
    lab.tamper = (frame, from) => {
      // The first answer of the gateway to a neighbour solicitation is turned into one of the owner of the address.
      const isAnswer = from === 1 && frame[18 + 40] === 136 && gateway.ipoe6?.dhcpv6?.counters.declined === 0;
      if (!isAnswer) return frame;
      const changed = frame.slice();
      const owner = Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2);
      changed.set(owner, 18 + 48);
      const sum = (bytes: Uint8Array) => {
        let total = frame.length - 18 - 40 + 58;
        for (let at = 18 + 8; at < bytes.length; at += 2) total += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
        return total;
      };
      changed.set([0, 0], 18 + 42);
      let folded = sum(changed);
      while (folded > 0xffff) folded = (folded & 0xffff) + (folded >>> 16);
      changed.set([(~folded >>> 8) & 255, ~folded & 255], 18 + 42);
      return changed;
    };
    client.subscribers.begin();
    expect(lab.run(10 * second, isUp(ends, 1))).toBe(true);
    expect(gateway.ipoe6?.dhcpv6?.counters.declined).toBe(1);
    expect(addressesOf(ends)[0]).toBe('2001:db8:1::3');
  });

  it.each([1, 2])('come up beside IPv4 on a wire that loses, repeats and reorders frames (seed %i)', (seed) => {
    const lab = new AccessLab(seed);
    const ends = createEnds6({ count: 50, hasIpv4: true }, lab);
    Object.assign(lab, { lossPct: 15, duplicatePct: 10, jitterMs: 30 });
    ends.client.subscribers.begin();
    expect(lab.run(180 * second, isUp(ends, 50))).toBe(true);
    expect(new Set(addressesOf(ends)).size).toBe(50);
    expect(new Set(ends.client.ipoe?.address).size).toBe(50);
  });
});

describe('subscribers without DHCPv6', () => {
  it('make their address from the prefix of the router, and fail when it is advertised no more', () => {
    const ends = createEnds6({
      count: 4,
      method: 'slaac',
      gateway: { dhcpv6: undefined, prefix: { ...prefix, validSec: 60 } },
    });
    const { lab, client } = ends;
    client.subscribers.begin();
    expect(lab.run(2 * second, isUp(ends, 4))).toBe(true);
    expect(addressesOf(ends)[2]).toBe('2001:db8:7::ff:fe00:3');
    lab.run(65 * second, () => (client.subscribers.table.flaps[0] as number) > 0);
    expect(client.subscribers.table.causeOf(0)).toBe('router advertisement: expired');
  });

  it('have fixed addresses and ask for the gateway that is given', () => {
    const method = { first: parseAddress('2001:db8::ffff:ffff'), gateway: parseAddress('fe80::1') };
    const ends = createEnds6({ count: 3, method, gateway: { dhcpv6: undefined } });
    ends.client.subscribers.begin();
    expect(ends.lab.run(2 * second, isUp(ends, 3))).toBe(true);
    expect(addressesOf(ends)).toEqual(['2001:db8::ffff:ffff', '2001:db8::1:0:0', '2001:db8::1:0:1']);
    ends.lab.tamper = () => undefined;
    ends.lab.run(40 * second, () => (ends.client.subscribers.table.flaps[0] as number) > 0);
    expect(ends.client.subscribers.table.causeOf(0)).toBe('IPv6: gateway does not answer');
  });
});

it('mutated packets of IPv6 and DHCPv6 break neither end', () => {
  const relay = { interfaceId: () => Uint8Array.of(1), remoteId: () => Uint8Array.of(7) };
  const kept: Uint8Array[] = [];
  for (const change of [{ client: { relay } }, {}]) {
    const ends = createEnds6({ count: 20, ...change });
    ends.lab.keepsFrames = true;
    ends.client.subscribers.begin();
    ends.lab.run(second);
    kept.push(...ends.lab.frames);
  }
  const ends = createEnds6({ count: 20 });
  const { lab, client, gateway } = ends;
  client.subscribers.begin();
  lab.run(second);
  fc.assert(
    fc.property(
      fc.nat(kept.length - 1),
      fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.nat(320),
      (index, changes, length) => {
        const frame = (kept[index] as Uint8Array).slice(0, Math.max(length, 14));
        for (const [at, value] of changes) if (at < frame.length) frame[at] = value;
        client.receive(new Memory(frame), 0, frame.length);
        gateway.receive(new Memory(frame), 0, frame.length);
      },
    ),
    { numRuns: mutationRuns(3000) },
  );
  // Most mutations fail a checksum: the codec itself gets them all.
  const message = new Dhcpv6Message();
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 120 }), (bytes) => {
      message.parse(new Memory(bytes), 0, bytes.length);
    }),
    { numRuns: mutationRuns(3000) },
  );
  lab.run(300 * second, isUp(ends, 20), 5);
  expect(client.subscribers.table.counts[up]).toBe(20);
});
