import { runStatus } from '@rushhour/contract';
import { agentIn, isDone, isGone, type RunView } from './run-view.ts';

/** The active runs as last read, and the health of their agents, which is not stored. */
export class ActiveRunCache {
  readonly #views = new Map<number, RunView>();
  /** Agents whose heartbeat is late. */
  readonly suspects = new Set<number>();
  /** By run: agents that have not reconnected since the controller started. */
  readonly #awaited = new Map<number, { agents: Set<number>; until: number }>();

  get runIds(): number[] {
    return [...this.#views.keys()];
  }

  find(runId: number): RunView | undefined {
    return this.#views.get(runId);
  }

  keep(view: RunView): void {
    this.#views.set(view.run.id, view);
  }

  forget(runId: number): void {
    this.#views.delete(runId);
    this.#awaited.delete(runId);
  }

  clear(): void {
    this.#views.clear();
    this.#awaited.clear();
    this.suspects.clear();
  }

  /** Started runs that still expect something of the agent. */
  runsOf(agentId: number): number[] {
    return [...this.#views.values()]
      .filter((view) => {
        const { run } = view;
        const agent = agentIn(view, agentId);
        return run.status !== runStatus.queued && agent !== undefined && (!isDone(agent) || agent.state === 'lost');
      })
      .map(({ run }) => run.id);
  }

  await(runId: number, agentIds: readonly number[], until: number): void {
    if (agentIds.length > 0) this.#awaited.set(runId, { agents: new Set(agentIds), until });
  }

  isAwaited(runId: number, agentId: number): boolean {
    return this.#awaited.get(runId)?.agents.has(agentId) ?? false;
  }

  hasReturned(runId: number, agentId: number): void {
    const awaited = this.#awaited.get(runId);
    awaited?.agents.delete(agentId);
    if (awaited?.agents.size === 0) this.#awaited.delete(runId);
  }

  /** Agents that did not return in time; they are no longer awaited. */
  takeMissing(runId: number, now: number): number[] {
    const awaited = this.#awaited.get(runId);
    if (awaited === undefined || now < awaited.until) return [];
    this.#awaited.delete(runId);
    return [...awaited.agents];
  }

  healthOf({ run, agents }: RunView): 'ok' | 'degraded' | 'recovering' {
    if (this.#awaited.has(run.id)) return 'recovering';
    const isWeak = agents.some((agent) => isGone(agent) || (!isDone(agent) && this.suspects.has(agent.agentID)));
    return isWeak ? 'degraded' : 'ok';
  }
}
