import type { Memory } from '../../bytes/memory.ts';
import { icmp4Type } from '../../icmp/icmp.ts';
import { Ipv4Header } from '../../ip/ipv4.ts';
import type { SessionCause } from '../causes.ts';
import { echoPacketBytes, icmpTypeOf, writeEcho } from '../echo.ts';
import type { LineDirectory } from '../lines.ts';
import { ipProtocolOf, pppProtocol } from '../ppp/packet.ts';
import { type AdoptedLink, Ppp, type PppOptions } from '../ppp/ppp.ts';
import type { AccessProtocol, Subscribers } from '../subscribers.ts';
import { type TimerKind, timerKind } from '../timers.ts';
import type { Avp } from './avp.ts';
import { Calls, type CallsOptions } from './calls.ts';
import { callResult, stopResult } from './control-message.ts';
import { negotiateAsProxy } from './proxy.ts';
import { cycleMs } from './reliable-channel.ts';
import { SessionLink } from './session-link.ts';
import type { L2tpPeer, Tunnel } from './tunnel.ts';
import { type L2tpLink, Tunnels, type TunnelsOptions } from './tunnels.ts';

export interface L2tpLacOptions extends Omit<CallsOptions, 'isLns'> {
  readonly tunnel: Omit<TunnelsOptions, 'maxTunnels'>;
  /** Undefined: the LNS calls. */
  readonly peer: L2tpPeer | undefined;
  /** Negotiates LCP and authentication for the subscribers and passes them on. */
  readonly proxyAuth: boolean;
  /** DSCP of packets that prove a session. */
  readonly dscp: number;
  readonly ppp: Omit<PppOptions, 'isServer' | 'capacity'>;
}

export interface L2tpLacHost {
  readonly link: L2tpLink;
  readonly subscribers: Subscribers;
  /** MACs of the subscribers, of which their identifiers of DHCPv6 are made. */
  readonly lines?: LineDirectory | undefined;
  readonly random: () => number;
  /** An IP packet of a session. */
  onPacket?(session: number, memory: Memory, start: number, end: number): void;
  /** An IP packet to a group. */
  onMulticast?(session: number, tags: number, memory: Memory, ip: Ipv4Header): void;
}

const phase = { idle: 0, tunnel: 1, call: 2, session: 3 } as const;
/** Tunnels that are only kept to end in order need room beside those in use. */
const spareTunnels = 16;
const maxTunnels = 65_535;

/** Subscribers behind an access concentrator of L2TP (RFC 2661): tunnels to the LNS, a call and PPP for each. */
export class L2tpLac implements AccessProtocol {
  readonly ppp: Ppp;
  readonly tunnels: Tunnels;
  readonly calls: Calls;
  readonly counters = { timeouts: 0, echoSent: 0, echoReceived: 0 };
  readonly #link: SessionLink;
  readonly #host: L2tpLacHost;
  readonly #options: L2tpLacOptions;
  readonly #phase: Uint8Array;
  /** The tunnels in use, by their number, and the other direction. */
  readonly #inUse: (Tunnel | undefined)[];
  readonly #numbers = new Map<Tunnel, number>();
  /** Sessions that wait for a tunnel, by its number. */
  readonly #waiting: Set<number>[];
  /** What has been negotiated for sessions whose call is being connected. */
  readonly #adopted = new Map<number, AdoptedLink>();
  readonly #ip = new Ipv4Header();
  #echo = 0;

  constructor(host: L2tpLacHost, options: L2tpLacOptions) {
    const { subscribers, link, random } = host;
    const capacity = subscribers.table.count;
    const count = Math.ceil(capacity / options.maxPerTunnel);
    this.#host = host;
    this.#options = options;
    this.#phase = new Uint8Array(capacity);
    this.#inUse = new Array<Tunnel | undefined>(count).fill(undefined);
    this.#waiting = Array.from({ length: count }, () => new Set<number>());
    this.calls = this.#createCalls();
    this.tunnels = new Tunnels(
      link,
      random,
      {
        accepts: ({ address }) => (options.peer?.address ?? address) === address && this.#inUse.includes(undefined),
        onOpen: (tunnel) => this.#onOpen(tunnel),
        onClosed: (tunnel, cause) => this.#onClosed(tunnel, cause),
        onCall: (tunnel, message) => this.calls.receive(tunnel, message),
        onData: (tunnel, header, memory) => this.calls.receiveData(tunnel, header, memory),
      },
      { ...options.tunnel, maxTunnels: Math.min(2 * count + spareTunnels, maxTunnels) },
    );
    this.#link = new SessionLink(link, this.calls);
    this.ppp = this.#createPpp(capacity);
  }

