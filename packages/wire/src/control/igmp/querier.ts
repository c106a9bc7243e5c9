import { type GroupRecord, recordType } from '../../access/igmp/message.ts';
import { parseGroupMessage, writeGroupQuery } from './message.ts';

export interface QuerierOptions {
  readonly version: number;
  /** Own address as a number. */
  readonly address: number;
  readonly queryIntervalSec: number;
  readonly responseMs: number;
  readonly robustness: number;
  readonly startupCount: number;
  readonly lastMemberMs: number;
  readonly lastMemberCount: number;
  readonly yieldsToLower: boolean;
}

export interface QuerierEvents {
  send(bytes: Uint8Array, destination: number): void;
  /** `querier`: address of the one that asks now. */
  onQuerier(querier: number): void;
}

export interface Membership {
  readonly group: number;
  /** Who has reported it last. */
  reporter: number;
  /** All sources are wanted until then. */
  expiresAt: number;
  /** Sources that are wanted, with the end of their time. */
  readonly sources: Map<number, number>;
}

/** Questions after a leave. */
interface Question {
  readonly group: number;
  readonly sources: readonly number[];
  left: number;
  nextAt: number;
}

const allHosts = 0xe0000001;
const never = Number.POSITIVE_INFINITY;
const ended = Number.NEGATIVE_INFINITY;
/** Memberships that are kept at most. */
const maxGroups = 100_000;

/** A multicast router that asks the hosts of a link for their groups (RFC 2236, RFC 3376). */
export class IgmpQuerier {
  readonly groups = new Map<number, Membership>();
  readonly counters = { tx: 0, rx: 0, invalid: 0, joins: 0 };
  lastError = '';
  /** Address of the router that asks. */
  querier: number;
  startedAt = 0;
  readonly #options: QuerierOptions;
  readonly #events: QuerierEvents;
  #questions: Question[] = [];
  #queryAt = never;
  #startupLeft = 0;
  #otherUntil = never;

  constructor(options: QuerierOptions, events: QuerierEvents) {
    this.#options = options;
    this.#events = events;
    this.querier = options.address;
  }

  get isRunning(): boolean {
    return this.#queryAt !== never || this.querier !== this.#options.address;
  }

  start(now: number): void {
    this.startedAt = now;
    this.#otherUntil = never;
    this.querier = this.#options.address;
    this.#startupLeft = this.#options.startupCount;
    this.#queryAt = now;
  }

  /** Falls silent and forgets all groups. */
  stop(): void {
    this.#queryAt = never;
    this.#otherUntil = never;
    this.querier = this.#options.address;
    this.#questions = [];
    this.groups.clear();
  }

  receive(bytes: Uint8Array, source: number, now: number): void {
    if (!this.isRunning || source === this.#options.address) return;
    const message = parseGroupMessage(bytes);
    if (message === undefined) {
      this.counters.invalid++;
      this.lastError = 'message is broken';
      return;
    }
    this.counters.rx++;
    if (message.kind === 'query') this.#yield(source, now);
    else for (const record of message.records) this.#take(record, source, now);
  }

  advance(now: number): void {
    if (now >= this.#otherUntil) this.start(now);
    if (now >= this.#queryAt) this.#queryAll(now);
    this.#ask(now);
    for (const [group, membership] of this.groups) {
      for (const [source, end] of membership.sources) if (now >= end) membership.sources.delete(source);
      if (now >= membership.expiresAt && membership.sources.size === 0) this.groups.delete(group);
    }
  }

  /** Until when a report counts. */
  get #lifeMs(): number {
    const { robustness, queryIntervalSec, responseMs } = this.#options;
    return robustness * queryIntervalSec * 1000 + responseMs;
  }

  #queryAll(now: number): void {
    const { queryIntervalSec, responseMs } = this.#options;
    const isStartup = --this.#startupLeft > 0;
    this.#queryAt = now + queryIntervalSec * (isStartup ? 250 : 1000);
    this.#send(0, [], responseMs);
  }

  #send(group: number, sources: readonly number[], responseMs: number): void {
    const { version, robustness, queryIntervalSec: intervalSec } = this.#options;
    this.counters.tx++;
    const query = { version, group, sources, responseMs, robustness, intervalSec };
    this.#events.send(writeGroupQuery(query), group === 0 ? allHosts : group);
  }

  /** The lowest address asks (RFC 2236, section 3). */
  #yield(source: number, now: number): void {
    const { yieldsToLower, address, responseMs } = this.#options;
    if (!yieldsToLower || source === 0 || source >= address || source > this.querier) return;
    this.#otherUntil = now + this.#lifeMs - responseMs / 2;
    this.#queryAt = never;
    this.#questions = [];
    if (this.querier === source) return;
    this.querier = source;
    this.#events.onQuerier(source);
  }

  #take({ group, sources, type }: GroupRecord, reporter: number, now: number): void {
    const { isInclude, isExclude, toInclude, toExclude, allow, block } = recordType;
    const life = now + this.#lifeMs;
    const isWhole = (this.groups.get(group)?.expiresAt ?? ended) > now;
    if (type === isExclude || type === toExclude) {
      const membership = this.#membershipOf(group, reporter);
      if (membership !== undefined) membership.expiresAt = life;
      // What is wanted again need not be asked for.
      this.#questions = this.#questions.filter((one) => one.group !== group);
    } else if (type === block) this.#leave(group, sources, now);
    else if (type === isInclude || type === toInclude || type === allow) {
      if (type === toInclude && (isWhole || sources.length === 0)) this.#leave(group, [], now);
      const membership = sources.length > 0 ? this.#membershipOf(group, reporter) : undefined;
      for (const source of sources) membership?.sources.set(source, life);
    }
  }

  #membershipOf(group: number, reporter: number): Membership | undefined {
    const known = this.groups.get(group);
    if (known !== undefined) known.reporter = reporter;
    if (known !== undefined || this.groups.size >= maxGroups) return known;
    const membership = { group, reporter, expiresAt: ended, sources: new Map<number, number>() };
    this.groups.set(group, membership);
    this.counters.joins++;
    return membership;
  }

  /** Asks whether others want the group, or some sources of it, and gives them little time. */
  #leave(group: number, sources: readonly number[], now: number): void {
    const { version, lastMemberCount, lastMemberMs } = this.#options;
    const membership = this.groups.get(group);
    // Hosts of version 1 leave in silence, and only the querier asks.
    if (membership === undefined || version === 1 || this.#queryAt === never) return;
    const end = now + lastMemberCount * lastMemberMs;
    const asked = sources.filter((source) => membership.sources.has(source));
    if (sources.length > 0 && asked.length === 0) return;
    if (sources.length === 0) membership.expiresAt = Math.min(membership.expiresAt, end);
    for (const source of sources.length === 0 ? membership.sources.keys() : asked)
      membership.sources.set(source, Math.min(membership.sources.get(source) as number, end));
    if (this.#questions.some((one) => one.group === group)) return;
    this.#questions.push({ group, sources: asked, left: lastMemberCount, nextAt: now });
    this.#ask(now);
  }

  #ask(now: number): void {
    if (this.#questions.length === 0) return;
    const { lastMemberMs } = this.#options;
    for (const question of this.#questions) {
      if (now < question.nextAt) continue;
      question.left--;
      question.nextAt = now + lastMemberMs;
      this.#send(question.group, question.sources, lastMemberMs);
    }
    this.#questions = this.#questions.filter(({ left }) => left > 0);
  }
}
