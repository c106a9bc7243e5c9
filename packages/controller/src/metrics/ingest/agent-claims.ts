import { claimAgents, lockAgents } from '../../store/agents/agent-homes.ts';
import type { Database, Executor } from '../../store/engine/database.ts';

/** Other controllers take in what these agents measure. Nothing was written. */
export class AgentsMoved extends Error {
  readonly agentIds: readonly number[];

  constructor(agentIds: readonly number[]) {
    super(`other controllers take in what agents ${agentIds} measure`);
    this.agentIds = agentIds;
  }
}

/**
 * The agents whose measurements this controller takes in; of several that share a database one at a time does. Who claims
 * an agent finds on disk all that others stored of it, and they store nothing more.
 */
export class AgentClaims {
  readonly #database: Database;
  readonly #controller: string;
  readonly #held = new Set<number>();

  constructor(database: Database, controller: string) {
    this.#database = database;
    this.#controller = controller;
  }

  /** The agent has a new session, here or elsewhere. */
  drop(agentId: number): void {
    this.#held.delete(agentId);
  }

  /** Returns those that were not held before. */
  async claim(agentIds: Iterable<number>): Promise<number[]> {
    const fresh = [...new Set(agentIds)].filter((id) => !this.#held.has(id));
    if (fresh.length === 0) return fresh;
    // Held from now on: a session that begins meanwhile takes it back.
    for (const id of fresh) this.#held.add(id);
    try {
      await this.#database.transaction((tx) => claimAgents(tx, fresh, this.#controller));
    } catch (error) {
      for (const id of fresh) this.#held.delete(id);
      throw error;
    }
    return fresh;
  }

  /** Throws `AgentsMoved` unless all of them stay here until the end of the transaction. */
  async assertHeld(tx: Executor, agentIds: Iterable<number>): Promise<void> {
    const asked = [...new Set(agentIds)];
    const held = new Set(await lockAgents(tx, asked, this.#controller));
    const moved = asked.filter((id) => !held.has(id));
    for (const id of moved) this.#held.delete(id);
    if (moved.length > 0) throw new AgentsMoved(moved);
  }
}