  start(session: number): void {
    const number = this.#numberOf(session);
    const { peer } = this.#options;
    const { subscribers } = this.#host;
    this.#phase[session] = phase.tunnel;
    subscribers.onStep(session, 'L2TP tunnel');
    subscribers.timers.set(session, timerKind.link, this.#setupMs);
    const waiting = this.#waiting[number] as Set<number>;
    waiting.add(session);
    let tunnel = this.#inUse[number];
    if (tunnel === undefined && peer !== undefined) {
      tunnel = this.tunnels.open(peer, number);
      if (tunnel !== undefined) this.#use(tunnel, number);
    }
    if (tunnel?.isOpen === true) this.#call(tunnel, session);
  }

  stop(session: number): void {
    if (this.#phase[session] === phase.session) this.ppp.close(session, 'stopped');
    else this.#end(session, 'stopped');
  }

  drop(session: number): void {
    const tunnel = this.#forget(session);
    if (tunnel !== undefined) tunnel.drop('link down');
  }

  onTimer(session: number, kind: TimerKind): void {
    const current = this.#phase[session] as number;
    if (current === phase.session || kind !== timerKind.link) {
      this.ppp.onTimer(session, kind);
      return;
    }
    this.counters.timeouts++;
    if (current === phase.call) this.calls.end(session, { result: callResult.tooLate });
    this.#end(session, current === phase.call ? 'L2TP: no call' : 'L2TP: no tunnel');
  }

  advance(nowMs: number): void {
    this.tunnels.advance(nowMs);
  }

  /** The payload [start, end) of a datagram from a peer. */
  receive(peer: L2tpPeer, memory: Memory, start: number, end: number): void {
    this.tunnels.receive(peer, memory, start, end);
  }

  /** IPv4 address of a session; 0: it has none. */
  addressOf(session: number): number {
    return this.ppp.ipcp.isOpen(session) ? (this.ppp.ipv4.address[session] as number) : 0;
  }

  /** Largest IP packet of a session: datagrams are not fragmented. */
  get mtu(): number {
    return Math.min(this.#link.mtu, this.#options.ppp.lcp.mru);
  }

  /** Where an IP packet of a session is written, or -1. */
  begin(session: number, length: number): number {
    return this.#link.begin(session, length);
  }

  /** Sends the IP packet [at, end) of a session. */
  sendPacket(session: number, at: number, end: number): void {
    this.#link.send(session, at, end, ipProtocolOf(this.#link.memory, at));
  }

  /** Sends an echo request to the other end of the session: the proof that it carries packets. */
  prove(session: number): void {
    if (!this.ppp.ipcp.isOpen(session)) return;
    const at = this.begin(session, echoPacketBytes);
    if (at < 0) return;
    this.#echo = (this.#echo + 1) & 0xffff;
    const end = writeEcho(this.#link, at, {
      source: this.ppp.ipv4.address[session] as number,
      destination: this.ppp.ipv4.peer[session] as number,
      word: (session << 16) | this.#echo,
      dscp: this.#options.dscp,
    });
    this.counters.echoSent++;
    this.#host.subscribers.table.countSent(session, end - at);
    this.sendPacket(session, at, end);
  }

  get #setupMs(): number {
    const { tunnel } = this.#options;
    return cycleMs(tunnel) + 2 * tunnel.timeoutMs;
  }

  #createCalls(): Calls {
    return new Calls(
      {
        linkAvps: (session) => this.#linkAvps(session),
        onUp: (session) => this.#onUp(session),
        // The LNS may end what this end is ending already.
        onDown: (session, cause) => this.#end(session, this.ppp.causeOf(session) ?? cause),
        onFrame: (session, protocol, memory, start, end) => {
          if (this.#phase[session] === phase.session) this.ppp.receive(session, protocol, memory, start, end);
        },
      },
      { ...this.#options, isLns: false },
    );
  }

  #createPpp(capacity: number): Ppp {
    const { subscribers, random, lines } = this.#host;
    const { ppp } = this.#options;
    return new Ppp(
      {
        link: this.#link,
        random,
        timers: subscribers.timers,
        lines,
        interfaceId: (session) => [0x02005eff, (0xfe << 24) | (session & 0xffffff)],
        onStep: (session, step) => subscribers.onStep(session, step),
        onUp: (session) => subscribers.onUp(session),
        onDown: (session, cause) => this.#end(session, cause),
        onPacket: (session, protocol, memory, start, end) => this.#onPacket(session, protocol, memory, start, end),
      },
      { ...ppp, lcp: { ...ppp.lcp, mru: this.mtu }, isServer: false, capacity },
    );
  }

  #numberOf(session: number): number {
    return Math.floor(session / this.#options.maxPerTunnel);
  }

  #use(tunnel: Tunnel, number: number): void {
    this.#inUse[number] = tunnel;
    this.#numbers.set(tunnel, number);
  }

