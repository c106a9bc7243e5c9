import { Announcer } from './announcer.ts';
import { BgpConnection, type BgpStream } from './connection.ts';
import type { BgpFamily } from './families.ts';
import { maxBgpMessage, maxExtendedMessage, refreshMessage } from './message.ts';
import { type Negotiated, negotiate } from './negotiation.ts';
import { BgpError, bgpError, ceaseReason } from './notification.ts';
import type { OpenMessage } from './open.ts';
import type { Opening, OpeningQueue } from './opening-queue.ts';
import { Rib } from './rib.ts';
import type { RouteSource } from './route-source.ts';
import { StaleRoutes } from './stale-routes.ts';
import type { UpdateMessage } from './update.ts';

export type BgpState = 'idle' | 'connect' | 'active' | 'openSent' | 'openConfirm' | 'established';

export interface BgpSessionOptions {
  /** The own OPEN message. */
  readonly open: OpenMessage;
  readonly peerAs: number;
  readonly keepaliveMs: number;
  /** A connection that is not open by then is given up; three quarters of it at least (RFC 4271, section 10). */
  readonly connectRetryMs: number;
  random(): number;
  /** Of all sessions with the neighbour. */
  readonly openings: OpeningQueue;
  /** Waits to be called. */
  readonly isPassive: boolean;
  /** What is announced as soon as the session is up; more may be added. */
  readonly sources: RouteSource[];
  readonly pathsPerPrefix: number;
  /** UPDATE messages a second; 0: no limit. */
  readonly updatesPerSec: number;
  readonly sendsEndOfRib: boolean;
}

export interface BgpSessionEvents {
  /** Opens a TCP connection to the neighbour. `attach` returns the object that takes its events. */
  connect(attach: (stream: BgpStream) => BgpConnection): void;
  onState(state: BgpState): void;
  /** The session was up and ended, or a connection failed before. `reason` is for people. */
  onDown(reason: string): void;
  onUpdate?(update: UpdateMessage): void;
  /** The neighbour has asked for all routes of a family, and they wait to be sent. */
  onRefresh?(family: BgpFamily): void;
  /** Message counters, by type name. */
  onMessage?(direction: 'tx' | 'rx', count: number): void;
}

const batchBytes = 1 << 17;
/** Paced updates are written this often at most. */
const paceMs = 20;

/** One neighbour: opens and accepts connections, keeps the session up, announces routes and stores those of the peer. */
export class BgpSession {
  readonly rib = new Rib();
  readonly announcer = new Announcer();
  readonly counters = { established: 0, flaps: 0, tx: 0, rx: 0 };
  readonly options: BgpSessionOptions;
  state: BgpState = 'idle';
  negotiated: Negotiated | undefined;
  peerOpen: OpenMessage | undefined;
  lastError = '';
  /** When the session was established, in milliseconds of the clock of the caller; 0 while it is down. */
  establishedAt = 0;
  readonly #events: BgpSessionEvents;
  readonly #connections = new Set<BgpConnection>();
  #current: BgpConnection | undefined;
  #now = 0;
  #opening: Opening | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  readonly #stale = new StaleRoutes(this.rib);
  #isRestarting = false;
  #hasRoom = false;
  #nextPaceAt = 0;

  constructor(options: BgpSessionOptions, events: BgpSessionEvents) {
    this.options = options;
    this.#events = events;
  }

  start(now: number): void {
    this.#now = now;
    if (this.state !== 'idle') return;
    if (this.options.isPassive) this.#setState('active');
    else this.#connect();
  }

