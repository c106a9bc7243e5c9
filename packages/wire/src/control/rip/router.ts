import {
  encodeRip,
  entriesPerPacket,
  infinity,
  parseRip,
  type RipAuthentication,
  type RipEntry,
  type RipMessage,
  ripCommand,
} from './packet.ts';

export interface RipOptions {
  readonly version: 1 | 2;
  readonly address: number;
  readonly mask: number;
  readonly updateMs: number;
  readonly timeoutMs: number;
  readonly garbageMs: number;
  readonly send: 'multicast' | 'broadcast' | 'unicast';
  readonly splitHorizon: 'poisoned' | 'simple' | 'none';
  readonly routes: {
    readonly count: number;
    readonly first: number;
    readonly length: number;
    readonly metric: number;
    readonly tag: number;
  };
  readonly authentication: RipAuthentication;
  readonly random: () => number;
}

export interface RipEvents {
  /** Sends to a neighbour, or to all of them. */
  send(bytes: Uint8Array, destination: number): void;
  onNeighbour(address: number, isUp: boolean, reason: string): void;
}

export interface RipNeighbour {
  readonly address: number;
  readonly upAt: number;
  heardAt: number;
}

/** A route that a neighbour has announced. */
export interface RipRoute extends RipEntry {
  readonly from: number;
  heardAt: number;
}

export const ripGroup = 0xe0000009;
const everybody = 0xffffffff;
/** Updates are spread by so much. */
const jitter = 0.15;
/** Packets of an update sent in one go. */
const burst = 100;

const maskOfLength = (length: number): number => (length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0);

interface Update {
  readonly destination: number;
  next: number;
}

/** A RIP router on one network that announces generated routes (RFC 1058, RFC 2453). */
export class RipRouter {
  readonly counters = { tx: 0, rx: 0, flaps: 0, prefixesSent: 0, prefixesReceived: 0 };
  readonly neighbours = new Map<number, RipNeighbour>();
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
    const { version, authentication } = this.#options;
    const { request: command } = ripCommand;
    const whole = { command, version, entries: [], authentication, sequence: this.#sequence++ };
    this.#transmit(encodeRip(whole), this.#group);
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

  receive(bytes: Uint8Array, source: number, now: number): void {
    const { address, mask, authentication } = this.#options;
    if (this.#state !== 'running' || source === address) return;
    this.counters.rx++;
    const message = parseRip(bytes, authentication, mask);
    if (typeof message === 'string') {
      this.lastError = message;
      return;
    }
    if (message.command === ripCommand.request) this.#answer(message, source);
    else this.#learn(message, source, now);
  }

  get #group(): number {
    const { version, send } = this.#options;
    return version === 1 || send === 'broadcast' ? everybody : ripGroup;
  }

  #updateAll(now: number): void {
    const { updateMs, send, random } = this.#options;
    this.#nextUpdateAt = now + updateMs * (1 - jitter * random());
    const targets = send === 'unicast' ? [...this.neighbours.keys()] : [this.#group];
    this.#updates = targets.map((destination) => ({ destination, next: 0 }));
  }

  /** What is announced: the generated routes, then those of neighbours as split horizon allows. */
  #entryAt(index: number, now: number): RipEntry | undefined {
    const { routes } = this.#options;
    if (index >= routes.count) return undefined;
    const isReachable = this.#isAnnouncing;
    if (!isReachable && now > this.#poisonUntil) return undefined;
    const address = (routes.first + index * 2 ** (32 - routes.length)) >>> 0;
    const metric = isReachable ? routes.metric : infinity;
    return { address, mask: maskOfLength(routes.length), metric, tag: routes.tag, nextHop: 0 };
  }

  #learned(): RipEntry[] {
    const { splitHorizon } = this.#options;
    if (splitHorizon === 'simple') return [];
    return [...this.routes.values()].map(({ address, mask, metric, tag }) => ({
      address,
      mask,
      metric: splitHorizon === 'poisoned' ? infinity : metric,
      tag,
      nextHop: 0,
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
    const maxEntries = entriesPerPacket(this.#options.authentication);
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

  #respond(entries: readonly RipEntry[], destination: number): void {
    const { version, authentication } = this.#options;
    const { response: command } = ripCommand;
    this.counters.prefixesSent += entries.filter(({ metric }) => metric < infinity).length;
    this.#transmit(encodeRip({ command, version, entries, authentication, sequence: this.#sequence++ }), destination);
  }

  #transmit(bytes: Uint8Array, destination: number): void {
    this.counters.tx++;
    this.#events.send(bytes, destination);
  }

  #answer({ isWhole, entries }: RipMessage, source: number): void {
    if (isWhole) {
      this.#updates.push({ destination: source, next: 0 });
      return;
    }
    const { metric } = this.#options.routes;
    const isKnown = (entry: RipEntry) => this.#isAnnouncing && this.#isOwn(entry);
    const answers = entries.map((entry) => ({ ...entry, metric: isKnown(entry) ? metric : infinity }));
    const maxEntries = entriesPerPacket(this.#options.authentication);
    for (let at = 0; at < answers.length; at += maxEntries) this.#respond(answers.slice(at, at + maxEntries), source);
  }

  #learn({ entries }: RipMessage, source: number, now: number): void {
    const { address, mask } = this.#options;
    if ((source & mask) !== (address & mask)) return;
    this.#hear(source, now);
    for (const entry of entries.filter((one) => !this.#isOwn(one))) {
      const key = `${entry.address}/${entry.mask}`;
      const metric = Math.min(entry.metric + 1, infinity);
      const known = this.routes.get(key);
      if (metric >= infinity) {
        if (known?.from === source) this.routes.delete(key);
      } else if (known === undefined || known.from === source || metric < known.metric) {
        if (known === undefined) this.counters.prefixesReceived++;
        this.routes.set(key, { ...entry, metric, from: source, heardAt: now });
      }
    }
  }

  #isOwn({ address, mask }: RipEntry): boolean {
    const { first, length, count } = this.#options.routes;
    const index = (address - first) / 2 ** (32 - length);
    return mask === maskOfLength(length) && index >= 0 && index < count;
  }

  #hear(source: number, now: number): void {
    const known = this.neighbours.get(source);
    if (known !== undefined) {
      known.heardAt = now;
      return;
    }
    this.neighbours.set(source, { address: source, upAt: now, heardAt: now });
    this.#events.onNeighbour(source, true, '');
    if (this.#options.send === 'unicast') this.#updates.push({ destination: source, next: 0 });
  }

  #expire(now: number): void {
    const { timeoutMs } = this.#options;
    for (const [key, { heardAt }] of this.routes) if (now - heardAt > timeoutMs) this.routes.delete(key);
    for (const { address, heardAt } of this.neighbours.values())
      if (now - heardAt > timeoutMs) this.#lose(address, 'no update in time');
  }

  #loseAll(reason: string): void {
    for (const address of [...this.neighbours.keys()]) this.#lose(address, reason);
  }

  #lose(address: number, reason: string): void {
    this.neighbours.delete(address);
    this.counters.flaps++;
    for (const [key, { from }] of this.routes) if (from === address) this.routes.delete(key);
    this.#events.onNeighbour(address, false, reason);
  }
}
