import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
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
  onOwned?(runIds: readonly number[], isOwned: boolean): void;
  /** Called when runs have changed their owner: what is remembered of them may be old. */
  onMoved?(runIds: readonly number[]): void;
}

export interface LeaseChanges {
  /** Runs that this controller owns from now on. */
  readonly taken: readonly number[];
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
    this.#deps.onOwned?.([runId], true);
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
    this.#deps.onOwned?.([runId], false);
    await this.#deps.store.database.transaction((tx) => dropLease(tx, runId, fence));
  }

  /** Renews the lease, takes runs without an owner and notices those that others took. */
  async look(): Promise<LeaseChanges> {
    const { store, leaseMs, onOwned, onMoved } = this.#deps;
    if (this.#isShared) await this.#renew(leaseMs);
    const known = new Map(this.#fences);
    const rows = await leasedRuns(store.read);
    const current = new Map(rows.map(({ runId, owner, fence }) => [runId, owner === this.owner ? fence : undefined]));
    const lost = [...known].filter(([id, fence]) => current.has(id) && current.get(id) !== fence).map(([id]) => id);
    for (const id of lost) this.#fences.delete(id);
    const taken = await this.#take(rows.filter((row) => this.#isFree(row)));
    if (lost.length + taken.length > 0) onMoved?.([...lost, ...taken]);
    if (lost.length > 0) onOwned?.(lost, false);
    if (taken.length > 0) onOwned?.(taken, true);
    return { taken, lost };
  }

  /** Forgets what it owns, without a word to the others. */
  forget(): void {
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

  #isFree({ runId, owner }: LeasedRun): boolean {
    if (owner === this.owner) return !this.#fences.has(runId);
    return owner === null || !this.#controllers.includes(owner);
  }

  async #take(free: readonly LeasedRun[]): Promise<number[]> {
    const { store, log } = this.#deps;
    const share = Math.max(fewRuns, Math.ceil(free.length / Math.max(1, this.#controllers.length)));
    const taken: number[] = [];
    for (const run of free.slice(0, share)) {
      const fence = await store.database.transaction((tx) => takeLease(tx, run, this.owner));
      if (fence === undefined) continue;
      this.#fences.set(run.runId, fence);
      taken.push(run.runId);
    }
    if (taken.length > 0) log.info({ runIds: taken }, 'took over runs that nobody conducted');
    return taken;
  }
}