  /** Ends the session with a Cease and stays idle. */
  stop(now: number, subcode: number = ceaseReason.shutdown): void {
    this.#now = now;
    this.#giveUpOpening();
    this.#setState('idle');
    for (const connection of [...this.#connections]) connection.fail(new BgpError(bgpError.cease, subcode));
  }

  /** Drops the connection without a word, as a router does that restarts; the neighbour keeps the routes. */
  restart(now: number): void {
    this.#now = now;
    this.#isRestarting = true;
    this.#giveUpOpening();
    this.#setState('idle');
    for (const connection of [...this.#connections]) connection.drop('restart');
  }

  /** A connection that the neighbour has opened. */
  accept(stream: BgpStream, now: number): BgpConnection {
    this.#now = now;
    // A neighbour that calls while its session is up has restarted (RFC 4724, section 5).
    if (this.#isGraceful) this.#current?.drop('the neighbour has restarted');
    const connection = this.#add(stream, false);
    if (this.state === 'idle') connection.fail(new BgpError(bgpError.cease, ceaseReason.rejected));
    else connection.opened(now);
    return connection;
  }

  advance(now: number): void {
    this.#now = now;
    for (const connection of this.#connections) connection.advance(now);
    if (now >= this.#retryAt) this.#connect();
    this.options.openings.advance(now);
    this.#stale.advance(now);
    if (this.options.updatesPerSec > 0) this.#pump();
  }

  /** The current connection takes more data. */
  onRoom(): void {
    this.#hasRoom = true;
    this.#pump();
  }

  /** Announces or withdraws part of the routes again: the shares [from, to) of each family, from 0 to 1. */
  change(range: { readonly from: number; readonly to: number; readonly isWithdrawn: boolean }): void {
    if (this.negotiated === undefined) return;
    for (const family of this.negotiated.families) this.#changeFamily(family, range);
    this.#pump();
  }

  #changeFamily(family: BgpFamily, range: { from: number; to: number; isWithdrawn: boolean }): void {
    const sources = this.#sourcesOf([family]);
    const total = sources.reduce((sum, { count }) => sum + count, 0);
    const [first, last] = [Math.round(range.from * total), Math.round(range.to * total)];
    let before = 0;
    for (const source of sources) {
      const from = Math.max(first - before, 0);
      const to = Math.min(last - before, source.count);
      if (from < to) this.#addPaths(source, { from, to, isWithdrawn: range.isWithdrawn });
      before += source.count;
    }
  }

  /** Announces or withdraws all routes of a source that is not among those of the session: it is said once. */
  say(source: RouteSource, isWithdrawn: boolean): void {
    if (this.negotiated?.families.includes(source.family) !== true) return;
    this.#addPaths(source, { from: 0, to: source.count, isWithdrawn });
    this.#pump();
  }

  /** Adds a source to those of the session. */
  extend(source: RouteSource): void {
    this.options.sources.push(source);
    this.say(source, false);
  }

  /** Asks the neighbour to announce its routes again. */
  requestRefresh(): void {
    if (this.negotiated?.routeRefresh !== true) return;
    for (const family of this.negotiated.families) this.#current?.send(refreshMessage(family));
  }

  /** Both sides keep routes while the other one restarts. */
  get #isGraceful(): boolean {
    const peer = this.peerOpen?.capabilities.gracefulRestart;
    return (
      this.options.open.capabilities.gracefulRestart !== undefined && peer !== undefined && peer.families.length > 0
    );
  }

  #connect(): void {
    for (const connection of [...this.#connections])
      if (connection.isOutgoing && connection.state === 'connect') connection.drop('no answer');
    this.#giveUpOpening();
    this.#setState('connect');
    this.#opening = this.options.openings.request((now) => {
      this.#now = now;
      this.#retryLater();
      this.#events.connect((stream) => this.#add(stream, true));
    });
  }

  #giveUpOpening(): void {
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#opening?.end();
    this.#opening = undefined;
  }

  #retryLater(): void {
    const { connectRetryMs, random } = this.options;
    this.#retryAt = this.#now + connectRetryMs * (0.75 + random() / 4);
  }

  #add(stream: BgpStream, isOutgoing: boolean): BgpConnection {
    const connection = new BgpConnection(stream, isOutgoing, {
      open: this.#ownOpen(),
      peerAs: this.options.peerAs,
      keepaliveMs: this.options.keepaliveMs,
      isOpenAllowed: (one, peer) => this.#resolveCollision(one, peer),
      onState: (one) => this.#proceed(one),
      onEstablished: (one) => this.#establish(one),
      onUpdate: (update) => this.#update(update),
      onRefresh: (family) => this.#refresh(family),
      onClosed: (one, reason, isGraceful) => this.#closed(one, reason, isGraceful),
      onMessage: (direction) => this.#count(direction),
    });
    this.#connections.add(connection);
    return connection;
  }

  #count(direction: 'tx' | 'rx'): void {
    this.counters[direction]++;
    this.#events.onMessage?.(direction, 1);
  }

  #ownOpen(): OpenMessage {
    const { open } = this.options;
    const restart = open.capabilities.gracefulRestart;
    if (restart === undefined || !this.#isRestarting) return open;
    const again = { ...restart, isRestarting: true, forwarded: restart.families };
    return { ...open, capabilities: { ...open.capabilities, gracefulRestart: again } };
  }

  /** Two connections between the same speakers: the one opened by the higher router id stays (RFC 4271, section 6.8). */
  #resolveCollision(connection: BgpConnection, peer: OpenMessage): boolean {
    for (const other of [...this.#connections]) {
      if (other === connection || (other.state !== 'openConfirm' && other.state !== 'established')) continue;
      const isOwnHigher = this.options.open.routerId > peer.routerId;
      const isKept = other.state !== 'established' && connection.isOutgoing === isOwnHigher;
      if (!isKept) return false;
      other.fail(new BgpError(bgpError.cease, ceaseReason.collision));
    }
    return true;
  }

