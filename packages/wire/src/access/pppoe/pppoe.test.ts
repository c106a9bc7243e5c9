import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksumOf, sumBytes } from '../../bytes/checksum.ts';
import { bytesOfHex, createMemory, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { formatAddress } from '../../ip/address.ts';
import { createEnds, ip4, pppoeClientOptions, pppoeServerOptions } from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import type { VlanPlan } from '../lines.ts';
import { authMethod } from '../ppp/lcp.ts';
import type { PppOptions } from '../ppp/ppp.ts';
import { sessionState } from '../session-table.ts';
import type { PppoeClientOptions } from './client.ts';
import { DiscoveryWriter, PppoeMessage, pppoeCode, pppoeTag } from './message.ts';
import type { PppoeServerOptions } from './server.ts';

const { up } = sessionState;
const second = 1000;
const text = (value: string) => new TextEncoder().encode(value);

type Ppp = Partial<{ [Part in keyof PppOptions]: Partial<PppOptions[Part]> }>;
const mergedPpp = (base: PppoeClientOptions['ppp'], more: Ppp) => ({
  lcp: { ...base.lcp, ...more.lcp },
  auth: { ...base.auth, ...more.auth },
  ipcp: { ...base.ipcp, ...more.ipcp },
  ip6cp: { ...base.ip6cp, ...more.ip6cp },
});

interface Wanted {
  readonly count?: number;
  readonly client?: Partial<Omit<PppoeClientOptions, 'ppp'>>;
  readonly clientPpp?: Ppp;
  readonly server?: Partial<Omit<PppoeServerOptions, 'ppp'>>;
  readonly serverPpp?: Ppp;
  readonly vlan?: VlanPlan;
  readonly proofPerSec?: number;
}

const createPair = (wanted: Wanted = {}, lab = new AccessLab()) => {
  const { count = 20, client, clientPpp = {}, server, serverPpp = {}, vlan, proofPerSec = 0 } = wanted;
  const pppoe = { ...pppoeClientOptions, ...client, ppp: mergedPpp(pppoeClientOptions.ppp, clientPpp) };
  const far = { ...pppoeServerOptions, ...server, ppp: mergedPpp(pppoeServerOptions.ppp, serverPpp) };
  const ends = createEnds(
    { count, proofPerSec, access: { pppoe }, ...(vlan && { vlan }) },
    { dhcp: undefined, pppoe: far },
    lab,
  );
  const { table } = ends.client.subscribers;
  const start = (maxMs = 5 * second) => {
    ends.client.subscribers.begin();
    return lab.run(maxMs, () => table.counts[up] === count);
  };
  return { ...ends, table, start };
};

/** Adds a prefix to an advertisement in a PPPoE frame without tags, and corrects lengths and checksum. */
const withPrefix = (frame: Uint8Array): Uint8Array => {
  const longer = new Memory(new Uint8Array(78 + 32));
  longer.bytes.set(frame.subarray(0, 78));
  longer.bytes.set(bytesOfHex('0304 40c0 00000e10 00000708 00000000 20010db8000700000000000000000000'), 78);
  longer.view.setUint16(18, 2 + 40 + 48);
  longer.view.setUint16(26, 48);
  longer.view.setUint16(64, 0);
  const addresses = sumBytes(longer, 30, 62);
  longer.view.setUint16(64, checksumOf(addresses + 58 + 48 + sumBytes(longer, 62, 110)));
  return longer.bytes;
};

describe('discovery', () => {
  it('writes the example of RFC 2516, appendix B, byte for byte', () => {
    const memory = createMemory(100);
    const end = new DiscoveryWriter().begin(memory, 0, pppoeCode.padi, 0).tag(pppoeTag.serviceName, text('')).end();
    expect(hexOfBytes(memory.bytes, 0, end)).toBe('110900000004' + '01010000');
    const offer = new Memory(
      bytesOfHex('1107 0000 0020 0101 0000 0102 0018 476f 2052 6564 4261 636b 202d 2065 7368 7368 6573 686f 6f74'),
    );
    const message = new PppoeMessage();
    expect(message.parse(offer, 0, offer.bytes.length) && message.parseTags(offer)).toBe(true);
    expect(new TextDecoder().decode(message.find(offer, pppoeTag.acName))).toBe('Go RedBack - eshsheshoot');
  });

  it('describes the line as TR-101 does', () => {
    const memory = createMemory(100);
    const line = { circuitId: text('a'), remoteId: text('bc'), upstreamKbps: 0, downstreamKbps: 100_000, dslType: 5 };
    const end = new DiscoveryWriter().begin(memory, 0, pppoeCode.padr, 0).line(line).end();
    expect(hexOfBytes(memory.bytes, 6, end)).toBe(
      '0105' + '0017' + '00000de9' + '010161' + '02026263' + '8204000186a0' + '910400000005',
    );
  });
});

describe('subscribers with PPPoE', () => {
  it('set up sessions with CHAP, IPv4 and IPv6, and end them', () => {
    const { lab, client, gateway, table, start } = createPair();
    expect(start()).toBe(true);
    lab.run(10);
    expect(gateway.pppoe?.table.counts[up]).toBe(20);
    const { ipv4, ipv6 } = (client.pppoe as NonNullable<typeof client.pppoe>).ppp;
    expect(new Set(ipv4.address).size).toBe(20);
    expect([ipv4.peer[0], ipv4.dns[0], ipv4.dns[1]]).toEqual([ip4('100.64.0.1'), ip4('9.9.9.9'), ip4('8.8.8.8')]);
    expect(ipv6.own[1]).toBe(0xfe000001 | 0);
    client.subscribers.end();
    expect(lab.run(5 * second, () => client.subscribers.isOver)).toBe(true);
    lab.run(10);
    expect([gateway.pppoe?.count, gateway.pppoe?.timers.count, client.subscribers.timers.count]).toEqual([0, 0, 0]);
    expect(table.viewOf(3)).toMatchObject({ state: 'ended', cause: 'stopped', flaps: 0 });
  });

  it.each(['pap', 'chap', 'none'] as const)('authenticate by %s', (offer) => {
    const { start, client } = createPair({ serverPpp: { auth: { offer } } });
    expect(start()).toBe(true);
    expect(client.pppoe?.ppp.auth.counters.refused).toBe(0);
  });

  it.each([true, false])('come in as another program decides (let in: %s)', (isGood) => {
    const wrong = { credentials: () => ({ userName: 'other', password: 'no' }) };
    const { start } = createPair({
      clientPpp: { auth: wrong },
      serverPpp: {
        auth: { ask: (_, __, answer) => answer({ isGood, text: undefined, cause: 'authentication: refused' }) },
      },
    });
    expect(start(second)).toBe(isGood);
  });

  it('authenticate by MS-CHAPv2 when one end insists on it', () => {
    const { start, client } = createPair({ clientPpp: { auth: { offer: 'msChapV2' } } });
    expect(start()).toBe(true);
    expect(client.pppoe?.ppp.link.method[0]).toBe(authMethod.msChapV2);
    const wrong = { offer: 'msChapV2' as const, credentials: () => ({ userName: 'user1@test', password: 'no' }) };
    const refused = createPair({ count: 1, clientPpp: { auth: wrong } });
    refused.start(second);
    expect(refused.table.causeOf(0)).toBe('authentication: refused');
  });

  it.each([
    [
      'a wrong password',
      { clientPpp: { auth: { credentials: () => ({ userName: 'user1@test', password: 'no' }) } } },
      'authentication: refused',
    ],
    [
      'an unknown user',
      { clientPpp: { auth: { credentials: () => ({ userName: 'other', password: 'no' }) } } },
      'authentication: refused',
    ],
    ['no common method', { clientPpp: { auth: { offer: 'none' as const } } }, 'authentication: method not accepted'],
    ['an unknown concentrator', { client: { acName: text('other'), retries: 2 } }, 'PPPoE: no offer'],
    ['an unknown service', { client: { serviceName: text('tv'), retries: 2 } }, 'PPPoE: no offer'],
    ['a full server', { server: { maxSessions: 1 } }, 'PPPoE: refused by the concentrator'],
    ['an exhausted pool', { server: { pools: [{ name: '', start: 0x64400002, size: 1 }] } }, 'LCP: ended by the peer'],
    [
      'no protocol of the network layer',
      { clientPpp: { ip6cp: { enabled: false } }, serverPpp: { ipcp: { enabled: false } } },
      'IPCP: refused',
    ],
  ])('report %s', (_name, wanted, cause) => {
    const { lab, table, start, client } = createPair({ count: 2, ...wanted });
    expect(start(4 * second)).toBe(false);
    const failed = table.state.findIndex((state) => state !== up);
    expect(table.causeOf(failed)).toBe(cause);
    client.subscribers.end();
    expect(lab.run(10 * second, () => client.subscribers.isOver)).toBe(true);
  });

  it('live on with one protocol of the network layer when the peer has only that', () => {
    const { start, client } = createPair({ serverPpp: { ip6cp: { enabled: false } } });
    expect(start()).toBe(true);
    expect([client.pppoe?.ppp.ipcp.isOpen(0), client.pppoe?.ppp.ip6cp.isOpen(0)]).toEqual([true, false]);
  });

  it('wait for a router advertisement and make their address from its prefix', () => {
    const { lab, start, client, table } = createPair({ count: 2 });
    // The advertisement gets a prefix, as that of another vendor: option 3 with 2001:db8:7::/64.
    lab.tamper = (frame, from) => {
      const isAdvertisement = from === 1 && hexOfBytes(frame, 20, 22) === '0057' && frame[62] === 134;
      return isAdvertisement ? withPrefix(frame) : frame;
    };
    expect(start()).toBe(true);
    expect(formatAddress(client.pppoe?.ppp.sessionIpv6.routers.address ?? new Int32Array(4), 4)).toBe(
      '2001:db8:7::ff:fe00:2',
    );
    const silent = createPair({ count: 1 });
    silent.lab.tamper = (frame) => (hexOfBytes(frame, 20, 22) === '0057' ? undefined : frame);
    expect(silent.start(13 * second)).toBe(false);
    expect(silent.table.causeOf(0)).toBe('router advertisement: none');
    const ready = createPair({ count: 1, clientPpp: { ip6cp: { autoconfigure: false } } });
    ready.lab.tamper = silent.lab.tamper;
    expect(ready.start()).toBe(true);
    expect(table.counts[up]).toBe(2);
  });

  it('notice that the peer is gone by echoes, and come back', () => {
    const { lab, table, start } = createPair();
    expect(start()).toBe(true);
    lab.tamper = (frame, from) => (from === 1 ? undefined : frame);
    lab.run(45 * second);
    expect(table.viewOf(0)).toMatchObject({ flaps: 1 });
    lab.tamper = undefined;
    expect(lab.run(60 * second, () => table.counts[up] === 20)).toBe(true);
  });

  it('carry packets, with VLANs and priority of their own', () => {
    const vlan = {
      mode: '1:1',
      outerStart: 10,
      outerEnd: 40,
      innerStart: 0,
      innerEnd: 0,
      outerTpid: 0x8100,
      priority: 1,
    } as const;
    const { lab, client, start, table } = createPair({ proofPerSec: 2, vlan });
    lab.keepsFrames = true;
    expect(start()).toBe(true);
    lab.run(3 * second);
    expect(client.pppoe?.counters.echoReceived).toBeGreaterThan(80);
    expect(table.rxPackets[3]).toBeGreaterThan(3);
    const tci = (frame: Uint8Array) => hexOfBytes(frame, 14, 18);
    const first = lab.frames[0] as Uint8Array;
    expect(tci(first)).toBe('c00a8863');
    expect(lab.frames.some((frame) => hexOfBytes(frame, 24, 26) === '0021' && tci(frame).startsWith('20'))).toBe(true);
  });

  it.each([1, 2, 3, 4])('come up on a wire that loses, repeats and reorders frames (seed %i)', (seed) => {
    const lab = new AccessLab(seed);
    Object.assign(lab, { lossPct: 10, duplicatePct: 10, jitterMs: 30 });
    const { client, gateway, table, start } = createPair({ count: 60 }, lab);
    expect(start(240 * second)).toBe(true);
    Object.assign(lab, { lossPct: 0, duplicatePct: 0, jitterMs: 0 });
    expect(lab.run(120 * second, () => table.counts[up] === 60 && gateway.pppoe?.table.counts[up] === 60)).toBe(true);
    expect(new Set(client.pppoe?.ppp.ipv4.address).size).toBe(60);
    client.subscribers.end();
    expect(lab.run(20 * second, () => client.subscribers.isOver)).toBe(true);
    expect(lab.run(60 * second, () => gateway.pppoe?.count === 0)).toBe(true);
  });
});

it('mutated packets of PPPoE and PPP break neither end', () => {
  const { lab, client, gateway, table, start } = createPair();
  lab.keepsFrames = true;
  expect(start()).toBe(true);
  const { frames } = lab;
  lab.keepsFrames = false;
  const change = fc.tuple(fc.nat(90), fc.nat(255));
  fc.assert(
    fc.property(
      fc.nat(frames.length - 1),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.nat(110),
      (index, changes, length) => {
        const frame = (frames[index] as Uint8Array).slice(0, Math.max(length, 14));
        for (const [at, value] of changes) if (at + 12 < frame.length) frame[at + 12] = value;
        client.receive(new Memory(frame), 0, frame.length);
        gateway.receive(new Memory(frame), 0, frame.length);
      },
    ),
    { numRuns: mutationRuns(3000) },
  );
  expect(lab.run(300 * second, () => table.counts[up] === 20, 5)).toBe(true);
});
