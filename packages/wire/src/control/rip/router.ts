import { formatAddress, isMappedAddress, isSameAddress, isSamePrefix, parseAddress } from '../../ip/address.ts';
import type { PrefixSequence } from '../prefix-sequence.ts';
import { infinity, type RipEntry, type RipFormat, type RipMessage, ripCommand } from './packet.ts';

export interface RipOptions {
  readonly format: RipFormat;
  /** Words of the own address and bits of its network. */
  readonly address: Int32Array;
  readonly networkLength: number;
  /** Where updates for everybody and requests go. */
  readonly group: Int32Array;
  /** Updates go to neighbours that were heard instead. */
  readonly isUnicast: boolean;
  readonly updateMs: number;
  readonly timeoutMs: number;
  readonly garbageMs: number;
  readonly splitHorizon: 'poisoned' | 'simple' | 'none';
  readonly routes: {
    readonly count: number;
    readonly prefixes: PrefixSequence;
    /** Number of the first of them in the sequence. */
    readonly offset: number;
    readonly metric: number;
    readonly tag: number;
  };
  readonly random: () => number;
}

export interface RipEvents {
  /** Sends to a neighbour, or to all of them. */
  send(bytes: Uint8Array, destination: Int32Array): void;
  onNeighbour(address: Int32Array, isUp: boolean, reason: string): void;
}

export interface RipNeighbour {
  readonly address: Int32Array;
  readonly upAt: number;
  heardAt: number;
}

/** A route that a neighbour has announced. */
export interface RipRoute extends RipEntry {
  readonly from: Int32Array;
  heardAt: number;
}

/** Where updates of version 2, of version 1 and by broadcast, and of RIPng go. */
export const ripGroups = {
  multicast: parseAddress('224.0.0.9'),
  broadcast: parseAddress('255.255.255.255'),
  nextGeneration: parseAddress('ff02::9'),
} as const;
/** Updates are spread by so much. */
const jitter = 0.15;
/** Packets of an update sent in one go. */
const burst = 100;

const keyOf = ({ address, length }: RipEntry): string => `${formatAddress(address)}/${length}`;
const isFrom = (a: Int32Array, b: Int32Array): boolean => isSameAddress(a, 0, b, 0);

interface Update {
  readonly destination: Int32Array;
  next: number;
}

/** A RIP router on one network that announces generated routes (RFC 1058, RFC 2453, RFC 2080). */
export class RipRouter {
  readonly counters = { tx: 0, rx: 0, flaps: 0, prefixesSent: 0, prefixesReceived: 0 };
  /** By address. */
  readonly neighbours = new Map<string, RipNeighbour>();
  /** By prefix. */
  readonly routes = new Map<string, RipRoute>();
  lastError = '';
  readonly #options: RipOptions;
  readonly #events: RipEvents;
  #state: 'stopped' | 'running' | 'silent' = 'stopped';
  #isAnnouncing = true;
  /** Withdrawn routes are announced as unreachable until then. */
  #poisonUntil = Number.NEGATIVE_INFINITY;
  #nextUpdateAt = 0;
  #updates: Update[] = [];
  #sequence: number;

