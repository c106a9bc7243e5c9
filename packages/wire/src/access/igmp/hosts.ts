import type { Memory } from '../../bytes/memory.ts';
import { TimerWheel } from '../../bytes/timer-wheel.ts';
import { Memberships, membership } from './memberships.ts';
import {
  alertHeaderBytes,
  allRouters4,
  type GroupRecord,
  IgmpQuery,
  igmpRouters,
  igmpType,
  recordBytesOf,
  recordType,
  writeAlertHeader,
  writeIgmp,
  writeReport3,
} from './message.ts';

const maxReportBytes = 1400;
/** Timers of a slot: repeated report, wait for packets, end of the overlap. */
const slotTimer = { report: 0, wait: 1, overlap: 2 } as const;
/** Timers of a host: change of channel, answer to a query, wait before the first join. */
const hostTimer = { zap: 0, query: 1, start: 2 } as const;
const timers = 3;

export interface IgmpOptions {
  readonly version: number;
  readonly firstGroup: number;
  readonly groupCount: number;
  readonly groupStep: number;
  readonly sources: readonly number[];
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

export interface IgmpHost {
  readonly hosts: number;
  readonly random: () => number;
  readonly memory: () => Memory;
  /** Line on which packets of a host arrive, below 2^24. */
  lineOf(session: number): number;
  /** IPv4 address of a host; 0: it has none. */
  addressOf(session: number): number;
  /** Where an IP packet of up to `length` bytes is written, or -1. */
  begin(session: number, length: number): number;
  /** Sends the IP packet [at, end) to a group. */
  send(session: number, at: number, end: number, group: number): void;
  /** The first packet of a group that was joined has arrived. */
  onJoined?: ((session: number, delayMs: number) => void) | undefined;
  /** No packet of a group that was left arrives any more. */
  onLeft?: ((session: number, delayMs: number) => void) | undefined;
}

/** The multicast receivers of a port (IGMP of versions 1 to 3): they join, answer queries, and change channels. */
export class IgmpHosts {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, joins: 0, zaps: 0 };
  readonly #options: IgmpOptions;
  readonly #host: IgmpHost;
  readonly #channels: number;
  readonly #members: Memberships;
  readonly #isActive: Uint8Array;
  readonly #zaps: Uint32Array;
  readonly #asked: Int32Array;
  readonly #wheel: TimerWheel;
  readonly #query = new IgmpQuery();
  readonly #queue: number[] = [];
  #budget = 0;
  #nowMs = 0;