  #establish(connection: BgpConnection): void {
    this.#current = connection;
    const peer = connection.peerOpen as OpenMessage;
    this.peerOpen = peer;
    for (const other of [...this.#connections])
      if (other !== connection) other.fail(new BgpError(bgpError.cease, ceaseReason.collision));
    const agreed = negotiate(this.options.open.capabilities, peer.capabilities);
    this.negotiated = agreed;
    connection.useAgreement(agreed, agreed.extendedMessages ? maxExtendedMessage : maxBgpMessage);
    this.establishedAt = this.#now;
    this.counters.established++;
    this.#giveUpOpening();
    const restart = peer.capabilities.gracefulRestart;
    this.#stale.resume((this.#isRestarting ? restart?.families : restart?.forwarded) ?? [], this.#now);
    this.#isRestarting = false;
    this.announcer.reset({
      fourByteAs: agreed.fourByteAs,
      maxMessage: agreed.extendedMessages ? maxExtendedMessage : maxBgpMessage,
      sendsPathIds: (family) => agreed.sendsPathIds.includes(family),
    });
    for (const family of agreed.families) this.#announceAgain(family);
    this.#setState('established');
    this.#hasRoom = true;
    this.#nextPaceAt = this.#now;
    this.#pump();
  }

  #refresh(family: BgpFamily): void {
    this.#announceAgain(family);
    this.#events.onRefresh?.(family);
  }

  #announceAgain(family: BgpFamily): void {
    if (this.negotiated?.families.includes(family) !== true) return;
    for (const source of this.#sourcesOf([family]))
      this.#addPaths(source, { from: 0, to: source.count, isWithdrawn: false });
    if (this.options.sendsEndOfRib) this.announcer.addEndOfRib(family);
    if (this.state === 'established') this.#pump();
  }

  #addPaths(source: RouteSource, range: { from: number; to: number; isWithdrawn: boolean }): void {
    const hasPaths = this.negotiated?.sendsPathIds.includes(source.family) === true;
    const paths = hasPaths ? this.options.pathsPerPrefix : 1;
    for (let pathId = 1; pathId <= paths; pathId++) this.announcer.add(source, { ...range, pathId });
  }

  #sourcesOf(families: readonly BgpFamily[]): readonly RouteSource[] {
    return this.options.sources.filter(({ family }) => families.includes(family));
  }

  /** Writes what waits: as much as the connection takes, or as many messages as the pace allows. */
  #pump(): void {
    const connection = this.#current;
    if (connection === undefined || !this.#hasRoom || this.announcer.isIdle) return;
    const { updatesPerSec } = this.options;
    let allowed = Number.POSITIVE_INFINITY;
    if (updatesPerSec > 0) {
      if (this.#now < this.#nextPaceAt) return;
      const dueSinceMs = Math.min(this.#now - this.#nextPaceAt, 1000) + paceMs;
      allowed = Math.max(1, Math.floor((dueSinceMs * updatesPerSec) / 1000));
      this.#nextPaceAt = this.#now + (allowed * 1000) / updatesPerSec;
    }
    const before = this.announcer.counters.messages;
    const bytes = this.announcer.next(batchBytes, allowed);
    if (bytes === undefined) return;
    this.#hasRoom = false;
    const count = this.announcer.counters.messages - before;
    this.counters.tx += count;
    this.#events.onMessage?.('tx', count);
    connection.sendRaw(bytes);
  }

  #update(update: UpdateMessage): void {
    const agreed = this.negotiated as Negotiated;
    this.rib.apply(update, (family) => agreed.receivesPathIds.includes(family));
    if (update.endOfRib !== undefined) this.#stale.remove(update.endOfRib);
    this.#events.onUpdate?.(update);
  }

  #closed(connection: BgpConnection, reason: string, isGraceful: boolean): void {
    this.#connections.delete(connection);
    if (connection.isOutgoing) this.#opening?.end();
    const wasUp = connection === this.#current;
    if (wasUp) {
      this.#current = undefined;
      this.negotiated = undefined;
      this.establishedAt = 0;
      this.counters.flaps++;
      const restart = this.peerOpen?.capabilities.gracefulRestart;
      if (isGraceful && this.#isGraceful && restart !== undefined) this.#stale.keep(restart, this.#now);
      else this.#stale.clear();
    }
    if (this.#current === undefined && (wasUp || connection.isOutgoing || this.#connections.size === 0)) {
      this.lastError = reason;
      this.#events.onDown(reason);
    }
    if (this.state === 'idle' || this.#connections.size > 0) this.#follow();
    else this.#waitToRetry();
  }

  #waitToRetry(): void {
    this.#setState('active');
    this.#giveUpOpening();
    if (!this.options.isPassive) this.#retryLater();
  }

  /** An open connection is waited for, and one with an answer makes room for others. */
  #proceed({ isOutgoing, state }: BgpConnection): void {
    if (isOutgoing) this.#retryAt = Number.POSITIVE_INFINITY;
    if (isOutgoing && state === 'openConfirm') this.#opening?.end();
    this.#follow();
  }

  /** The state of the session is that of its furthest connection. */
  #follow(): void {
    if (this.state === 'idle') return;
    const order: readonly BgpState[] = ['established', 'openConfirm', 'openSent', 'connect'];
    const states = [...this.#connections].map(({ state }) => state);
    const furthest = order.find((state) => states.includes(state as never));
    if (furthest !== undefined) this.#setState(furthest);
  }

  #setState(state: BgpState): void {
    if (state === this.state) return;
    this.state = state;
    this.#events.onState(state);
  }
}