  constructor(options: RipOptions, events: RipEvents) {
    this.#options = options;
    this.#events = events;
    this.#sequence = Math.floor(options.random() * 2 ** 24);
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  start(now: number): void {
    if (this.#state === 'running') return;
    this.#state = 'running';
    this.#isAnnouncing = true;
    const { format, group } = this.#options;
    this.#transmit(format.encode({ command: ripCommand.request, entries: [], sequence: this.#sequence++ }), group);
    this.#updateAll(now);
  }

  /** Withdraws everything and falls silent. */
  stop(now: number): void {
    if (this.#state !== 'running') return;
    this.withdraw(now);
    while (this.#updates.length > 0) this.#sendUpdates(now);
    this.#state = 'stopped';
    this.#loseAll('stopped');
  }

  /** Falls silent without a word. */
  interrupt(): void {
    this.#state = 'silent';
    this.#updates = [];
    this.#loseAll('link down');
  }

  announce(now: number): void {
    this.#isAnnouncing = true;
    this.#updateAll(now);
  }

  withdraw(now: number): void {
    this.#isAnnouncing = false;
    this.#poisonUntil = now + this.#options.garbageMs;
    this.#updateAll(now);
  }

  advance(now: number): void {
    if (this.#state !== 'running') return;
    if (now >= this.#nextUpdateAt) this.#updateAll(now);
    this.#sendUpdates(now);
    this.#expire(now);
  }

  receive(bytes: Uint8Array, source: Int32Array, now: number): void {
    const { address, format } = this.#options;
    if (this.#state !== 'running' || isFrom(source, address)) return;
    this.counters.rx++;
    const message = format.parse(bytes);
    if (typeof message === 'string') {
      this.lastError = message;
      return;
    }
    if (message.command === ripCommand.request) this.#answer(message, source);
    else this.#learn(message, source, now);
  }

  #updateAll(now: number): void {
    const { updateMs, isUnicast, group, random } = this.#options;
    this.#nextUpdateAt = now + updateMs * (1 - jitter * random());
    const targets = isUnicast ? [...this.neighbours.values()].map(({ address }) => address) : [group];
    this.#updates = targets.map((destination) => ({ destination, next: 0 }));
  }

  /** What is announced: the generated routes, then those of neighbours as split horizon allows. */
  #entryAt(index: number, now: number): RipEntry | undefined {
    const { routes } = this.#options;
    if (index >= routes.count) return undefined;
    const isReachable = this.#isAnnouncing;
    if (!isReachable && now > this.#poisonUntil) return undefined;
    const { prefixes, offset, tag } = routes;
    const metric = isReachable ? routes.metric : infinity;
    return { address: prefixes.at(offset + index).slice(), length: prefixes.bits, metric, tag, nextHop: undefined };
  }

  #learned(): RipEntry[] {
    const { splitHorizon } = this.#options;
    if (splitHorizon === 'simple') return [];
    return [...this.routes.values()].map(({ address, length, metric, tag }) => ({
      address,
      length,
      metric: splitHorizon === 'poisoned' ? infinity : metric,
      tag,
      nextHop: undefined,
    }));
  }

  #sendUpdates(now: number): void {
    let left = burst;
    while (left > 0) {
      const [update] = this.#updates;
      if (update === undefined) return;
      left -= this.#sendPart(update, now);
    }
  }

  /** Sends one packet of an update, and with the last the learned routes. Returns the number of packets. */
  #sendPart(update: Update, now: number): number {
    const maxEntries = this.#options.format.entriesPerPacket;
    const entries: RipEntry[] = [];
    for (; entries.length < maxEntries; update.next++) {
      const entry = this.#entryAt(update.next, now);
      if (entry === undefined) break;
      entries.push(entry);
    }
    if (entries.length === maxEntries) {
      this.#respond(entries, update.destination);
      return 1;
    }
    this.#updates.shift();
    const rest = [...entries, ...this.#learned()];
    for (let at = 0; at < rest.length; at += maxEntries)
      this.#respond(rest.slice(at, at + maxEntries), update.destination);
    return Math.max(1, Math.ceil(rest.length / maxEntries));
  }

  #respond(entries: readonly RipEntry[], destination: Int32Array): void {
    const { response: command } = ripCommand;
    this.counters.prefixesSent += entries.filter(({ metric }) => metric < infinity).length;
    this.#transmit(this.#options.format.encode({ command, entries, sequence: this.#sequence++ }), destination);
  }

  #transmit(bytes: Uint8Array, destination: Int32Array): void {
    this.counters.tx++;
    this.#events.send(bytes, destination);
  }

  #answer({ isWhole, entries }: RipMessage, source: Int32Array): void {
    if (isWhole) {
      this.#updates.push({ destination: source, next: 0 });
      return;
    }
    const { metric } = this.#options.routes;
    const isKnown = (entry: RipEntry) => this.#isAnnouncing && this.#isOwn(entry);
    const answers = entries.map((entry) => ({ ...entry, metric: isKnown(entry) ? metric : infinity }));
    const maxEntries = this.#options.format.entriesPerPacket;
    for (let at = 0; at < answers.length; at += maxEntries) this.#respond(answers.slice(at, at + maxEntries), source);
  }

  #learn({ entries }: RipMessage, source: Int32Array, now: number): void {
    const { address, networkLength } = this.#options;
    const bits = networkLength + (isMappedAddress(address, 0) ? 96 : 0);
    if (!isSamePrefix(source, 0, address, 0, bits)) return;
    this.#hear(source, now);
    for (const entry of entries.filter((one) => !this.#isOwn(one))) {
      const key = keyOf(entry);
      const metric = Math.min(entry.metric + 1, infinity);
      const known = this.routes.get(key);
      if (metric >= infinity) {
        if (known !== undefined && isFrom(known.from, source)) this.routes.delete(key);
      } else if (known === undefined || isFrom(known.from, source) || metric < known.metric) {
        if (known === undefined) this.counters.prefixesReceived++;
        this.routes.set(key, { ...entry, metric, from: source, heardAt: now });
      }
    }
  }

  #isOwn({ address, length }: RipEntry): boolean {
    const { prefixes, offset, count } = this.#options.routes;
    const index = length === prefixes.bits ? prefixes.indexOf(address) - offset : -1;
    return index >= 0 && index < count;
  }

  #hear(source: Int32Array, now: number): void {
    const name = formatAddress(source);
    const known = this.neighbours.get(name);
    if (known !== undefined) {
      known.heardAt = now;
      return;
    }
    this.neighbours.set(name, { address: source, upAt: now, heardAt: now });
    this.#events.onNeighbour(source, true, '');
    if (this.#options.isUnicast) this.#updates.push({ destination: source, next: 0 });
  }

  #expire(now: number): void {
    const { timeoutMs } = this.#options;
    for (const [key, { heardAt }] of this.routes) if (now - heardAt > timeoutMs) this.routes.delete(key);
    for (const { address, heardAt } of [...this.neighbours.values()])
      if (now - heardAt > timeoutMs) this.#lose(address, 'no update in time');
  }

  #loseAll(reason: string): void {
    for (const { address } of [...this.neighbours.values()]) this.#lose(address, reason);
  }

  #lose(address: Int32Array, reason: string): void {
    this.neighbours.delete(formatAddress(address));
    this.counters.flaps++;
    for (const [key, { from }] of this.routes) if (isFrom(from, address)) this.routes.delete(key);
    this.#events.onNeighbour(address, false, reason);
  }
}
