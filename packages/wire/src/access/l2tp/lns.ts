import type { Memory } from '../../bytes/memory.ts';
import { icmp4Type } from '../../icmp/icmp.ts';
import { Ipv4Header, ipv4Bytes } from '../../ip/ipv4.ts';
import { NumberPool } from '../address-pool.ts';
import type { SessionCause } from '../causes.ts';
import { icmpTypeOf, writeEchoReply } from '../echo.ts';
import { ipProtocolOf, pppProtocol } from '../ppp/packet.ts';
import { Ppp, type PppOptions } from '../ppp/ppp.ts';
import type { RadiusClient } from '../radius/client.ts';
import { RadiusSessions, type RadiusSessionsOptions } from '../radius/sessions.ts';
import { SessionTable, sessionState } from '../session-table.ts';
import { SetupPace } from '../setup-pace.ts';
import { type AddressRange, SubscriberAddresses } from '../subscriber-addresses.ts';
import { SessionTimers, type TimerKind, timerKind } from '../timers.ts';
import type { AvpMap } from './avp.ts';
import { Calls, type CallsOptions } from './calls.ts';
import { callResult } from './control-message.ts';
import { readProxy } from './proxy.ts';
import { cycleMs } from './reliable-channel.ts';
import { SessionLink } from './session-link.ts';
import type { L2tpPeer } from './tunnel.ts';
import { type L2tpLink, Tunnels, type TunnelsOptions } from './tunnels.ts';

export interface L2tpLnsOptions extends Omit<CallsOptions, 'isLns' | 'connectBps'> {
  readonly tunnel: TunnelsOptions;
  /** The LAC that is called, and that may call; undefined: any LAC may call. */
  readonly peer: L2tpPeer | undefined;
  /** Goes on with what the LAC has negotiated. */
  readonly proxyAuth: boolean;
  readonly maxSessions: number;
  /** Sessions that are accepted a second; 0: no limit. */
  readonly setupPerSec?: number;
  /** The first is for those without a pool of their own. */
  readonly pools: readonly AddressRange[];
  /** A RADIUS server decides who comes in. */
  readonly radius?: Omit<RadiusSessionsOptions, 'isPpp'> | undefined;
  readonly ppp: Omit<PppOptions, 'isServer' | 'capacity'>;
}

export interface L2tpLnsHost {
  readonly link: L2tpLink;
  readonly random: () => number;
  readonly radius?: RadiusClient | undefined;
  readonly onEstablished?: ((session: number, setupMs: number) => void) | undefined;
  readonly onEnded?: ((session: number, cause: SessionCause, wasUp: boolean) => void) | undefined;
  /** An IP packet of a session that is not for the server itself. */
  onPacket?(memory: Memory, start: number, end: number): void;
}

/** A LAC without a tunnel is called this often. */
const callAgainMs = 5000;

/** A network server of L2TP (RFC 2661): tunnels, calls, and the server side of PPP. */
export class L2tpLns {
  readonly ppp: Ppp;
  readonly tunnels: Tunnels;
  readonly calls: Calls;
  readonly table: SessionTable;
  readonly timers: SessionTimers;
  readonly counters = { refused: 0, echoAnswered: 0, proxied: 0 };
  readonly #host: L2tpLnsHost;
  readonly #options: L2tpLnsOptions;
  readonly #link: SessionLink;
  readonly #sessions: NumberPool;
  readonly #addresses: SubscriberAddresses;
  readonly #radius: RadiusSessions | undefined;
  readonly #pace: SetupPace;
  readonly #ip = new Ipv4Header();
  #callsAtMs = Number.POSITIVE_INFINITY;

