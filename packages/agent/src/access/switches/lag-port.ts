import type { ResultRow } from '@rushhour/protocol';
import { type FrameSink, formatMac, LinkGroup, lacpState, type Memory, parseMac } from '@rushhour/wire';
import { linkStateOf } from '../../net/packet/device.ts';
import { type AccessEnd, AccessPort, type EntryPort } from '../access-port.ts';
import type { LagProfile } from '../options/access-profiles.ts';
import { LinkFlaps } from './link-flaps.ts';

/** The state of the links of the machine is looked at this often. */
const linkCheckMs = 200;

/** Several interfaces that carry the frames of one end: a link aggregation group. */
export class LagPort implements EntryPort {
  readonly name: string;
  readonly mac: Uint8Array;
  readonly group: LinkGroup;
  /** The member whose frame is at hand needs no verification of checksums. */
  isChecked = false;
  readonly #members: AccessPort[] = [];
  readonly #flaps: LinkFlaps;
  /** Members that are down on purpose. */
  readonly #isOff: boolean[];
  readonly #rows = new Map<number, string>();
  #end: AccessEnd | undefined;
  #isStarted = false;
  #nowMs = 0;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(names: readonly string[], isCaptured: boolean, { lacp, group, flaps }: LagProfile) {
    try {
      for (const name of names) this.#members.push(new AccessPort(name, isCaptured));
    } catch (error) {
      this.close();
      throw error;
    }
    this.name = names.join('+');
    this.mac = (this.#members[0] as AccessPort).mac;
    this.#isOff = names.map(() => false);
    this.#flaps = new LinkFlaps(flaps);
    const { mode, timeout, systemPriority, systemId, portPriority, key } = lacp;
    const system = systemId === undefined ? this.mac : parseMac(systemId);
    this.group = new LinkGroup(this.#members, {
      ...group,
      lacp: { mode, isShortTimeout: timeout === 'short', systemPriority, system, portPriority, key },
    });
    this.group.onLink = (isUp) => this.#end?.onLink?.(isUp);
  }

  get sink(): FrameSink {
    return this.group;
  }

  get members(): readonly string[] {
    return this.#members.map(({ name }) => name);
  }

  open(end: AccessEnd): void {
    this.#end = end;
    for (const [index, member] of this.#members.entries())
      member.open({
        receive: (memory, start, stop) => this.#receive(index, memory, start, stop),
        advance: () => this.#advance(),
        onIdle: () => this.#onIdle(),
        onRoom: () => end.onRoom?.(),
      });
  }

  /** From now on the members speak. */
  start(): void {
    this.#isStarted = true;
  }

  /** Takes members down on purpose, or up again. */
  setMember(name: string, isUp: boolean): void {
    const index = this.#members.findIndex((member) => member.name === name);
    if (index >= 0) this.#isOff[index] = !isUp;
    this.#checkedMs = Number.NEGATIVE_INFINITY;
  }

  /** Rows of members that have changed since the last call. */
  takeRows(): ResultRow[] {
    return this.#members.flatMap(({ name }, index) => {
      const row = this.#rowOf(name, index);
      const text = JSON.stringify(row);
      if (this.#rows.get(index) === text) return [];
      this.#rows.set(index, text);
      return [row];
    });
  }

  poll(): void {
    for (const member of this.#members) member.poll();
  }

  flush(): void {
    for (const member of this.#members) member.flush();
  }

  close(): void {
    for (const member of this.#members) member.close();
  }

  #receive(index: number, memory: Memory, start: number, end: number): void {
    this.isChecked = this.#members[index]?.isChecked ?? false;
    if (this.group.receive(index, memory, start, end)) this.#end?.receive(memory, start, end);
  }

  #onIdle(): void {
    this.#end?.onIdle?.();
    this.flush();
  }

  /** Members have clocks of their own: that of the first counts. */
  #advance(): void {
    this.#nowMs = Math.max(this.#nowMs, (this.#members[0] as AccessPort).nowMs);
    const nowMs = this.#nowMs;
    const last = this.#members.length - 1;
    if (this.#isStarted)
      this.#flaps.advance(nowMs, (isUp) => this.setMember((this.#members[last] as AccessPort).name, isUp));
    if (this.#isStarted && nowMs - this.#checkedMs >= linkCheckMs) {
      this.#checkedMs = nowMs;
      for (const [index, { name }] of this.#members.entries())
        this.group.setLink(index, !this.#isOff[index] && linkStateOf(name) === 'up');
    }
    this.group.advance(nowMs);
    this.#end?.advance(nowMs);
  }

  #rowOf(name: string, index: number): ResultRow {
    const member = this.group.members[index] as LinkGroup['members'][number];
    const { actor, partner, mux, receiveState, counters, isLinkUp } = member;
    const isKnown = partner.key !== 0;
    return {
      index,
      state: isLinkUp ? mux : 'down',
      cells: {
        interface: name,
        protocol: member.isStatic ? 'static' : 'LACP',
        link: isLinkUp ? 'up' : 'down',
        receive: receiveState,
        actor: `${formatMac(actor.system)} key ${actor.key} port ${actor.port}`,
        actorState: textOfState(actor.state),
        partner: isKnown ? `${formatMac(partner.system)} key ${partner.key} port ${partner.port}` : null,
        partnerState: isKnown ? textOfState(partner.state) : null,
        timeouts: counters.timeouts,
      },
    };
  }
}

const letters = [
  [lacpState.activity, 'active'],
  [lacpState.shortTimeout, 'short'],
  [lacpState.aggregation, 'aggregatable'],
  [lacpState.synchronization, 'in sync'],
  [lacpState.collecting, 'collecting'],
  [lacpState.distributing, 'distributing'],
  [lacpState.defaulted, 'defaulted'],
  [lacpState.expired, 'expired'],
] as const;

const textOfState = (state: number): string =>
  letters.flatMap(([bit, text]) => ((state & bit) !== 0 ? [text] : [])).join(', ');
