import type { IpsecSettings } from '@rushhour/protocol';
import { type IkeCause, IkeEndpoint, type IkeEvents, type IkePeer, type IkeRoute, type IkeSa } from '@rushhour/wire';
import type { HostNetwork } from '../../net/host-network.ts';
import { IkeUdp } from '../../net/ipsec/ike-udp.ts';
import { addressRequest, createPeer, numberedPeer, selectorsOf } from '../../net/ipsec/ipsec-peer.ts';
import { nodeIpsecCrypto } from '../../net/ipsec/node-crypto.ts';
import type { Alarm } from '../../net/loop/alarm.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import type { createKeyReport } from '../../stack/ipsec/key-report.ts';
import type { LoadMeters } from './load-meters.ts';

const tickMs = 5;
/** Half-open SAs from which on initiators have to return a cookie. */
const cookieThreshold = 10_000;
/** Deletions that are sent at the end; the peers forget the other sessions by themselves. */
const maxDeletions = 10_000;

export interface LoadSessionsOptions {
  readonly settings: IpsecSettings;
  readonly network: HostNetwork;
  readonly meters: LoadMeters;
  /** Reports the keys of sessions; undefined: they stay secret. */
  readonly keys: ReturnType<typeof createKeyReport>;
  readonly onEstablished: (sa: IkeSa) => void;
  readonly onClosed: (sa: IkeSa, cause: IkeCause) => void;
  /** Responder: false where no further session is accepted. Absent: this side only initiates. */
  readonly accepts?: () => boolean;
  readonly onTick?: (nowMs: number) => void;
}

/** IKE sessions of emulated hosts without packets inside. Those that are up are in a list that changes its order. */
export class LoadSessions {
  readonly endpoint: IkeEndpoint;
  readonly established: IkeSa[] = [];
  readonly #options: LoadSessionsOptions;
  readonly #udp: IkeUdp;
  readonly #peer: IkePeer;
  /** By IP version: sessions share them where the selectors do not depend on the ends. */
  readonly #shared = new Map<4 | 6, IkePeer>();
  readonly #indexOf = new Map<IkeSa, number>();
  readonly #alarm: Alarm;
  #opened = 0;
  #isClosed = false;

  constructor(options: LoadSessionsOptions) {
    this.#options = options;
    const { settings, network, accepts } = options;
    this.#peer = createPeer(settings, accepts === undefined);
    this.#udp = new IkeUdp(network.layers.group.udp, {
      onMessage: (route, message) => {
        this.now();
        this.endpoint.receive(route, message);
      },
      onEsp: () => {},
    });
    this.endpoint = new IkeEndpoint({
      crypto: nodeIpsecCrypto,
      nowMs: performance.now(),
      send: (route, message) => this.#udp.send(route, message),
      sendKeepalive: (route) => this.#udp.sendKeepalive(route),
      findPeer: (route) => (accepts?.() ? this.#peerFor(route, false) : undefined),
      cookieThreshold,
      events: this.#events(),
    });
    this.#alarm = kernelEventLoop.createAlarm(() => this.#tick());
  }

  start(): void {
    this.#tick();
  }

  /** Sets the clock of the endpoint, which only grows. */
  now(): number {
    const { endpoint } = this;
    endpoint.nowMs = Math.max(endpoint.nowMs, performance.now());
    return endpoint.nowMs;
  }

  open(route: IkeRoute, context: unknown): IkeSa {
    this.now();
    const peer = numberedPeer(this.#peerFor(route, true), this.#options.settings, this.#opened++);
    const sa = this.endpoint.open(peer, route, context);
    this.#options.network.layers.scheduleFlush();
    return sa;
  }

  /** Sends a dead-peer check, unless a request is under way. */
  check(sa: IkeSa): boolean {
    if (sa.isBusy || sa.state !== 'established') return false;
    sa.addTask({ kind: 'check' });
    this.endpoint.run(sa);
    return true;
  }

  /** Handshakes under way have timed out: nothing waits for them any more. */
  giveUp(): void {
    const opening = [...this.endpoint.sas()].filter((sa) => sa.isHalfOpen && sa.context !== undefined);
    for (const sa of opening) sa.close('timeout');
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#alarm.cancel();
    for (const [index, sa] of [...this.endpoint.sas()].entries()) this.endpoint.close(sa, index >= maxDeletions);
    this.#options.network.layers.scheduleFlush();
    this.#udp.close();
  }

  #peerFor(route: IkeRoute, isInitiator: boolean): IkePeer {
    const version = route.localAddress.length === 4 ? 4 : 6;
    if (this.#options.settings.mode === 'transport') return this.#newPeer(route, version, isInitiator);
    const peer = this.#shared.get(version) ?? this.#newPeer(route, version, isInitiator);
    this.#shared.set(version, peer);
    return peer;
  }

  #newPeer({ localAddress, remoteAddress }: IkeRoute, version: 4 | 6, isInitiator: boolean): IkePeer {
    const ends = { index: 0, local: localAddress, remote: remoteAddress, isInitiator, version } as const;
    const child = selectorsOf(this.#options.settings, ends);
    const request = isInitiator ? addressRequest(this.#options.settings, version) : {};
    return { ...this.#peer, ...request, children: [child] };
  }

  #events(): Partial<IkeEvents> {
    const { meters, keys } = this.#options;
    return {
      onKeys: (sa, derived) => keys?.ike(sa, derived),
      onChildUp: (sa, child) => keys?.esp(child, sa.route.localAddress.length === 4 ? 4 : 6),
      onEstablished: (sa) => {
        this.#add(sa);
        this.#options.onEstablished(sa);
      },
      onClosed: (sa, cause) => {
        this.#remove(sa);
        if (!this.#isClosed && !sa.isReplaced && cause !== 'replaced') this.#options.onClosed(sa, cause);
      },
      onReplaced: (sa, by) => {
        by.context = sa.context;
        this.#remove(sa);
        this.#add(by);
      },
      onChildDown: (_, { inbound }) => this.endpoint.releaseSpi(inbound.spi),
      onExchange: (_sa, _exchange, durationMs) => meters.exchange.record(durationMs * 1000),
      onRetransmit: () => meters.retransmits.add(1),
      onCookie: () => meters.cookies.add(1),
    };
  }

  #add(sa: IkeSa): void {
    this.#indexOf.set(sa, this.established.length);
    this.established.push(sa);
  }

  #remove(sa: IkeSa): void {
    const index = this.#indexOf.get(sa);
    const last = this.established.at(-1);
    if (index === undefined || last === undefined) return;
    this.#indexOf.delete(sa);
    this.established.pop();
    if (last === sa) return;
    this.established[index] = last;
    this.#indexOf.set(last, index);
  }

  #tick(): void {
    if (this.#isClosed) return;
    const now = this.now();
    this.endpoint.advance(now);
    this.#options.onTick?.(now);
    this.#options.network.layers.scheduleFlush();
    this.#alarm.set(now + tickMs);
  }
}
