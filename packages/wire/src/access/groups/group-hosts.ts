import type { Memory } from '../../bytes/memory.ts';
import { TimerWheel } from '../../bytes/timer-wheel.ts';
import { type GroupRecord, type HostFormat, recordType } from './group-format.ts';
import { Memberships, membership } from './memberships.ts';

const maxReportBytes = 1400;
/** Timers of a slot: repeated report, wait for packets, end of the overlap. */
const slotTimer = { report: 0, wait: 1, overlap: 2 } as const;
/** Timers of a host: change of channel, answer to a query, wait before the first join. */
const hostTimer = { zap: 0, query: 1, start: 2 } as const;
const timers = 3;

/** `Address`: a number of IPv4, text of IPv6. */
export interface GroupHostsOptions<Address> {
  readonly version: number;
  readonly firstGroup: Address;
  readonly groupCount: number;
  readonly groupStep: number;
  readonly sources: readonly Address[];
  /** Only the sources are joined; false: all but them. */
  readonly isInclude: boolean;
  /** Times a report is sent. */
  readonly robustness: number;
  readonly reportDelayMs: number;
  readonly join: {
    readonly isAutomatic: boolean;
    readonly delayMs: number;
    /** 0: all at once. */
    readonly perSec: number;
    readonly groupsPerHost: number;
    /** Number of the first host: its groups follow those of the hosts before it. */
    readonly firstHost?: number;
  };
  readonly zapping: {
    /** Time on one channel; 0: no zapping. */
    readonly intervalMs: number;
    /** Changes before a pause; 0: no pause. */
    readonly count: number;
    readonly pauseMs: number;
    /** Longest acceptable wait for a new channel. */
    readonly waitMs: number;
    readonly overlapMs: number;
  };
}

export interface HostPort<Address> {
  readonly hosts: number;
  readonly random: () => number;
  readonly memory: () => Memory;
  /** Line on which packets of a host arrive, below 2^24. */
  lineOf(session: number): number;
  /** Address of a host; undefined: it has none. */
  addressOf(session: number): Address | undefined;
  /** Where an IP packet of up to `length` bytes is written, or -1. */
  begin(session: number, length: number): number;
  /** Sends the IP packet [at, end) to a group. */
  send(session: number, at: number, end: number, group: Address): void;
  /** The first packet of a group that was joined has arrived. */
  onJoined?: ((session: number, delayMs: number) => void) | undefined;
  /** No packet of a group that was left arrives any more. */
  onLeft?: ((session: number, delayMs: number) => void) | undefined;
}

