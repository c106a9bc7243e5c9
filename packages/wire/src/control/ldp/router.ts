import { bytesOfAddress, compareAddresses } from '../address-bytes.ts';
import type { LdpBindings } from './bindings.ts';
import type { LdpExtension } from './extension.ts';
import { encodeHello, type LdpHello, parseHello } from './hello.ts';
import type { LdpNeighbour } from './neighbour.ts';
import { LdpError, type LdpMessage, ldpStatus } from './pdu.ts';
import { LdpSession, type LdpStream } from './session.ts';

export interface LdpOptions {
  readonly lsrId: number;
  /** Address of the router and of its TCP sessions: all of it is IPv4, or IPv6 (RFC 7552). */
  readonly address: string;
  readonly helloMs: number;
  readonly helloHoldSec: number;
  readonly keepaliveMs: number;
  readonly holdSec: number;
  readonly targeted: {
    readonly peers: readonly string[];
    readonly helloMs: number;
    readonly holdSec: number;
    readonly accepts: boolean;
  };
  readonly bindings: LdpBindings;
}

export interface LdpEvents {
  /** Sends a hello to a neighbour or a group. */
  sendHello(bytes: Uint8Array, destination: string): void;
  /** Opens a TCP connection. `attach` returns the object that takes its events. */
  connect(destination: string, attach: (stream: LdpStream) => LdpSession): void;
  onNeighbour(neighbour: LdpNeighbour, isUp: boolean, reason: string, now: number): void;
}

/** All routers on the link (RFC 5036, section 2.4.1; RFC 7552, section 5.1). */
export const ldpGroups = { ipv4: '224.0.0.2', ipv6: 'ff02::2' } as const;
const defaultHoldSec = { link: 15, targeted: 45 } as const;
const endless = 0xffff;
const retryMs = 2000;

/** A label switching router: finds neighbours by hellos and keeps a session with each. */
export class LdpRouter {
  readonly neighbours = new Map<number, LdpNeighbour>();
  readonly counters = { tx: 0, rx: 0, flaps: 0, prefixesSent: 0, prefixesReceived: 0 };
  lastError = '';
  readonly #options: LdpOptions;
  readonly #events: LdpEvents;
  readonly #extensions: LdpExtension[] = [];
  /** Neighbours of extensions, which need not be adjacent. */
  readonly #peers: Set<string>;
  /** Neighbours that have asked for targeted hellos. */
  readonly #askers = new Set<string>();
  #isRunning = false;
  #isAnnouncing = true;
  #nextHelloAt = 0;
  #nextTargetedAt = 0;
  #messageId = 0;

  constructor(options: LdpOptions, events: LdpEvents) {
    this.#options = options;
    this.#events = events;
    this.#peers = new Set(options.targeted.peers);
  }

  /** Adds an extension before the start. `peers`: the addresses of its neighbours; those of the other version are LSR ids. */
  extend(extension: LdpExtension, peers: readonly string[]): void {
    this.#extensions.push(extension);
    for (const peer of peers) if (peer.includes(':') === this.#isV6) this.#peers.add(peer);
  }

  start(now: number): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#nextHelloAt = now;
    this.#nextTargetedAt = now;
  }

  /** Ends all sessions; the neighbours are informed. */
  stop(now: number): void {
    this.#isRunning = false;
    for (const neighbour of [...this.neighbours.values()]) this.#lose(neighbour, ldpStatus.shutdown, now);
  }

  /** Falls silent without a word. */
  interrupt(now: number): void {
    this.#isRunning = false;
    for (const { session } of this.neighbours.values()) session?.drop('link down', now);
    this.neighbours.clear();
  }

  announce(): void {
    this.#isAnnouncing = true;
    for (const { session } of this.neighbours.values()) session?.announce();
  }

  withdraw(): void {
    this.#isAnnouncing = false;
    for (const { session } of this.neighbours.values()) session?.withdraw();
  }