  constructor(host: L2tpLnsHost, options: L2tpLnsOptions) {
    const capacity = options.maxSessions;
    this.#host = host;
    this.#options = options;
    this.table = new SessionTable(capacity);
    this.timers = new SessionTimers(capacity);
    this.#sessions = new NumberPool(capacity);
    this.#addresses = new SubscriberAddresses(options.pools);
    this.#pace = new SetupPace(options.setupPerSec ?? 0);
    this.#radius = this.#createRadius();
    this.calls = this.#createCalls();
    this.tunnels = this.#createTunnels();
    this.#link = new SessionLink(host.link, this.calls);
    this.ppp = this.#createPpp(capacity);
  }

  /** Sessions that exist, in setup or up. */
  get count(): number {
    return this.#sessions.used;
  }

  /** Calls the LAC, if it is not the LAC that calls. */
  start(): void {
    if (this.#options.peer !== undefined) this.#callsAtMs = 0;
  }

  advance(nowMs: number): void {
    const { peer } = this.#options;
    this.tunnels.advance(nowMs);
    this.#radius?.advance(nowMs);
    this.ppp.sessionIpv6.advance(nowMs);
    this.timers.advance(nowMs, (session, kind) => this.#onTimer(session, kind));
    if (peer === undefined || nowMs < this.#callsAtMs) return;
    this.#callsAtMs = nowMs + callAgainMs;
    if (!this.#hasTunnelTo(peer)) this.tunnels.open(peer);
  }

  /** The payload [start, end) of a datagram from a peer. */
  receive(peer: L2tpPeer, memory: Memory, start: number, end: number): void {
    this.tunnels.receive(peer, memory, start, end);
  }

  /** Ends all tunnels in order, and the sessions with them. */
  closeAll(): void {
    this.#callsAtMs = Number.POSITIVE_INFINITY;
    this.tunnels.closeAll('stopped');
  }

  /** Ends everything without a word. */
  dropAll(cause: SessionCause): void {
    this.tunnels.dropAll(cause);
  }

  /** The established session of the subscriber with an address, or -1. */
  sessionOf(address: number): number {
    const session = this.#addresses.ownerOf(address);
    return session >= 0 && this.table.state[session] === sessionState.up ? session : -1;
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
    this.table.countSent(session, end - at);
    this.#link.send(session, at, end, ipProtocolOf(this.#link.memory, at));
  }

  #hasTunnelTo({ address }: L2tpPeer): boolean {
    for (const { isLive, peer } of this.tunnels.tunnels) if (isLive && peer.address === address) return true;
    return false;
  }

  #createTunnels(): Tunnels {
    const { link, random } = this.#host;
    const { tunnel, peer } = this.#options;
    return new Tunnels(
      link,
      random,
      {
        accepts: ({ address }) => (peer?.address ?? address) === address,
        onOpen: () => {},
        onClosed: (gone, cause) => this.calls.dropTunnel(gone, cause),
        onCall: (from, message) => this.calls.receive(from, message),
        onData: (from, header, memory) => this.calls.receiveData(from, header, memory),
      },
      tunnel,
    );
  }

  #createCalls(): Calls {
    return new Calls(
      {
        take: () => this.#take(),
        onUp: (session, avps) => this.#onConnected(session, avps),
        onDown: (session, cause) => this.#end(session, this.ppp.causeOf(session) ?? cause),
        onFrame: (session, protocol, memory, start, end) => this.ppp.receive(session, protocol, memory, start, end),
      },
      { ...this.#options, isLns: true, connectBps: 0 },
    );
  }

  #createPpp(capacity: number): Ppp {
    const { random } = this.#host;
    const { ppp } = this.#options;
    const radius = this.#radius;
    return new Ppp(
      {
        link: this.#link,
        timers: this.timers,
        random,
        interfaceId: (session) => [0, session + 1],
        takeAddress: (session) => this.#addresses.take(session, radius?.grantOf(session)),
        onStep: (session, step) => void this.table.enterStep(session, step, this.timers.nowMs),
        onSent: (session, bytes) => this.table.countSent(session, bytes),
        onUp: (session) => this.#onUp(session),
        onDown: (session, cause) => this.#end(session, cause),
        onPacket: (session, protocol, memory, start, end) => this.#onPacket(session, protocol, memory, start, end),
      },
      {
        ...ppp,
        lcp: { ...ppp.lcp, mru: this.mtu },
        auth: { ...ppp.auth, ask: radius ? (...question) => radius.ask(...question) : ppp.auth.ask },
        isServer: true,
        capacity,
      },
    );
  }

  #createRadius(): RadiusSessions | undefined {
    const { radius: client, random } = this.#host;
    const { radius } = this.#options;
    if (client === undefined || radius === undefined) return undefined;
    const { table } = this;
    const lineOf = () => ({ mac: undefined, tags: 0 });
    return new RadiusSessions(
      { client, random, lineOf, usageOf: (session) => table.usageOf(session) },
      { ...radius, isPpp: true },
    );
  }

