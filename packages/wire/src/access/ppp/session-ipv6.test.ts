import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyOf, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { formatAddress } from '../../ip/address.ts';
import {
  createEnds,
  dhcpv6ClientOptions,
  dhcpv6ServerOptions,
  pppoeClientOptions,
  pppoeServerOptions,
} from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import type { Dhcpv6ServerOptions } from '../dhcpv6/server-options.ts';
import type { PppoeClientOptions } from '../pppoe/client.ts';
import { sessionState } from '../session-table.ts';

const { up } = sessionState;
const second = 1000;
const count = 20;

interface Wanted {
  readonly pools?: Partial<Dhcpv6ServerOptions>;
  readonly ipcp?: boolean;
  readonly autoconfigure?: boolean;
  readonly client?: Partial<NonNullable<PppoeClientOptions['ppp']['ip6cp']['dhcpv6']>>;
}

const createPair = ({ pools, ipcp = true, autoconfigure = true, client = {} }: Wanted = {}, lab = new AccessLab()) => {
  const dhcpv6 = { ...dhcpv6ClientOptions, releases: true, ...client };
  const own = pppoeClientOptions.ppp;
  const ppp = {
    ...{ ...own, ipcp: { ...own.ipcp, enabled: ipcp } },
    ip6cp: { enabled: true, autoconfigure, dhcpv6 },
  };
  const far = pppoeServerOptions.ppp;
  const serverPpp = {
    ...far,
    ip6cp: { enabled: true, autoconfigure, ...(pools && { pools: { ...dhcpv6ServerOptions, ...pools } }) },
  };
  const negotiated: number[] = [];
  const ends = createEnds(
    {
      ...{ count, proof6PerSec: 1, access: { pppoe: { ...pppoeClientOptions, ppp } } },
      listener: { onNegotiated: (session) => negotiated.push(session) },
    },
    { dhcp: undefined, pppoe: { ...pppoeServerOptions, ppp: serverPpp } },
    lab,
  );
  const { table } = ends.client.subscribers;
  ends.client.subscribers.begin();
  const near = (ends.client.pppoe as NonNullable<typeof ends.client.pppoe>).ppp.sessionIpv6;
  const server = (ends.gateway.pppoe as NonNullable<typeof ends.gateway.pppoe>).ppp.sessionIpv6;
  return { ...ends, table, near, server, negotiated, isUp: () => table.counts[up] === count };
};

it('mutated packets of IPv6 inside PPP break neither end', () => {
  const lab = new AccessLab();
  lab.keepsFrames = true;
  const { client, gateway, isUp } = createPair({ pools: {} }, lab);
  expect(lab.run(5 * second, isUp)).toBe(true);
  lab.keepsFrames = false;
  const isIpv6 = (frame: Uint8Array) => frame[20] === 0 && frame[21] === 0x57;
  const frames = lab.frames.filter(isIpv6);
  const change = fc.tuple(fc.nat(200), fc.nat(255));
  fc.assert(
    fc.property(
      fc.nat(frames.length - 1),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.nat(230),
      (index, changes, length) => {
        const frame = copyOf(frames[index] as Uint8Array, 0, Math.max(length, 22));
        for (const [at, value] of changes) if (at + 22 < frame.length) frame[at + 22] = value;
        client.receive(new Memory(frame), 0, frame.length);
        gateway.receive(new Memory(frame), 0, frame.length);
      },
    ),
    { numRuns: mutationRuns(3000) },
  );
  expect(lab.run(300 * second, isUp, 5)).toBe(true);
});

describe('IPv6 inside PPP', () => {
  it('has addresses and prefixes by DHCPv6, and both ends agree on them', () => {
    const { lab, near, server, isUp } = createPair({ pools: {} });
    expect(lab.run(5 * second, isUp)).toBe(true);
    const words = new Int32Array(4);
    const addresses = Array.from({ length: count }, (_, session) => {
      expect(near.writeAddress(session, words)).toBe(true);
      const own = formatAddress(words, 0);
      expect(server.server?.writeAddress(server.leaseOf(session), words)).toBe(true);
      expect(formatAddress(words, 0)).toBe(own);
      server.server?.writePrefix(server.leaseOf(session), words);
      expect(formatAddress(near.dhcpv6?.prefix ?? words, session * 4)).toBe(formatAddress(words, 0));
      expect(near.dhcpv6?.prefixLength[session]).toBe(56);
      return own;
    });
    expect(new Set(addresses).size).toBe(count);
    lab.run(3 * second);
    expect(near.counters.echoReceived).toBeGreaterThan(2 * count);
  });

  it('gives everything back when the sessions end, and when they are cut off', () => {
    const { lab, client, server, isUp } = createPair({ pools: {} });
    lab.run(5 * second, isUp);
    expect(server.server?.active).toBe(count);
    client.subscribers.stop(0, 10);
    lab.run(second);
    expect(server.server?.active).toBe(count - 10);
    client.setLink(false);
    lab.run(40 * second);
    expect(server.server?.active).toBe(0);
  });

  it('is renewed while the session lasts, without IPv4', () => {
    const { lab, table, near, isUp } = createPair({ pools: { validSec: 20, preferredSec: 10 }, ipcp: false });
    expect(lab.run(5 * second, isUp)).toBe(true);
    lab.run(60 * second);
    expect(table.counts[up]).toBe(count);
    expect(near.dhcpv6?.counters.renewals).toBeGreaterThan(5 * count);
  });

  it('is negotiated again when an old request comes late, and its new addresses are reported', () => {
    const lab = new AccessLab();
    lab.keepsFrames = true;
    const { table, client, gateway, near, server, negotiated, isUp } = createPair({ pools: {} }, lab);
    expect(lab.run(5 * second, isUp)).toBe(true);
    const isRequestOfServer = (frame: Uint8Array) => /^020000000001.{28}805701/.test(hexOfBytes(frame));
    const late = lab.frames.find(isRequestOfServer) as Uint8Array;
    const served: number[] = [];
    const far = (gateway.pppoe as NonNullable<typeof gateway.pppoe>).table;
    if (gateway.pppoe !== undefined) gateway.pppoe.ppp.onNetworks = (session) => served.push(session);
    client.receive(new Memory(late), 0, late.length);
    const words = new Int32Array(4);
    expect(near.writeAddress(0, words)).toBe(false);
    expect(lab.run(5 * second, () => negotiated.length > 0)).toBe(true);
    expect([negotiated, served]).toEqual([[0], [0]]);
    expect(near.writeAddress(0, words)).toBe(true);
    expect(server.leaseOf(0)).toBeGreaterThanOrEqual(0);
    for (const one of [table, far]) expect(one.viewOf(0)).toMatchObject({ state: 'up', step: 'none', flaps: 0 });
  });

  it('comes without a router advertisement where none is waited for, and through a bad wire', () => {
    const lab = new AccessLab();
    Object.assign(lab, { lossPct: 10, duplicatePct: 10, jitterMs: 20 });
    const { isUp, near } = createPair({ pools: {}, autoconfigure: false }, lab);
    expect(lab.run(60 * second, isUp)).toBe(true);
    expect(near.routers.counters.sent).toBe(0);
  });

  it.each([
    ['no server', {}, 'DHCPv6: no answer'],
    ['an empty pool', { pools: { poolSize: 1 } }, 'pool exhausted'],
  ] as const)('ends with the right cause at %s', (_, wanted, cause) => {
    const { lab, table } = createPair({ ...wanted, client: { retries: 2 } });
    lab.run(10 * second);
    expect(table.viewOf(5).cause).toBe(cause);
  });
});