  advance(now: number): void {
    if (!this.#isRunning) return;
    this.#sendHellos(now);
    for (const neighbour of [...this.neighbours.values()]) {
      for (const [source, until] of neighbour.sources) if (now >= until) neighbour.sources.delete(source);
      if (neighbour.sources.size === 0) this.#lose(neighbour, ldpStatus.holdTimerExpired, now);
      else if (neighbour.session !== undefined) neighbour.session.advance(now);
      else if (this.#isActive(neighbour) && now >= neighbour.retryAt) this.#connect(neighbour, now);
    }
  }

  receiveHello(bytes: Uint8Array, source: string, now: number): void {
    if (!this.#isRunning || source === this.#options.address) return;
    this.counters.rx++;
    try {
      const hello = parseHello(bytes, this.#isV6);
      if (hello !== undefined) this.#takeHello(hello, source, now);
    } catch (error) {
      if (!(error instanceof LdpError)) throw error;
      this.lastError = `hello: ${error.message}`;
    }
  }

  /** A connection that a neighbour has opened; undefined: it is not known, or not its turn to open one. */
  accept(stream: LdpStream, source: string, now: number): LdpSession | undefined {
    const neighbour = [...this.neighbours.values()].find(({ transport }) => transport === source);
    if (neighbour === undefined || this.#isActive(neighbour)) return undefined;
    neighbour.session?.drop('the neighbour has opened another connection', now);
    const session = this.#createSession(neighbour, stream);
    session.opened(now);
    return session;
  }

  get #isV6(): boolean {
    return this.#options.address.includes(':');
  }

  #takeHello(hello: LdpHello, source: string, now: number): void {
    const { lsrId, isTargeted } = hello;
    const { targeted, helloHoldSec } = this.#options;
    if (lsrId === this.#options.lsrId) return;
    if (isTargeted && !targeted.accepts && !this.#peers.has(source)) return;
    if (isTargeted && hello.isRequest && targeted.accepts) this.#askers.add(source);
    const known = this.neighbours.get(lsrId);
    const neighbour = known ?? {
      lsrId,
      transport: hello.transport ?? source,
      sources: new Map<string, number>(),
      session: undefined,
      upAt: 0,
      retryAt: now,
    };
    if (known === undefined) this.neighbours.set(lsrId, neighbour);
    const theirs = hello.holdSec === 0 ? defaultHoldSec[isTargeted ? 'targeted' : 'link'] : hello.holdSec;
    const sec = Math.min(isTargeted ? targeted.holdSec : helloHoldSec, theirs);
    neighbour.sources.set(`${isTargeted} ${source}`, sec === endless ? Number.POSITIVE_INFINITY : now + sec * 1000);
  }

  #sendHellos(now: number): void {
    const { targeted, helloMs, helloHoldSec } = this.#options;
    if (now >= this.#nextHelloAt) {
      this.#nextHelloAt = now + helloMs;
      this.#sendHello(ldpGroups[this.#isV6 ? 'ipv6' : 'ipv4'], {
        holdSec: helloHoldSec,
        isTargeted: false,
        isRequest: false,
      });
    }
    if (now < this.#nextTargetedAt) return;
    this.#nextTargetedAt = now + targeted.helloMs;
    for (const peer of new Set([...this.#peers, ...this.#askers])) {
      const isRequest = this.#peers.has(peer);
      this.#sendHello(peer, { holdSec: targeted.holdSec, isTargeted: true, isRequest });
    }
  }

  #sendHello(destination: string, hello: Pick<LdpHello, 'holdSec' | 'isTargeted' | 'isRequest'>): void {
    const { lsrId, address } = this.#options;
    this.counters.tx++;
    this.#events.sendHello(encodeHello({ ...hello, lsrId, transport: address }, ++this.#messageId), destination);
  }

  /** The router with the higher address opens the connection. */
  #isActive({ transport }: LdpNeighbour): boolean {
    return compareAddresses(bytesOfAddress(this.#options.address), bytesOfAddress(transport)) > 0;
  }

  #connect(neighbour: LdpNeighbour, now: number): void {
    neighbour.retryAt = now + retryMs;
    this.#events.connect(neighbour.transport, (stream) => this.#createSession(neighbour, stream));
  }

  #createSession(neighbour: LdpNeighbour, stream: LdpStream): LdpSession {
    const { lsrId, address, keepaliveMs, holdSec, bindings } = this.#options;
    const isActive = this.#isActive(neighbour);
    const isAnnouncing = this.#isAnnouncing;
    const capabilities = [...new Set(this.#extensions.flatMap((extension) => extension.capabilities))];
    const own = { lsrId, address, keepaliveMs, holdSec, bindings, isActive, isAnnouncing, capabilities };
    const session = new LdpSession(
      stream,
      { ...own, peerLsrId: neighbour.lsrId },
      {
        onMessage: (direction) => this.counters[direction]++,
        onLabel: (direction) => this.counters[direction]++,
        onOperational: (now) => {
          neighbour.upAt = now;
          for (const extension of this.#extensions) extension.onUp(neighbour, now);
          this.#events.onNeighbour(neighbour, true, '', now);
        },
        take: (message) => this.#take(neighbour, message),
        onRoom: () => {
          for (const extension of this.#extensions) extension.onRoom(neighbour);
        },
        onClosed: (reason, now) => this.#onClosed(neighbour, session, reason, now),
      },
    );
    neighbour.session = session;
    return session;
  }

  #onClosed(neighbour: LdpNeighbour, session: LdpSession, reason: string, now: number): void {
    this.lastError = reason;
    if (neighbour.session === session) neighbour.session = undefined;
    neighbour.retryAt = now + retryMs;
    if (neighbour.upAt === 0) return;
    neighbour.upAt = 0;
    this.counters.flaps++;
    for (const extension of this.#extensions) extension.onDown(neighbour, now);
    this.#events.onNeighbour(neighbour, false, reason, now);
  }

  /** Messages go to the extension they are about. Several may use the same kind of label. */
  #take(neighbour: LdpNeighbour, message: LdpMessage): boolean {
    let isKnown = false;
    for (const extension of this.#extensions) {
      const taken = extension.take(neighbour, message);
      if (taken === 'taken') return true;
      isKnown ||= taken === 'known';
    }
    return isKnown;
  }

  #lose(neighbour: LdpNeighbour, status: number, now: number): void {
    neighbour.session?.fail(status, now);
    this.neighbours.delete(neighbour.lsrId);
  }
}
