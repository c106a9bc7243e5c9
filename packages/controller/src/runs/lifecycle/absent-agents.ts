import { runStatus } from '@rushhour/contract';
import { isDone, type RunView } from './run-view.ts';

/** After a longer pause of this process absence is counted anew. */
const pauseMs = 5000;

interface Absences {
  lookedAt: number;
  /** By agent: since when it has had no connection. */
  readonly since: Map<number, number>;
}

/**
 * Agents of active runs that have no connection, and for how long. The word that an agent is lost may be missed, such as
 * while a run is begun or between controllers; a run must not wait for it for ever. Times are monotonic milliseconds.
 */
export class AbsentAgents {
  readonly #runs = new Map<number, Absences>();

  /** Agents of the run that have been absent for longer than `limitMs`. To be asked at every look at the run. */
  look({ run, agents }: RunView, isOnline: (agentId: number) => boolean, now: number, limitMs: number): number[] {
    const isWaiting = run.status > runStatus.queued && run.status < runStatus.stopping;
    const absent = isWaiting ? agents.filter((agent) => !isDone(agent) && !isOnline(agent.agentID)) : [];
    if (absent.length === 0) {
      this.#runs.delete(run.id);
      return [];
    }
    const known = this.#runs.get(run.id);
    const before = known !== undefined && now - known.lookedAt <= pauseMs ? known.since : new Map<number, number>();
    const since = new Map(absent.map(({ agentID }) => [agentID, before.get(agentID) ?? now]));
    this.#runs.set(run.id, { lookedAt: now, since });
    return [...since].filter(([, at]) => now - at > limitMs).map(([agentId]) => agentId);
  }

  forget(runId: number): void {
    this.#runs.delete(runId);
  }
}
