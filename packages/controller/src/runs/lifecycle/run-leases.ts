import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { OwnedRun } from '../../agents/gateway/peers/peer-messages.ts';
import type { Executor } from '../../store/engine/database.ts';
import {
  dropLease,
  giveUpLeases,
  insertLease,
  type LeasedRun,
  leasedRuns,
  lockFence,
  lockFenceOfActive,
  presentControllers,
  removeController,
  renewController,
  takeLease,
} from '../../store/runs/run-leases.ts';
import type { Store } from '../../store/store.ts';

/** Another controller owns the run now. What was to be written is not. */
export class RunGivenAway extends Error {}

interface Deps {
  readonly store: Pick<Store, 'database' | 'read'>;
  /** Without renewal a lease ends after this time. */
  readonly leaseMs: number;
  readonly log: Logger;
  /** Called when this controller begins to own runs, or does so no longer. */
  onOwned?(runs: readonly OwnedRun[], isOwned: boolean): void;
  /** Called when runs have changed their owner: what is remembered of them may be old. */
  onMoved?(runIds: readonly number[]): void;
}

export interface LeaseChanges {
  /** Runs that this controller owns from now on. */
  readonly taken: readonly number[];
  /** Those of them that had another owner before: what their agents said in between is lost. */
  readonly orphaned: readonly number[];
  /** Runs that another controller took. */
  readonly lost: readonly number[];
}

/** A controller leaves most runs of one that is gone to the others, but not the last few. */
const fewRuns = 8;

/**
 * The runs that this controller owns. An active run has one owner, which alone conducts it; the others take the runs of
 * an owner that does not renew its lease. Every change of owner raises the fence of the run, and each transaction that
 * writes a run on behalf of its owner compares it: an owner that was held up writes nothing more.
 */