  constructor(host: IgmpHost, options: IgmpOptions) {
    this.#host = host;
    this.#options = options;
    this.#channels = Math.min(options.join.groupsPerHost, options.groupCount);
    this.#members = new Memberships(host.hosts, this.#channels);
    this.#isActive = new Uint8Array(host.hosts);
    this.#zaps = new Uint32Array(host.hosts);
    this.#asked = new Int32Array(host.hosts);
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
  groupOf(address: number): number {
    const { firstGroup, groupStep, groupCount } = this.#options;
    const group = ((address >>> 0) - (firstGroup >>> 0)) / groupStep;
    return Number.isInteger(group) && group >= 0 && group < groupCount ? group : -1;
  }

  /** Joins the groups of a host, or those that are given in place of its first ones. */
  join(session: number, groups?: readonly number[]): void {
    if (this.#isActive[session] === 0) return;
    const { groupCount } = this.#options;
    const wanted =
      groups ?? Array.from({ length: this.#channels }, (_, i) => (session * this.#channels + i) % groupCount);
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
  groupsOf(session: number): number[] {
    const slots = Array.from({ length: this.#channels * 2 }, (_, i) => session * this.#channels * 2 + i);
    return slots
      .filter((slot) => this.#members.isMember(slot))
      .map((slot) => this.#addressAt(this.#members.group[slot] as number));
  }

  /** An IPv4 packet to a group. */
  receiveData(line: number, { source, destination }: { readonly source: number; readonly destination: number }): void {
    const group = this.groupOf(destination);
    const watching = group < 0 ? undefined : this.#members.watching(group, line);
    if (watching === undefined || this.#options.sources.includes(source) !== this.#options.isInclude) return;
    for (const slot of [...watching]) this.#onData(slot);
  }

  /** A message of IGMP for the hosts that are given. */
  receive(sessions: Iterable<number>, memory: Memory, start: number, end: number): void {
    const type = end - start > 0 ? memory.view.getUint8(start) : 0;
    if (type !== igmpType.query) return;
    if (!this.#query.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const { group, maxResponseMs } = this.#query;
    for (const session of sessions) {
      if (this.#isActive[session] === 0) continue;
      const timer = this.#hostTimer(session, hostTimer.query);
      // An answer about everything answers about one group too.
      if (!this.#wheel.isSet(timer) || group === 0) this.#asked[session] = group;
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
    members.repeats[slot] = this.#options.version === 3 ? this.#options.robustness - 1 : 0;
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

  /** Reports that a slot was joined or left, and plans the repetition. */
  #report(slot: number): void {
    const { version, isInclude, sources } = this.#options;
    const members = this.#members;
    const session = members.sessionOf(slot);
    const isJoin = members.isMember(slot);
    const group = this.#addressAt(members.group[slot] as number);
    if (version === 3) {
      const [joinType, leaveType] = isInclude
        ? [recordType.allow, recordType.block]
        : [recordType.toExclude, recordType.toInclude];
      const kept = isJoin || isInclude ? sources : [];
      this.#sendRecords(session, [{ type: isJoin ? joinType : leaveType, group, sources: kept }]);
    } else if (isJoin) this.#sendShort(session, version === 1 ? igmpType.reportV1 : igmpType.reportV2, group, group);
    else if (version === 2) this.#sendShort(session, igmpType.leave, group, allRouters4);
    if ((members.repeats[slot] as number) > 0) this.#set(slot * timers + slotTimer.report, this.#options.reportDelayMs);
  }

  /** Answers the query that a host has got. */
  #answer(session: number): void {
    const { version, isInclude, sources } = this.#options;
    const asked = this.#asked[session] as number;
    const groups = this.groupsOf(session).filter((group) => asked === 0 || group === asked);
    if (version < 3) {
      const type = version === 1 ? igmpType.reportV1 : igmpType.reportV2;
      for (const group of groups) this.#sendShort(session, type, group, group);
      return;
    }
    const type = isInclude ? recordType.isInclude : recordType.isExclude;
    const perReport = Math.max(1, Math.floor(maxReportBytes / recordBytesOf({ sources })));
    for (let at = 0; at < groups.length; at += perReport) {
      const part = groups.slice(at, at + perReport);
      this.#sendRecords(
        session,
        part.map((group) => ({ type, group, sources })),
      );
    }
  }

  #sendShort(session: number, type: number, group: number, destination: number): void {
    this.#send(session, destination, 8, (memory, at) => writeIgmp(memory, at, type, group));
  }

  #sendRecords(session: number, records: readonly GroupRecord[]): void {
    const length = records.reduce((sum, record) => sum + recordBytesOf(record), 8);
    this.#send(session, igmpRouters, length, (memory, at) => writeReport3(memory, at, records));
  }

  #send(session: number, destination: number, length: number, write: (memory: Memory, at: number) => number): void {
    const source = this.#host.addressOf(session);
    const at = source === 0 ? -1 : this.#host.begin(session, alertHeaderBytes + length);
    if (at < 0) return;
    const memory = this.#host.memory();
    const end = write(memory, at + alertHeaderBytes);
    writeAlertHeader(memory, at, end, { source, destination });
    this.counters.sent++;
    this.#host.send(session, at, end, destination);
  }

  #addressAt(group: number): number {
    const { firstGroup, groupStep } = this.#options;
    return (firstGroup + group * groupStep) | 0;
  }

  #hostTimer(session: number, kind: number): number {
    return (this.#members.slots + session) * timers + kind;
  }

  #set(id: number, delayMs: number): void {
    this.#wheel.set(id, Math.floor(this.#nowMs) + Math.max(1, Math.ceil(delayMs)));
  }
}