  #onOpen(tunnel: Tunnel): void {
    const number = this.#numbers.get(tunnel) ?? this.#inUse.indexOf(undefined);
    if (number < 0) {
      tunnel.close({ result: stopResult.clear, cause: 'stopped' });
      return;
    }
    this.#use(tunnel, number);
    for (const session of [...(this.#waiting[number] as Set<number>)]) this.#call(tunnel, session);
  }

  #onClosed(tunnel: Tunnel, cause: SessionCause): void {
    const number = this.#numbers.get(tunnel);
    this.#numbers.delete(tunnel);
    if (number !== undefined) this.#inUse[number] = undefined;
    this.calls.dropTunnel(tunnel, cause);
    if (number === undefined) return;
    for (const session of [...(this.#waiting[number] as Set<number>)]) this.#end(session, cause);
  }

  #call(tunnel: Tunnel, session: number): void {
    const { subscribers } = this.#host;
    this.#waiting[this.#numberOf(session)]?.delete(session);
    this.#phase[session] = phase.call;
    subscribers.onStep(session, 'L2TP call');
    subscribers.timers.set(session, timerKind.link, this.#setupMs);
    if (!this.calls.begin(tunnel, session)) this.#end(session, 'L2TP: call refused');
  }

  #linkAvps(session: number): readonly Avp[] {
    const { proxyAuth, ppp } = this.#options;
    const { magicNumber } = ppp.lcp;
    const { offer } = ppp.auth;
    const mru = this.mtu;
    const credentials = ppp.auth.credentials(session);
    const { random } = this.#host;
    const exchange = proxyAuth ? negotiateAsProxy({ mru, magicNumber, offer, credentials, random }) : undefined;
    if (exchange !== undefined) this.#adopted.set(session, exchange.link);
    return exchange?.avps ?? [];
  }

  #onUp(session: number): void {
    this.#phase[session] = phase.session;
    this.#host.subscribers.timers.clear(session, timerKind.link);
    const link = this.#adopted.get(session);
    this.#adopted.delete(session);
    if (link === undefined) this.ppp.open(session);
    else this.ppp.adopt(session, link);
  }

  #onPacket(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    this.#host.subscribers.table.countReceived(session, end - start);
    const ip = this.#ip;
    if (protocol === pppProtocol.ipv4 && ip.parse(memory, start, end, true)) {
      const isFromPeer = ip.source === this.ppp.ipv4.peer[session];
      if (isFromPeer && icmpTypeOf(memory, ip) === icmp4Type.echoReply) this.counters.echoReceived++;
      if (ip.destination >>> 28 === 0xe) this.#host.onMulticast?.(session, 0, memory, ip);
    }
    this.#host.onPacket?.(session, memory, start, end);
  }

  #end(session: number, cause: SessionCause): void {
    const result = cause === 'stopped' || cause === 'hold time over' ? callResult.administrative : callResult.lost;
    this.calls.end(session, { result });
    const unused = this.#forget(session);
    this.#host.subscribers.onDown(session, cause);
    if (unused !== undefined && this.#isUnused(unused)) unused.close({ result: stopResult.clear, cause: 'stopped' });
  }

  /** Forgets a session; returns its tunnel if no other session needs it. */
  #forget(session: number): Tunnel | undefined {
    this.ppp.reset(session);
    this.calls.drop(session);
    this.#phase[session] = phase.idle;
    this.#adopted.delete(session);
    const number = this.#numberOf(session);
    this.#waiting[number]?.delete(session);
    const tunnel = this.#inUse[number];
    return tunnel !== undefined && this.#isUnused(tunnel) ? tunnel : undefined;
  }

  #isUnused(tunnel: Tunnel): boolean {
    const number = this.#numbers.get(tunnel);
    return number !== undefined && this.calls.countIn(tunnel) === 0 && this.#waiting[number]?.size === 0;
  }
}
