import { covers, keyOf, type Match, takes } from './match.ts';

export interface Flow {
  readonly table: number;
  readonly priority: number;
  readonly match: Match;
  readonly cookie: bigint;
  readonly idleSec: number;
  readonly hardSec: number;
  readonly flags: number;
  readonly importance: number;
  /** Its match as it was sent, for statistics. */
  readonly matchBytes: Uint8Array;
  /** Its instructions, or actions in version 1.0, as they were sent. */
  actionBytes: Uint8Array;
  readonly sinceMs: number;
  usedMs: number;
  packets: number;
  bytes: number;
}

export const removedReason = { idle: 0, hard: 1, deleted: 2 } as const;

/** Which flows a command means. */
export interface FlowSelector {
  /** -1: all. */
  readonly table: number;
  readonly match: Match;
  readonly priority: number;
  /** Exactly this match and priority, not all that it covers. */
  readonly isStrict: boolean;
  readonly cookie: bigint;
  readonly cookieMask: bigint;
}

/** The flow tables of one switch. */
export class FlowTables {
  readonly #tables: Map<string, Flow>[];
  readonly #maxFlows: number;
  /** Flows that end by time. */
  readonly #timed = new Set<Flow>();

  constructor(tables: number, maxFlows: number) {
    this.#tables = Array.from({ length: tables }, () => new Map());
    this.#maxFlows = maxFlows;
  }

  get count(): number {
    return this.#tables.reduce((sum, { size }) => sum + size, 0);
  }

  sizeOf(table: number): number {
    return this.#tables[table]?.size ?? 0;
  }

  has(table: number): boolean {
    return table < this.#tables.length;
  }

  /** False: the table is full. */
  add(flow: Flow): boolean {
    const table = this.#tables[flow.table];
    const key = `${flow.priority} ${keyOf(flow.match)}`;
    const known = table?.get(key);
    if (table === undefined || (known === undefined && table.size >= this.#maxFlows)) return false;
    if (known !== undefined) this.#timed.delete(known);
    table.set(key, flow);
    if (flow.idleSec > 0 || flow.hardSec > 0) this.#timed.add(flow);
    return true;
  }

  select({ table, match, priority, isStrict, cookie, cookieMask }: FlowSelector): Flow[] {
    const tables = table < 0 ? this.#tables : [this.#tables[table] ?? new Map<string, Flow>()];
    const isMeant = (flow: Flow) =>
      (flow.cookie & cookieMask) === (cookie & cookieMask) && (isStrict || covers(match, flow.match));
    if (!isStrict) return tables.flatMap((one) => one.values().filter(isMeant).toArray());
    const key = `${priority} ${keyOf(match)}`;
    return tables.flatMap((one) => one.get(key) ?? []).filter(isMeant);
  }

  remove(flow: Flow): void {
    this.#tables[flow.table]?.delete(`${flow.priority} ${keyOf(flow.match)}`);
    this.#timed.delete(flow);
  }

  clear(): void {
    for (const table of this.#tables) table.clear();
    this.#timed.clear();
  }

  /** The flow of the highest priority that takes a packet. */
  find(table: number, fields: ReadonlyMap<number, bigint>): Flow | undefined {
    let best: Flow | undefined;
    for (const flow of this.#tables[table]?.values() ?? [])
      if ((best === undefined || flow.priority > best.priority) && takes(flow.match, fields)) best = flow;
    return best;
  }

  /** Removes the flows whose time is over. */
  expire(nowMs: number, onRemoved: (flow: Flow, reason: number) => void): void {
    for (const flow of this.#timed) {
      const isOld = flow.hardSec > 0 && nowMs >= flow.sinceMs + flow.hardSec * 1000;
      const isIdle = flow.idleSec > 0 && nowMs >= flow.usedMs + flow.idleSec * 1000;
      if (!isOld && !isIdle) continue;
      this.remove(flow);
      onRemoved(flow, isOld ? removedReason.hard : removedReason.idle);
    }
  }
}
