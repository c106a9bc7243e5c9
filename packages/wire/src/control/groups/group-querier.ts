import { type GroupRecord, recordType } from '../../access/groups/group-format.ts';
import type { QuerierFormat } from './querier-format.ts';

/** `Address`: a number of IPv4, text of IPv6. */
export interface QuerierOptions<Address> {
  readonly version: number;
  /** Own address. */
  readonly address: Address;
  readonly queryIntervalSec: number;
  readonly responseMs: number;
  readonly robustness: number;
  readonly startupCount: number;
  readonly lastMemberMs: number;
  readonly lastMemberCount: number;
  readonly yieldsToLower: boolean;
}

export interface QuerierEvents<Address> {
  send(bytes: Uint8Array, destination: Address): void;
  /** `querier`: address of the one that asks now. */
  onQuerier(querier: Address): void;
}

export interface Membership<Address> {
  readonly group: Address;
  /** Who has reported it last. */
  reporter: Address;
  /** All sources are wanted until then. */
  expiresAt: number;
  /** Sources that are wanted, with the end of their time. */
  readonly sources: Map<Address, number>;
}

/** Questions after a leave. */
interface Question<Address> {
  readonly group: Address;
  readonly sources: readonly Address[];
  left: number;
  nextAt: number;
}

const never = Number.POSITIVE_INFINITY;
const ended = Number.NEGATIVE_INFINITY;
/** Memberships that are kept at most. */
const maxGroups = 100_000;

/** A multicast router that asks the hosts of a link for their groups. */
export class GroupQuerier<Address> {
  readonly groups = new Map<Address, Membership<Address>>();
  readonly counters = { tx: 0, rx: 0, invalid: 0, joins: 0 };
  lastError = '';
  /** Address of the router that asks. */
  querier: Address;
  startedAt = 0;
  readonly #options: QuerierOptions<Address>;
  readonly #events: QuerierEvents<Address>;
  readonly #format: QuerierFormat<Address>;
  #questions: Question<Address>[] = [];
  #queryAt = never;
  #startupLeft = 0;
  #otherUntil = never;

  constructor(options: QuerierOptions<Address>, events: QuerierEvents<Address>, format: QuerierFormat<Address>) {
    this.#format = format;
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

  receive(bytes: Uint8Array, source: Address, now: number): void {
    if (!this.isRunning || source === this.#options.address) return;
    const message = this.#format.parse(bytes);
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
    this.#send(undefined, [], responseMs);
  }

  #send(group: Address | undefined, sources: readonly Address[], responseMs: number): void {
    const { version, robustness, queryIntervalSec: intervalSec } = this.#options;
    this.counters.tx++;
    const query = { version, group, sources, responseMs, robustness, intervalSec };
    this.#events.send(this.#format.write(query), group ?? this.#format.allHosts);
  }

  /** The lowest address asks (RFC 2236, section 3; RFC 3810, section 7.6.2). */
  #yield(source: Address, now: number): void {
    const { yieldsToLower, address, responseMs } = this.#options;
    const { compare } = this.#format;
    if (!yieldsToLower || compare(source, address) >= 0 || compare(source, this.querier) > 0) return;
    this.#otherUntil = now + this.#lifeMs - responseMs / 2;
    this.#queryAt = never;
    this.#questions = [];
    if (this.querier === source) return;
    this.querier = source;
    this.#events.onQuerier(source);
  }

  #take({ group, sources, type }: GroupRecord<Address>, reporter: Address, now: number): void {
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

  #membershipOf(group: Address, reporter: Address): Membership<Address> | undefined {
    const known = this.groups.get(group);
    if (known !== undefined) known.reporter = reporter;
    if (known !== undefined || this.groups.size >= maxGroups) return known;
    const membership = { group, reporter, expiresAt: ended, sources: new Map<Address, number>() };
    this.groups.set(group, membership);
    this.counters.joins++;
    return membership;
  }

  /** Asks whether others want the group, or some sources of it, and gives them little time. */
  #leave(group: Address, sources: readonly Address[], now: number): void {
    const { version, lastMemberCount, lastMemberMs } = this.#options;
    const membership = this.groups.get(group);
    if (membership === undefined || !this.#format.asksAfterLeave(version) || this.#queryAt === never) return;
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
