import type { Memory } from '../../bytes/memory.ts';
import type { SessionCause } from '../causes.ts';
import type { LineDirectory } from '../lines.ts';
import type { SessionStep } from '../session-table.ts';
import { type SessionTimers, type TimerKind, timerKind } from '../timers.ts';
import { Authentication, type AuthenticationOptions, type AuthQuestion } from './authentication.ts';
import { ControlProtocol } from './control-protocol.ts';
import { type AdoptedLcp, type AuthMethod, type AuthOffer, authMethod, Lcp } from './lcp.ts';
import { Ip6cp, Ipcp, type NetworkEvents } from './network-control.ts';
import { type PppLink, pppCode, pppProtocol } from './packet.ts';
import { SessionIpv6, type SessionIpv6Options } from './session-ipv6.ts';

export interface PppOptions {
  readonly isServer: boolean;
  readonly capacity: number;
  readonly lcp: {
    readonly mru: number;
    readonly timeoutMs: number;
    readonly retries: number;
    readonly magicNumber: boolean;
    /** Time between echoes; 0: none. */
    readonly echoMs: number;
    readonly echoRetries: number;
    readonly vendorExtensions: boolean;
  };
  readonly auth: Omit<AuthenticationOptions, 'isServer'> & { readonly offer: AuthOffer };
  readonly ipcp: {
    readonly enabled: boolean;
    readonly address: number;
    readonly requestDns: boolean;
    readonly dns?: readonly [number, number];
  };
  readonly ip6cp: { readonly enabled: boolean } & Omit<SessionIpv6Options, 'capacity' | 'isServer'>;
}

export interface PppHost {
  readonly link: PppLink;
  readonly timers: SessionTimers;
  readonly random: () => number;
  /** Writes the interface identifier of IPv6 of a session into two words. */
  interfaceId(session: number): readonly [number, number];
  /** MACs of subscribers. */
  readonly lines?: LineDirectory | undefined;
  /** The server has sent a packet of its own in a session. */
  onSent?(session: number, bytes: number): void;
  /** Server: an address for the session; 0: the pool is exhausted. */
  takeAddress?(session: number): number;
  onStep(session: number, step: SessionStep): void;
  /** Every protocol of the network layer that both ends want is open. */
  onUp(session: number): void;
  /** LCP is closed; nothing of the session is left. */
  onDown(session: number, cause: SessionCause): void;
  onPacket?(session: number, protocol: number, memory: Memory, start: number, end: number): void;
}

/** A link that another machine has set up, with what the client has answered it. */
export interface AdoptedLink extends AdoptedLcp {
  /** Undefined: the client has not been asked. */
  readonly question: AuthQuestion | undefined;
}

/** Network protocols of a session: bits. */
const network = { ipv4: 1, ipv6: 2 } as const;

/** PPP of all sessions of a port: LCP, authentication, IPCP and IP6CP, as client and as server. */
export class Ppp {
  readonly lcp: ControlProtocol;
  readonly ipcp: ControlProtocol;
  readonly ip6cp: ControlProtocol;
  readonly auth: Authentication;
  readonly link: Lcp;
  readonly ipv4: Ipcp;
  readonly ipv6: Ip6cp;
  readonly sessionIpv6: SessionIpv6;
  /** The network protocols of a session are open, for the first time or again. */
  onNetworks: ((session: number) => void) | undefined;
  readonly counters = { echoSent: 0, echoTimeouts: 0, renegotiations: 0, unknownProtocols: 0 };
  readonly #options: PppOptions;
  readonly #host: PppHost;
  readonly #pending: Uint8Array;
  readonly #open: Uint8Array;
  readonly #unanswered: Uint8Array;
  readonly #cause: (SessionCause | undefined)[] = [];
  /** What the client of the link that is being adopted has answered. */
  #question: AuthQuestion | undefined;

