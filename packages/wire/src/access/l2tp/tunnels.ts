import type { Memory } from '../../bytes/memory.ts';
import { NumberPool } from '../address-pool.ts';
import type { SessionCause } from '../causes.ts';
import { SessionTimers } from '../timers.ts';
import { avpType, halfOf } from './avp.ts';
import { type ControlMessage, messageType, readControl, stopResult } from './control-message.ts';
import { controlHeaderBytes, L2tpHeader, writeControlHeader } from './header.ts';
import { type L2tpPeer, Tunnel, type TunnelHost, type TunnelOptions, tunnelState } from './tunnel.ts';

export const l2tpPort = 1701;
const maxTunnelIds = 65_535;

/** Sends the payloads of UDP datagrams from port 1701. */
export interface L2tpLink {
  /** Memory of the datagram begun last. */
  readonly memory: Memory;
  /** Largest IP packet outside the tunnels. */
  readonly mtu: number;
  /** Where a payload of up to `length` bytes is written, or -1. `path`: the session in whose name it is sent. */
  begin(path: number, length: number): number;
  /** Sends the payload [at, end). */
  send(peer: L2tpPeer, at: number, end: number, route: { readonly path: number; readonly tos: number }): void;
}

export interface TunnelsOptions extends Omit<TunnelOptions, 'hostName'> {
  /** Name of the tunnel with a number. */
  readonly hostName: (number: number) => Uint8Array;
  /** Tunnels at once. */
  readonly maxTunnels: number;
  /** Type of service of control messages. */
  readonly tosOfControl: number;
}

export interface TunnelEvents {
  /** Whether a peer may open a tunnel now. */
  accepts(peer: L2tpPeer): boolean;
  onOpen(tunnel: Tunnel): void;
  onClosed(tunnel: Tunnel, cause: SessionCause): void;
  onCall(tunnel: Tunnel, message: ControlMessage): void;
  onData(tunnel: Tunnel, header: L2tpHeader, memory: Memory): void;
}

/** All tunnels of one end: which message belongs to which, and their timers. */
export class Tunnels {
  readonly counters = { sent: 0, received: 0, invalid: 0, unknown: 0, refused: 0 };
  readonly #link: L2tpLink;
  readonly #options: TunnelsOptions;
  readonly #events: TunnelEvents;
  readonly #host: TunnelHost;
  readonly #timers: SessionTimers;
  readonly #slots: NumberPool;
  readonly #ids = new NumberPool(maxTunnelIds);
  readonly #bySlot = new Map<number, Tunnel>();
  readonly #byId = new Map<number, Tunnel>();
  readonly #header = new L2tpHeader();