export class RunLeases {
  /** New with every start. */
  readonly owner = randomUUID();
  readonly #deps: Deps;
  readonly #fences = new Map<number, number>();
  readonly #isShared: boolean;
  /** Runs that were not among the active ones at the last look. */
  #absent = new Set<number>();
  /** Monotonic. */
  #validUntil = 0;
  #controllers: readonly string[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#isShared = deps.store.database.engine === 'postgres';
  }

  /** Whether this controller may act on the run at this moment. */
  owns(runId: number): boolean {
    return this.#fences.has(runId) && this.#isValid();
  }

  /** Work that any controller can do is done by one of those that are there, by its number. */
  isMine(number: number): boolean {
    if (!this.#isShared) return true;
    const { length } = this.#controllers;
    return length > 0 && this.#isValid() && this.#controllers[number % length] === this.owner;
  }

  /** A new run belongs to the controller that stores it. */
  async claim(tx: Executor, runId: number, agentIds: readonly number[]): Promise<void> {
    const isOwner = this.#isValid();
    await insertLease(tx, runId, isOwner ? this.owner : '', agentIds);
    if (!isOwner) return;
    this.#fences.set(runId, 1);
    this.#deps.onOwned?.([[runId, 1]], true);
  }

  /** Throws unless this controller owns the run until the end of the transaction. */
  async assertOwned(tx: Executor, runId: number): Promise<void> {
    const fence = this.#fences.get(runId);
    if (fence === undefined || (await lockFence(tx, runId)) !== fence)
      throw new RunGivenAway(`run ${runId} has another owner`);
  }

  /** Throws when another controller takes in what agents measure. After the end of a run anyone may. */
  async assertMayIngest(tx: Executor, runId: number): Promise<void> {
    const fence = await lockFenceOfActive(tx, runId);
    if (fence !== undefined && fence !== this.#fences.get(runId))
      throw new RunGivenAway(`run ${runId} has another owner`);
  }

  /** The run has ended. */
  async release(runId: number): Promise<void> {
    const fence = this.#fences.get(runId);
    if (fence === undefined) return;
    this.#fences.delete(runId);
    this.#deps.onOwned?.([[runId, fence]], false);
    await this.#deps.store.database.transaction((tx) => dropLease(tx, runId, fence));
  }

  /** Renews the lease, takes runs without an owner and notices those that others took. */
  async look(): Promise<LeaseChanges> {
    const { store, leaseMs, onOwned, onMoved } = this.#deps;
    if (this.#isShared) await this.#renew(leaseMs);
    const known = new Map(this.#fences);
    const rows = await leasedRuns(store.read);
    const current = new Map(rows.map(({ runId, owner, fence }) => [runId, owner === this.owner ? fence : undefined]));
    const lost = [...known].filter(([id, fence]) => current.has(id) && current.get(id) !== fence);
    for (const [id] of lost) this.#fences.delete(id);
    await this.#releaseAbsent([...known.keys()].filter((id) => !current.has(id)));
    const free = rows.filter((row) => this.#isFree(row));
    const taken = await this.#take(free);
    if (lost.length > 0) onOwned?.(lost, false);
    if (taken.length > 0) onOwned?.(taken, true);
    const hadOwner = new Set(free.flatMap(({ runId, owner }) => (owner === null ? [] : [runId])));
    const takenIds = taken.map(([id]) => id);
    const changes = {
      taken: takenIds,
      orphaned: takenIds.filter((id) => hadOwner.has(id)),
      lost: lost.map(([id]) => id),
    };
    if (lost.length + taken.length > 0) onMoved?.([...changes.lost, ...changes.taken]);
    return changes;
  }

  /** It acts on none of its runs any more; in the database they are still its own. */
  forget(): void {
    if (this.#fences.size > 0) this.#deps.onOwned?.([...this.#fences], false);
    this.#fences.clear();
    this.#validUntil = 0;
  }

  /** The others may take its runs at once. */
  async handOver(): Promise<void> {
    this.forget();
    await this.#deps.store.database.transaction(async (tx) => {
      await giveUpLeases(tx, this.owner);
      await removeController(tx, this.owner);
    });
  }

  #isValid(): boolean {
    return !this.#isShared || performance.now() < this.#validUntil;
  }

  async #renew(leaseMs: number): Promise<void> {
    const { store } = this.#deps;
    const askedAt = performance.now();
    await store.database.transaction((tx) => renewController(tx, this.owner, leaseMs));
    this.#validUntil = askedAt + leaseMs;
    this.#controllers = await presentControllers(store.read);
  }

  /**
   * Runs that were never stored, or that ended without a word. A run whose transaction is not committed yet is absent,
   * too: only those that are absent twice are released.
   */
  async #releaseAbsent(runIds: readonly number[]): Promise<void> {
    const before = this.#absent;
    this.#absent = new Set(runIds.filter((id) => !before.has(id)));
    for (const id of runIds) if (before.has(id)) await this.release(id);
  }

  #isFree({ runId, owner }: LeasedRun): boolean {
    if (owner === this.owner) return !this.#fences.has(runId);
    return owner === null || !this.#controllers.includes(owner);
  }

  async #take(free: readonly LeasedRun[]): Promise<OwnedRun[]> {
    const { log } = this.#deps;
    const share = Math.max(fewRuns, Math.ceil(free.length / Math.max(1, this.#controllers.length)));
    const taken: OwnedRun[] = [];
    for (const run of free.slice(0, share)) {
      const fence = await this.#takeOne(run);
      if (fence !== undefined) taken.push([run.runId, fence]);
    }
    if (taken.length > 0) log.info({ runs: taken }, 'took over runs without an owner');
    return taken;
  }

  /** Known before the commit: a controller that reads the new owner sends reports here, where the fence must be known. */
  async #takeOne(run: LeasedRun): Promise<number | undefined> {
    const before = this.#fences.get(run.runId);
    try {
      return await this.#deps.store.database.transaction(async (tx) => {
        const fence = await takeLease(tx, run, this.owner);
        if (fence !== undefined) this.#fences.set(run.runId, fence);
        return fence;
      });
    } catch (error) {
      if (before === undefined) this.#fences.delete(run.runId);
      else this.#fences.set(run.runId, before);
      throw error;
    }
  }
}