  constructor(host: PppHost, options: PppOptions) {
    const { isServer, capacity, lcp, auth, ipcp } = options;
    this.#options = options;
    this.#host = host;
    this.#pending = new Uint8Array(capacity);
    this.#open = new Uint8Array(capacity);
    this.#unanswered = new Uint8Array(capacity);
    const { random } = host;
    this.link = new Lcp(
      { ...lcp, isServer, capacity, offer: auth.offer },
      {
        random,
        reply: (session, code, id, body) => this.lcp.sendPacket(session, code, id, body),
        onOpened: (session) => this.#onLinkOpened(session),
        onReopened: (session) => this.#onRenegotiation(session),
        onClosed: (session, isPeer) => this.#onLinkClosed(session, isPeer),
        onFailed: (session, reason) => this.#onLinkFailed(session, reason),
        onLooped: (session) => this.close(session, 'PPP: loop detected'),
        onEchoReply: (session) => {
          this.#unanswered[session] = 0;
        },
        onProtocolRejected: (session, protocol) => this.#onProtocolRejected(session, protocol),
        onNoMethod: (session) => this.close(session, 'authentication: method not accepted'),
      },
    );
    this.ipv4 = new Ipcp({ ...ipcp, capacity }, this.#networkEvents(network.ipv4));
    this.ipv6 = new Ip6cp(capacity, random, this.#networkEvents(network.ipv6));
    const common = { capacity, timeoutMs: lcp.timeoutMs, retries: lcp.retries };
    const create = (policy: Lcp | Ipcp | Ip6cp, protocol: number, timer: TimerKind) =>
      new ControlProtocol(host.link, host.timers, policy, { ...common, protocol, timer });
    this.lcp = create(this.link, pppProtocol.lcp, timerKind.link);
    this.ipcp = create(this.ipv4, pppProtocol.ipcp, timerKind.ipv4);
    this.ip6cp = create(this.ipv6, pppProtocol.ip6cp, timerKind.ipv6);
    this.auth = this.#createAuthentication();
    const { link, timers, lines } = host;
    this.sessionIpv6 = new SessionIpv6(
      {
        ...{ link, timers, random, lines, ipv6: this.ipv6 },
        onReady: (session) => this.#onReady(session),
        onFailed: (session, cause) => this.close(session, cause),
        onSent: (session, bytes) => host.onSent?.(session, bytes),
      },
      { ...options.ip6cp, capacity, isServer },
    );
  }

  open(session: number): void {
    this.reset(session);
    this.link.begin(session);
    this.#host.onStep(session, 'LCP');
    this.lcp.open(session);
  }

  /** Goes on with a link that another machine has set up. */
  adopt(session: number, link: AdoptedLink): void {
    this.reset(session);
    this.link.adopt(session, link);
    this.#question = link.question;
    this.lcp.adopt(session);
    this.#question = undefined;
  }

  /** Ends a session in order, with the cause it is reported with. */
  close(session: number, cause: SessionCause): void {
    this.#cause[session] = cause;
    if (this.ip6cp.isOpen(session)) this.sessionIpv6.end(session);
    this.#closeNetworks(session);
    this.auth.reset(session);
    this.#host.timers.clear(session, timerKind.keepAlive);
    this.lcp.close(session);
  }

  /** Why a session is being ended; undefined: it is not. */
  causeOf(session: number): SessionCause | undefined {
    return this.#cause[session];
  }

  /** Forgets a session whose link is gone. */
  reset(session: number): void {
    this.#closeNetworks(session);
    this.auth.reset(session);
    this.lcp.reset(session);
    this.#host.timers.clear(session, timerKind.keepAlive);
    this.#cause[session] = undefined;
  }

  onTimer(session: number, kind: TimerKind): void {
    if (kind === timerKind.ipv4) this.ipcp.onTimer(session);
    else if (kind === timerKind.ipv6 && this.sessionIpv6.isActive(session)) this.sessionIpv6.onTimer(session);
    else if (kind === timerKind.ipv6) this.ip6cp.onTimer(session);
    else if (kind === timerKind.keepAlive) this.#onEchoTimer(session);
    else if (this.auth.isActive(session)) this.auth.onTimer(session);
    else this.lcp.onTimer(session);
  }

  /** A packet of a session, without its protocol number. */
  receive(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    if (protocol === pppProtocol.lcp) {
      this.lcp.receive(session, memory, start, end);
      return;
    }
    if (!this.lcp.isOpen(session)) return;
    switch (protocol) {
      case pppProtocol.pap:
      case pppProtocol.chap:
        this.auth.receive(session, protocol, memory, start, end);
        break;
      case pppProtocol.ipcp:
        this.#receiveNetwork(session, this.#options.ipcp.enabled ? this.ipcp : undefined, protocol, memory, start, end);
        break;
      case pppProtocol.ip6cp:
        this.#receiveNetwork(
          session,
          this.#options.ip6cp.enabled ? this.ip6cp : undefined,
          protocol,
          memory,
          start,
          end,
        );
        break;
      case pppProtocol.ipv6:
        if (!this.ip6cp.isOpen(session) || !this.sessionIpv6.receive(session, memory, start, end))
          this.#host.onPacket?.(session, protocol, memory, start, end);
        break;
      case pppProtocol.ipv4:
        this.#host.onPacket?.(session, protocol, memory, start, end);
        break;
      default:
        this.counters.unknownProtocols++;
        this.#rejectProtocol(session, protocol, memory, start, end);
    }
  }

  #createAuthentication(): Authentication {
    const { link, timers, random } = this.#host;
    const { auth, isServer } = this.#options;
    return new Authentication(
      {
        link,
        timers,
        random,
        onAuthenticated: (session) => this.#openNetworks(session),
        onFailed: (session, cause) => this.close(session, cause),
      },
      { ...auth, isServer },
    );
  }