/** The multicast receivers of a port: they join, answer queries, and change channels. */
export class GroupHosts<Address> {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, joins: 0, zaps: 0 };
  readonly #options: GroupHostsOptions<Address>;
  readonly #host: HostPort<Address>;
  readonly #format: HostFormat<Address>;
  readonly #channels: number;
  readonly #members: Memberships;
  readonly #isActive: Uint8Array;
  readonly #zaps: Uint32Array;
  /** The group that a host was asked for; undefined: for all. */
  readonly #asked: (Address | undefined)[] = [];
  readonly #wheel: TimerWheel;
  readonly #queue: number[] = [];
  #budget = 0;
  #nowMs = 0;

  constructor(host: HostPort<Address>, options: GroupHostsOptions<Address>, format: HostFormat<Address>) {
    this.#format = format;
    this.#host = host;
    this.#options = options;
    this.#channels = Math.min(options.join.groupsPerHost, options.groupCount);
    this.#members = new Memberships(host.hosts, this.#channels);
    this.#isActive = new Uint8Array(host.hosts);
    this.#zaps = new Uint32Array(host.hosts);
    this.#wheel = new TimerWheel(0, (this.#members.slots + host.hosts) * timers);
  }

  /** The session of a host is up. */
  start(session: number): void {
    const { isAutomatic, delayMs } = this.#options.join;
    this.#isActive[session] = 1;
    if (!isAutomatic) return;
    if (delayMs > 0) this.#set(this.#hostTimer(session, hostTimer.start), delayMs);
    else this.#queue.push(session);
  }

  /** The session of a host ends: it leaves its groups if it still can. */
  stop(session: number): void {
    if (this.#isActive[session] === 0) return;
    this.leave(session);
    this.#isActive[session] = 0;
    for (let timer = 0; timer < timers; timer++) this.#wheel.clear(this.#hostTimer(session, timer));
    for (let slot = session * this.#channels * 2; slot < (session + 1) * this.#channels * 2; slot++) this.#reset(slot);
  }

  /** Number of the group with an address, or -1. */
  groupOf(address: Address): number {
    const { firstGroup, groupStep, groupCount } = this.#options;
    const group = this.#format.distance(firstGroup, address) / groupStep;
    return Number.isInteger(group) && group >= 0 && group < groupCount ? group : -1;
  }

  /** Joins the groups of a host, or those that are given in place of its first ones. */
  join(session: number, groups?: readonly number[]): void {
    if (this.#isActive[session] === 0) return;
    const { groupCount, join } = this.#options;
    const first = ((join.firstHost ?? 0) + session) * this.#channels;
    const wanted = groups ?? Array.from({ length: this.#channels }, (_, i) => (first + i) % groupCount);
    for (const [channel, group] of wanted.slice(0, this.#channels).entries()) {
      const slot = this.#members.current(session, channel);
      if (this.#members.isMember(slot) && this.#members.group[slot] === group) continue;
      this.#leaveSlot(slot);
      this.#joinSlot(this.#members.flip(session, channel), group);
    }
    this.#planZap(session);
  }

  /** Leaves all groups of a host, or those that are given. */
  leave(session: number, groups?: readonly number[]): void {
    this.#wheel.clear(this.#hostTimer(session, hostTimer.zap));
    for (let slot = session * this.#channels * 2; slot < (session + 1) * this.#channels * 2; slot++)
      if (groups === undefined || groups.includes(this.#members.group[slot] as number)) this.#leaveSlot(slot);
  }

  /** Addresses of the groups that a host is in. */
  groupsOf(session: number): Address[] {
    const slots = Array.from({ length: this.#channels * 2 }, (_, i) => session * this.#channels * 2 + i);
    return slots
      .filter((slot) => this.#members.isMember(slot))
      .map((slot) => this.#addressAt(this.#members.group[slot] as number));
  }

  /** A packet to a group. */
  receiveData(
    line: number,
    { source, destination }: { readonly source: Address; readonly destination: Address },
  ): void {
    const group = this.groupOf(destination);
    const watching = group < 0 ? undefined : this.#members.watching(group, line);
    if (watching === undefined || this.#options.sources.includes(source) !== this.#options.isInclude) return;
    for (const slot of [...watching]) this.#onData(slot);
  }

  /** A query for the hosts that are given; other messages are not for hosts. */
  receive(sessions: Iterable<number>, memory: Memory, start: number, end: number): void {
    if (!this.#format.isQuery(memory, start, end)) return;
    const query = this.#format.parseQuery(memory, start, end);
    if (query === undefined) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const { group, maxResponseMs } = query;
    for (const session of sessions) {
      if (this.#isActive[session] === 0) continue;
      const timer = this.#hostTimer(session, hostTimer.query);
      // An answer about everything answers about one group too.
      if (!this.#wheel.isSet(timer) || group === undefined) this.#asked[session] = group;
      this.#set(timer, this.#host.random() * maxResponseMs);
    }
  }

  advance(nowMs: number): void {
    const elapsedMs = nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    this.#wheel.advance(Math.floor(nowMs), this.#onTimer);
    const { perSec } = this.#options.join;
    this.#budget = Math.min(this.#budget + (elapsedMs * perSec) / 1000, Math.max(1, perSec / 10));
    while (this.#queue.length > 0 && (perSec === 0 || this.#budget >= 1)) {
      this.#budget -= this.#channels;
      this.join(this.#queue.shift() as number);
    }
  }

  readonly #onTimer = (id: number): void => {
    const { slots } = this.#members;
    const index = Math.floor(id / timers);
    const kind = id % timers;
    if (index >= slots) this.#onHostTimer(index - slots, kind);
    else if (kind === slotTimer.report) this.#repeat(index);
    else if (kind === slotTimer.overlap) this.#leaveSlot(index);
    else this.#onWaited(index);
  };

  #onHostTimer(session: number, kind: number): void {
    if (kind === hostTimer.zap) this.#zap(session);
    else if (kind === hostTimer.query) this.#answer(session);
    else this.#queue.push(session);
  }

  #joinSlot(slot: number, group: number): void {
    const members = this.#members;
    // The group that was left before is still watched: packets of it have not stopped, or not for long.
    if (members.state[slot] === membership.leaving && this.#wheel.isSet(slot * timers + slotTimer.wait))
      this.#finishLeave(slot);
    this.#reset(slot);
    members.state[slot] = membership.joining;
    members.group[slot] = group;
    members.sinceMs[slot] = this.#nowMs;
    members.repeats[slot] = this.#options.robustness - 1;
    members.watch(slot, this.#host.lineOf(members.sessionOf(slot)));
    this.counters.joins++;
    this.#report(slot);
    this.#set(slot * timers + slotTimer.wait, this.#options.zapping.waitMs);
  }

  #leaveSlot(slot: number): void {
    const members = this.#members;
    if (!members.isMember(slot)) return;
    const hadPackets = members.state[slot] === membership.receiving;
    members.state[slot] = membership.leaving;
    members.sinceMs[slot] = this.#nowMs;
    members.lastMs[slot] = this.#nowMs;
    members.repeats[slot] = this.#hasRecords ? this.#options.robustness - 1 : 0;
    this.#wheel.clear(slot * timers + slotTimer.overlap);
    this.#report(slot);
    const line = this.#host.lineOf(members.sessionOf(slot));
    if (hadPackets) {
      members.watch(slot, line);
      this.#set(slot * timers + slotTimer.wait, this.#options.zapping.waitMs);
      return;
    }
    members.unwatch(slot, line);
    this.#wheel.clear(slot * timers + slotTimer.wait);
  }

  #onData(slot: number): void {
    const members = this.#members;
    if (members.state[slot] === membership.leaving) {
      members.lastMs[slot] = this.#nowMs;
      return;
    }
    members.state[slot] = membership.receiving;
    members.unwatch(slot, this.#host.lineOf(members.sessionOf(slot)));
    this.#wheel.clear(slot * timers + slotTimer.wait);
    this.#host.onJoined?.(members.sessionOf(slot), this.#nowMs - (members.sinceMs[slot] as number));
  }

  /** Packets have not come within the wait, or a group that was left is checked. */
  #onWaited(slot: number): void {
    const members = this.#members;
    const { waitMs } = this.#options.zapping;
    if (members.state[slot] === membership.joining) {
      this.counters.timeouts++;
      return;
    }
    const silentMs = this.#nowMs - (members.lastMs[slot] as number);
    if (silentMs < waitMs) this.#set(slot * timers + slotTimer.wait, waitMs - silentMs);
    else this.#finishLeave(slot);
  }

  #finishLeave(slot: number): void {
    const members = this.#members;
    this.#host.onLeft?.(members.sessionOf(slot), (members.lastMs[slot] as number) - (members.sinceMs[slot] as number));
    this.#reset(slot);
  }

  #reset(slot: number): void {
    const members = this.#members;
    if (members.state[slot] !== membership.none) members.unwatch(slot, this.#host.lineOf(members.sessionOf(slot)));
    members.state[slot] = membership.none;
    for (let timer = 0; timer < timers; timer++) this.#wheel.clear(slot * timers + timer);
  }

  #planZap(session: number): void {
    const { intervalMs, count, pauseMs } = this.#options.zapping;
    if (intervalMs === 0 || this.#options.groupCount <= this.#channels) return;
    const zaps = this.#zaps[session] as number;
    const isPause = count > 0 && zaps > 0 && zaps % count === 0;
    this.#set(this.#hostTimer(session, hostTimer.zap), isPause ? pauseMs : intervalMs);
  }

  /** Changes every channel of a host to the next group. */
  #zap(session: number): void {
    const { overlapMs } = this.#options.zapping;
    for (let channel = 0; channel < this.#channels; channel++) {
      const slot = this.#members.current(session, channel);
      if (!this.#members.isMember(slot)) continue;
      if (overlapMs === 0) this.#leaveSlot(slot);
      else this.#set(slot * timers + slotTimer.overlap, overlapMs);
      const group = ((this.#members.group[slot] as number) + this.#channels) % this.#options.groupCount;
      this.#joinSlot(this.#members.flip(session, channel), group);
    }
    this.counters.zaps++;
    this.#zaps[session] = (this.#zaps[session] as number) + 1;
    this.#planZap(session);
  }

  #repeat(slot: number): void {
    const left = this.#members.repeats[slot] as number;
    if (left === 0 || this.#members.state[slot] === membership.none) return;
    this.#members.repeats[slot] = left - 1;
    this.#report(slot);
  }

  get #hasRecords(): boolean {
    return this.#options.version >= this.#format.recordVersion;
  }

  /** Reports that a slot was joined or left, and plans the repetition. */
  #report(slot: number): void {
    const { isInclude, sources } = this.#options;
    const members = this.#members;
    const session = members.sessionOf(slot);
    const isJoin = members.isMember(slot);
    const group = this.#addressAt(members.group[slot] as number);
    if (this.#hasRecords) {
      const [joinType, leaveType] = isInclude
        ? [recordType.allow, recordType.block]
        : [recordType.toExclude, recordType.toInclude];
      const kept = isJoin || isInclude ? sources : [];
      this.#sendRecords(session, [{ type: isJoin ? joinType : leaveType, group, sources: kept }]);
    } else this.#sendShort(session, group, isJoin);
    if ((members.repeats[slot] as number) > 0) this.#set(slot * timers + slotTimer.report, this.#options.reportDelayMs);
  }

  /** Answers the query that a host has got. */
  #answer(session: number): void {
    const { isInclude, sources } = this.#options;
    const asked = this.#asked[session];
    const groups = this.groupsOf(session).filter((group) => asked === undefined || group === asked);
    if (!this.#hasRecords) {
      for (const group of groups) this.#sendShort(session, group, true);
      return;
    }
    const type = isInclude ? recordType.isInclude : recordType.isExclude;
    const perReport = Math.max(1, Math.floor(maxReportBytes / this.#format.recordBytes(sources.length)));
    for (let at = 0; at < groups.length; at += perReport) {
      const part = groups.slice(at, at + perReport);
      this.#sendRecords(
        session,
        part.map((group) => ({ type, group, sources })),
      );
    }
  }

  /** A message about one group; a version without leaves has none of them. */
  #sendShort(session: number, group: Address, isJoin: boolean): void {
    const { shortBytes, writeShort } = this.#format;
    const { version } = this.#options;
    const short = writeShort(version, isJoin, group);
    if (short !== undefined) this.#send(session, short.destination, shortBytes, short.write);
  }

  #sendRecords(session: number, records: readonly GroupRecord<Address>[]): void {
    const { reportBytes, recordBytes, reportGroup, writeReport } = this.#format;
    const length = records.reduce((sum, { sources }) => sum + recordBytes(sources.length), reportBytes);
    this.#send(session, reportGroup, length, (memory, at) => writeReport(memory, at, records));
  }

  #send(session: number, destination: Address, length: number, write: (memory: Memory, at: number) => number): void {
    const { headerBytes, writeHeader } = this.#format;
    const source = this.#host.addressOf(session);
    const at = source === undefined ? -1 : this.#host.begin(session, headerBytes + length);
    if (at < 0 || source === undefined) return;
    const memory = this.#host.memory();
    const end = write(memory, at + headerBytes);
    writeHeader(memory, at, end, { source, destination });
    this.counters.sent++;
    this.#host.send(session, at, end, destination);
  }

  #addressAt(group: number): Address {
    const { firstGroup, groupStep } = this.#options;
    return this.#format.after(firstGroup, group * groupStep);
  }

  #hostTimer(session: number, kind: number): number {
    return (this.#members.slots + session) * timers + kind;
  }

  #set(id: number, delayMs: number): void {
    this.#wheel.set(id, Math.floor(this.#nowMs) + Math.max(1, Math.ceil(delayMs)));
  }
}