  #onTimer(session: number, kind: TimerKind): void {
    if (kind === timerKind.life && this.table.state[session] === sessionState.up)
      this.ppp.close(session, 'RADIUS: session time over');
    else if (kind === timerKind.life) this.#end(session, 'L2TP: no call', callResult.tooLate);
    else this.ppp.onTimer(session, kind);
  }

  /** A session for a call, or -1. */
  #take(): number {
    const { nowMs } = this.timers;
    const session = this.#pace.hasRoom(nowMs) ? this.#sessions.take() : -1;
    if (session < 0) {
      this.counters.refused++;
      return -1;
    }
    this.#pace.take();
    this.table.begin(session, nowMs);
    this.table.enterStep(session, 'L2TP call', nowMs);
    // The LAC must connect the call within the time that its messages are sent again.
    this.timers.set(session, timerKind.life, cycleMs(this.#options.tunnel));
    return session;
  }

  #onConnected(session: number, avps: AvpMap): void {
    const { proxyAuth, ppp } = this.#options;
    this.timers.clear(session, timerKind.life);
    const link = proxyAuth ? readProxy(avps, ppp.auth.offer) : undefined;
    if (link === undefined) this.ppp.open(session);
    else {
      this.counters.proxied++;
      this.ppp.adopt(session, link);
    }
  }

  #onUp(session: number): void {
    this.table.enterStep(session, 'none', this.timers.nowMs);
    if (this.table.state[session] !== sessionState.setup) return;
    const setupMs = this.table.establish(session, this.timers.nowMs);
    const { sessionMs = 0 } = this.#radius?.grantOf(session) ?? {};
    if (sessionMs > 0) this.timers.set(session, timerKind.life, sessionMs);
    this.#radius?.start(session, this.#addresses.addressOf(session));
    this.#host.onEstablished?.(session, setupMs);
  }

  #onPacket(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    this.table.countReceived(session, end - start);
    const ip = this.#ip;
    const isForServer =
      protocol === pppProtocol.ipv4 &&
      ip.parse(memory, start, end, true) &&
      ip.destination === this.ppp.ipv4.address[session];
    if (isForServer && icmpTypeOf(memory, ip) === icmp4Type.echo) this.#answerEcho(session, memory);
    else this.#host.onPacket?.(memory, start, end);
  }

  #answerEcho(session: number, memory: Memory): void {
    const ip = this.#ip;
    const at = this.begin(session, ipv4Bytes + ip.end - ip.payload);
    if (at < 0) return;
    const end = writeEchoReply(this.#link, at, memory, ip);
    this.counters.echoAnswered++;
    this.sendPacket(session, at, end);
  }

  #end(session: number, cause: SessionCause, result: number = callResult.administrative): void {
    this.calls.end(session, { result });
    const wasUp = this.table.state[session] === sessionState.up;
    this.ppp.reset(session);
    this.timers.clearAll(session);
    this.#radius?.end(session, cause);
    this.#addresses.release(session);
    this.table.enterStep(session, 'none', this.timers.nowMs);
    this.table.setCause(session, cause);
    this.table.setState(session, sessionState.idle, this.timers.nowMs);
    this.#sessions.release(session);
    this.#host.onEnded?.(session, cause, wasUp);
  }
}