  #networkEvents(bit: number): NetworkEvents {
    const name = bit === network.ipv4 ? 'IPCP' : 'IP6CP';
    return {
      onOpened: (session) => this.#onNetwork(session, bit, true),
      onReopened: (session) => {
        if (bit === network.ipv6) this.sessionIpv6.reset(session);
        this.#open[session] = (this.#open[session] as number) & ~bit;
        this.#pending[session] = (this.#pending[session] as number) | bit;
      },
      onClosed: (session) => this.#onNetworkGone(session, bit, `${name}: refused`),
      onFailed: (session, reason) =>
        this.#onNetworkGone(session, bit, reason === 'timeout' ? `${name}: no answer` : `${name}: refused`),
    };
  }

  #onLinkOpened(session: number): void {
    const { lcp } = this.#options;
    this.#unanswered[session] = 0;
    // Both ends are this one: it has agreed with itself to do without the magic number.
    if (this.link.isLooped(session)) {
      this.close(session, 'PPP: loop detected');
      return;
    }
    if (lcp.echoMs > 0) this.#host.timers.set(session, timerKind.keepAlive, lcp.echoMs);
    const method = this.link.method[session] as AuthMethod;
    if (method === authMethod.none) this.#openNetworks(session);
    else {
      this.#host.onStep(session, 'authentication');
      if (this.#question === undefined) this.auth.begin(session, method);
      else this.auth.resume(session, this.#question);
    }
  }

  #onRenegotiation(session: number): void {
    this.counters.renegotiations++;
    this.#closeNetworks(session);
    this.auth.reset(session);
    this.#host.timers.clear(session, timerKind.keepAlive);
  }

  #openNetworks(session: number): void {
    const { ipcp, ip6cp } = this.#options;
    const { takeAddress } = this.#host;
    this.#host.onStep(session, 'IPCP and IP6CP');
    this.#pending[session] = (ipcp.enabled ? network.ipv4 : 0) | (ip6cp.enabled ? network.ipv6 : 0);
    this.#open[session] = 0;
    if (this.#pending[session] === 0) this.#onReady(session);
    if (ipcp.enabled) {
      const peer = takeAddress?.(session) ?? 0;
      if (takeAddress !== undefined && peer === 0) {
        this.close(session, 'pool exhausted');
        return;
      }
      this.ipv4.begin(session, peer);
      this.ipcp.open(session);
    }
    if (!ip6cp.enabled) return;
    this.ipv6.begin(session, ...this.#host.interfaceId(session));
    this.ip6cp.open(session);
  }

  #closeNetworks(session: number): void {
    this.#pending[session] = 0;
    this.#open[session] = 0;
    this.sessionIpv6.reset(session);
    this.ipcp.reset(session);
    this.ip6cp.reset(session);
  }

  #onNetwork(session: number, bit: number, isOpen: boolean): void {
    const pending = (this.#pending[session] as number) & ~bit;
    this.#pending[session] = pending;
    if (isOpen) this.auth.settle(session);
    if (isOpen) this.#open[session] = (this.#open[session] as number) | bit;
    if (pending === 0 && this.#open[session] !== 0) this.#onNetworksOpen(session);
  }

  #onNetworksOpen(session: number): void {
    this.onNetworks?.(session);
    if (!this.ip6cp.isOpen(session) || !this.sessionIpv6.begin(session)) this.#onReady(session);
    else this.#host.onStep(session, 'IPv6');
  }

  #onReady(session: number): void {
    for (const control of [this.lcp, this.ipcp, this.ip6cp]) control.settle(session);
    this.#host.onUp(session);
  }

  /** A session lives on with one protocol of two, and not with none. */
  #onNetworkGone(session: number, bit: number, cause: SessionCause): void {
    (bit === network.ipv4 ? this.ipcp : this.ip6cp).reset(session);
    this.#open[session] = (this.#open[session] as number) & ~bit;
    const left = ((this.#pending[session] as number) & ~bit) | (this.#open[session] as number);
    if (left === 0) this.close(session, cause);
    else this.#onNetwork(session, bit, false);
  }

  #onProtocolRejected(session: number, protocol: number): void {
    if (protocol === pppProtocol.ipcp) this.#onNetworkGone(session, network.ipv4, 'IPCP: refused');
    else if (protocol === pppProtocol.ip6cp) this.#onNetworkGone(session, network.ipv6, 'IP6CP: refused');
  }

  #receiveNetwork(
    session: number,
    control: ControlProtocol | undefined,
    protocol: number,
    memory: Memory,
    start: number,
    end: number,
  ): void {
    if (control === undefined) this.#rejectProtocol(session, protocol, memory, start, end);
    else if (!this.auth.isActive(session)) control.receive(session, memory, start, end);
  }

  #rejectProtocol(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    const body = new Uint8Array(Math.min(end - start, 500) + 2);
    body[0] = protocol >>> 8;
    body[1] = protocol & 255;
    body.set(memory.bytes.subarray(start, start + body.length - 2), 2);
    this.lcp.sendPacket(session, pppCode.protocolReject, this.lcp.nextId(), body);
  }

  #onEchoTimer(session: number): void {
    const { echoMs, echoRetries } = this.#options.lcp;
    const unanswered = this.#unanswered[session] as number;
    if (unanswered > 0) this.counters.echoTimeouts++;
    if (unanswered >= echoRetries) {
      this.#end(session, 'LCP: echo without answer');
      return;
    }
    this.#unanswered[session] = unanswered + 1;
    this.counters.echoSent++;
    this.lcp.sendPacket(session, pppCode.echoRequest, this.lcp.nextId(), this.link.echo(session));
    this.#host.timers.set(session, timerKind.keepAlive, echoMs);
  }

  #onLinkFailed(session: number, reason: 'timeout' | 'options'): void {
    if (this.link.isLooped(session)) this.#end(session, 'PPP: loop detected');
    else if (this.link.isMethodRefused(session)) this.#end(session, 'authentication: method not accepted');
    else this.#end(session, reason === 'timeout' ? 'LCP: no answer' : 'LCP: options not agreed');
  }

  #onLinkClosed(session: number, isPeer: boolean): void {
    if (!isPeer) this.#end(session, 'stopped');
    else if (this.link.isMethodRefused(session)) this.#end(session, 'authentication: method not accepted');
    else this.#end(session, 'LCP: ended by the peer');
  }

  #end(session: number, fallback: SessionCause): void {
    const cause = this.#cause[session] ?? fallback;
    this.reset(session);
    this.#host.onDown(session, cause);
  }
}
