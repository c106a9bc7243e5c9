import { readControl } from '../access/l2tp/control-message.ts';
import { L2tpHeader } from '../access/l2tp/header.ts';
import { L2tpLac, type L2tpLacOptions } from '../access/l2tp/lac.ts';
import { L2tpLns, type L2tpLnsOptions } from '../access/l2tp/lns.ts';
import type { L2tpLink, TunnelsOptions } from '../access/l2tp/tunnels.ts';
import type { RadiusClient } from '../access/radius/client.ts';
import { sessionState } from '../access/session-table.ts';
import { Subscribers } from '../access/subscribers.ts';
import { Memory } from '../bytes/memory.ts';
import { clientOptions, ip4, pppoeClientOptions, pppoeServerOptions } from './access-ends.ts';
import { AccessLab } from './access-lab.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
export const lacPeer = { address: ip4('192.0.2.1'), port: 1701 } as const;
export const lnsPeer = { address: ip4('192.0.2.2'), port: 1701 } as const;

const tunnel: Omit<TunnelsOptions, 'maxTunnels'> = {
  hostName: (number) => bytes(`end-${number + 1}`),
  secret: bytes('secret'),
  helloMs: 20_000,
  receiveWindow: 16,
  timeoutMs: 1000,
  attempts: 5,
  tosOfControl: 0xc0,
};
const common = { maxPerTunnel: 8, dataSequencing: false, dataLength: false, proxyAuth: false };

export const lacOptions: L2tpLacOptions = {
  ...common,
  tunnel,
  peer: lnsPeer,
  connectBps: 100_000_000,
  dscp: 0,
  ppp: { ...pppoeClientOptions.ppp, ip6cp: { enabled: true, autoconfigure: false } },
};

export const lnsOptions: L2tpLnsOptions = {
  ...common,
  maxPerTunnel: 65_535,
  tunnel: { ...tunnel, maxTunnels: 64 },
  peer: undefined,
  maxSessions: 1000,
  pools: pppoeServerOptions.pools,
  ppp: pppoeServerOptions.ppp,
};

/** Frames of the lab are payloads of datagrams. */
export const linkOf = (lab: AccessLab, from: 0 | 1, types: Set<number>): L2tpLink => {
  const sink = lab.sink(from);
  return {
    memory: sink.memory,
    mtu: sink.mtu,
    begin: (_path, length) => sink.begin(length, 0),
    send: (_peer, at, end, { tos }) => {
      types.add(tos);
      sink.commit(at, end - at);
    },
  };
};

/** A LAC with subscribers and an LNS, both ours, on one wire. */
export const createL2tpEnds = (
  { count = 20, ...lac }: Partial<L2tpLacOptions> & { count?: number } = {},
  lns: Partial<L2tpLnsOptions> = {},
  lab = new AccessLab(),
  radius?: RadiusClient,
) => {
  const { random } = lab;
  const subscribers = new Subscribers(count, clientOptions.load, clientOptions.life);
  const tosOfLac = new Set<number>();
  const near = new L2tpLac({ link: linkOf(lab, 0, tosOfLac), subscribers, random }, { ...lacOptions, ...lac });
  subscribers.protocol = near;
  const far = new L2tpLns({ link: linkOf(lab, 1, new Set()), random, radius }, { ...lnsOptions, ...lns });
  lab.ends[0] = {
    receive: (memory: Memory, start, end) => near.receive(lnsPeer, memory, start, end),
    advance: (nowMs) => {
      subscribers.advance(nowMs);
      near.advance(nowMs);
    },
  };
  lab.ends[1] = {
    receive: (memory: Memory, start, end) => far.receive(lacPeer, memory, start, end),
    advance: (nowMs) => far.advance(nowMs),
  };
  const { table } = subscribers;
  const ends = { lab, lac: near, lns: far, subscribers, table, tosOfLac };
  return {
    ...ends,
    /** Starts all sessions; true when they are up. */
    start: (maxMs = 10_000) => {
      subscribers.begin();
      return lab.run(maxMs, () => table.counts[sessionState.up] === table.count);
    },
    /** Ends all sessions; true when both ends have none. */
    end: (maxMs = 20_000) => {
      subscribers.end();
      return lab.run(maxMs, () => subscribers.isOver && far.count === 0);
    },
    /** Tunnels, sessions and timers that are left when the ends of tunnels need not be repeated any more. */
    leftovers: (): number => {
      lab.run(70_000, () => near.tunnels.count + far.tunnels.count === 0, 50);
      const tunnels = [near, far].map((one) => one.tunnels.count + one.tunnels.timerCount);
      return far.count + subscribers.timers.count + far.timers.count + tunnels.reduce((sum, count) => sum + count);
    },
  };
};

export type L2tpEnds = ReturnType<typeof createL2tpEnds>;

export const withTunnel = (more: Partial<L2tpLacOptions['tunnel']>) => ({ ...tunnel, ...more });

/** The header of a captured message. */
export const headerOf = (frame: Uint8Array): L2tpHeader => {
  const header = new L2tpHeader();
  if (!header.parse(new Memory(frame), 0, frame.length)) throw new Error('not a message of L2TP');
  return header;
};

/** Types of the control messages of a capture, acknowledgements as 0. */
export const typesOf = (frames: readonly Uint8Array[]): number[] =>
  frames.flatMap((frame) => {
    const header = headerOf(frame);
    if (!header.isControl) return [];
    return header.payload === header.end ? [0] : [readControl(new Memory(frame), header, tunnel.secret)?.type ?? -1];
  });
