import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { NewRunEvent } from '../../store/runs/run-events.ts';
import type { RunPatch } from '../../store/runs/runs.ts';
import { agentIn, indexOfAgent, type RunView } from './run-view.ts';

/** Changes to the run and its agents that follow from an event. */
export interface Changes {
  readonly agents?: readonly RunAgentRecord[];
  readonly patch?: RunPatch;
  readonly events?: readonly NewRunEvent[];
  /** Agents to be reset before they get new work. */
  readonly toReset?: readonly number[];
}

export const isEmptyChange = ({ agents, patch, events, toReset }: Changes) =>
  !agents?.length && patch === undefined && !events?.length && !toReset?.length;

/** Collects the changes of several events on one run; each sees the previous ones, and all are stored together. */
export class ChangingRun {
  /** Of this object alone: changed in index, since a copy for each of ten thousand events would cost more than they do. */
  readonly #agents: RunAgentRecord[];
  readonly #changed = new Set<number>();
  readonly #events: NewRunEvent[] = [];
  readonly #toReset: number[] = [];
  #patch: RunPatch = {};
  #view: RunView;

  constructor(view: RunView) {
    this.#agents = [...view.agents];
    this.#view = { run: view.run, agents: this.#agents };
  }

  take(decide: (view: RunView) => Changes): void {
    const changes = decide(this.#view);
    if (isEmptyChange(changes)) return;
    const { agents = [], patch = {}, events = [], toReset = [] } = changes;
    for (const agent of agents) {
      const index = indexOfAgent(this.#view, agent.agentID);
      if (index === undefined) continue;
      this.#agents[index] = agent;
      this.#changed.add(agent.agentID);
    }
    this.#patch = { ...this.#patch, ...patch };
    this.#events.push(...events);
    this.#toReset.push(...toReset);
    this.#view = { run: { ...this.#view.run, ...patch }, agents: this.#agents };
  }

  get changes(): Changes {
    return {
      agents: [...this.#changed].flatMap((id) => agentIn(this.#view, id) ?? []),
      ...(Object.keys(this.#patch).length > 0 && { patch: this.#patch }),
      events: this.#events,
      toReset: this.#toReset,
    };
  }
}