  constructor(link: L2tpLink, random: () => number, events: TunnelEvents, options: TunnelsOptions) {
    this.#link = link;
    this.#options = options;
    this.#events = events;
    this.#timers = new SessionTimers(options.maxTunnels);
    this.#slots = new NumberPool(options.maxTunnels);
    this.#host = {
      random,
      nowMs: () => this.#timers.nowMs,
      transmit: (tunnel, message, ns, nr) => this.#transmit(tunnel, message, ns, nr),
      setTimer: (tunnel, kind, delayMs) => this.#timers.set(tunnel.slot, kind, delayMs),
      clearTimer: (tunnel, kind) => this.#timers.clear(tunnel.slot, kind),
      onOpen: (tunnel) => events.onOpen(tunnel),
      onClosed: (tunnel, cause) => events.onClosed(tunnel, cause),
      onGone: (tunnel) => this.#remove(tunnel),
      onCall: (tunnel, message) => events.onCall(tunnel, message),
    };
  }

  /** Tunnels in any state. */
  get count(): number {
    return this.#byId.size;
  }

  /** The peers have acknowledged the ends of all tunnels. */
  get isQuiet(): boolean {
    for (const { isLive, state } of this.#byId.values()) if (isLive || state === tunnelState.closing) return false;
    return true;
  }

  get timerCount(): number {
    return this.#timers.count;
  }

  get tunnels(): Iterable<Tunnel> {
    return this.#byId.values();
  }

  /** Calls a peer; undefined while there are too many tunnels. */
  open(peer: L2tpPeer, number?: number): Tunnel | undefined {
    const tunnel = this.#create(peer, number);
    tunnel?.open();
    return tunnel;
  }

  closeAll(cause: SessionCause): void {
    for (const tunnel of [...this.#byId.values()]) tunnel.close({ result: stopResult.shutDown, cause });
  }

  dropAll(cause: SessionCause): void {
    for (const tunnel of [...this.#byId.values()]) tunnel.drop(cause);
  }

  advance(nowMs: number): void {
    this.#timers.advance(nowMs, (slot, kind) => this.#bySlot.get(slot)?.onTimer(kind));
  }

  /** The payload [start, end) of a datagram. */
  receive(peer: L2tpPeer, memory: Memory, start: number, end: number): void {
    const header = this.#header;
    if (!header.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    const tunnel = header.tunnelId === 0 ? this.#findUnnamed(peer, memory) : this.#byId.get(header.tunnelId);
    if (tunnel === undefined || tunnel.peer.address !== peer.address) {
      this.counters.unknown++;
      return;
    }
    this.counters.received++;
    if (header.isControl) tunnel.receive(memory, start, header, peer);
    else if (tunnel.isOpen) {
      tunnel.heard();
      this.#events.onData(tunnel, header, memory);
    }
  }

  /** The tunnel of a message of a peer that does not know our identifier: known by its own, or new. */
  #findUnnamed(peer: L2tpPeer, memory: Memory): Tunnel | undefined {
    const header = this.#header;
    if (!header.isControl || header.payload === header.end) return undefined;
    const message = readControl(memory, header, this.#options.secret);
    if (message === undefined) return undefined;
    const peerId = halfOf(message.avps, avpType.assignedTunnelId);
    for (const tunnel of this.#byId.values())
      if (tunnel.peerId === peerId && peerId !== 0 && tunnel.peer.address === peer.address) return tunnel;
    if (message.type !== messageType.sccrq || peerId === 0 || header.ns !== 0) return undefined;
    this.#breakTie(peer, message);
    if (this.#events.accepts(peer)) return this.#create(peer);
    this.counters.refused++;
    return undefined;
  }

  /** We name no tie breaker, so a peer that does wins over our own request (RFC 2661, 4.4.3). */
  #breakTie(peer: L2tpPeer, { avps }: ControlMessage): void {
    if (!avps.has(avpType.tieBreaker)) return;
    for (const tunnel of [...this.#byId.values()])
      if (tunnel.state === tunnelState.waitReply && tunnel.peer.address === peer.address)
        tunnel.drop('L2TP: no tunnel');
  }

  #create(peer: L2tpPeer, number?: number): Tunnel | undefined {
    if (this.#slots.used >= this.#slots.size) this.#evict();
    const slot = this.#slots.take();
    if (slot < 0) {
      this.counters.refused++;
      return undefined;
    }
    const localId = this.#ids.take() + 1;
    const options = { ...this.#options, hostName: this.#options.hostName(number ?? slot) };
    const tunnel = new Tunnel(this.#host, options, { slot, localId, peer });
    this.#bySlot.set(slot, tunnel);
    this.#byId.set(localId, tunnel);
    return tunnel;
  }

  /** Forgets a tunnel that is only kept to acknowledge its end again. */
  #evict(): void {
    for (const tunnel of this.#byId.values())
      if (tunnel.state === tunnelState.lingering || tunnel.state === tunnelState.closing) {
        tunnel.drop('none');
        return;
      }
  }

  #remove(tunnel: Tunnel): void {
    this.#byId.delete(tunnel.localId);
    this.#bySlot.delete(tunnel.slot);
    this.#timers.clearAll(tunnel.slot);
    this.#ids.release(tunnel.localId - 1);
    this.#slots.release(tunnel.slot);
  }

  #transmit(tunnel: Tunnel, message: Uint8Array | undefined, ns: number, nr: number): void {
    const length = message?.length ?? controlHeaderBytes;
    const path = 0;
    const at = this.#link.begin(path, length);
    if (at < 0) return;
    const { memory } = this.#link;
    if (message === undefined)
      writeControlHeader(memory, at, at + length, { tunnelId: tunnel.peerId, sessionId: 0, ns, nr });
    else memory.bytes.set(message, at);
    this.counters.sent++;
    this.#link.send(tunnel.peer, at, at + length, { path, tos: this.#options.tosOfControl });
  }
}
