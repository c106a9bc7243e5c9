import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Client } from '@rushhour/client';
import type { Command, GroupState } from '../packages/controller/src/testing/simulated-agents.ts';

const program = fileURLToPath(new URL('../packages/controller/src/testing/simulated-agents.ts', import.meta.url));
const usesOfToken = 100;

/** Simulated agents in several processes. */
export class AgentGroups {
  readonly #groups: readonly ChildProcess[];
  #joins = 0;

  constructor(count: number) {
    this.#groups = Array.from({ length: count }, () => fork(program));
  }

  ask(command: Command): Promise<GroupState[]> {
    return Promise.all(this.#groups.map((group) => this.#askOne(group, command)));
  }

  /** Agents enrol, spread over the processes and the controllers. */
  async join(client: Client, urls: readonly string[], count: number): Promise<void> {
    this.#joins += 1;
    const each = Math.ceil(count / this.#groups.length);
    await Promise.all(
      this.#groups.map(async (group, i) => {
        const name = `group-${this.#joins}-${i}`;
        const mine = Math.max(0, Math.min(each, count - i * each));
        const tokens = await this.#tokens(client, name, Math.ceil(mine / usesOfToken));
        const url = urls[i % urls.length] ?? '';
        await this.#askOne(group, { kind: 'join', url, tokens, count: mine, name });
      }),
    );
  }

  insideOf(states: readonly GroupState[]): number {
    return states.reduce((sum, { inside }) => sum + inside, 0);
  }

  close(): void {
    for (const group of this.#groups) group.kill();
  }

  async #tokens(client: Client, name: string, count: number): Promise<string[]> {
    const tokens: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const body = { name: `${name}-${n}`, ttlSec: 600, maxUses: usesOfToken };
      tokens.push((await client.agents.createToken({ body })).data.token);
    }
    return tokens;
  }

  async #askOne(group: ChildProcess, command: Command): Promise<GroupState> {
    group.send(command);
    const [state] = await once(group, 'message');
    return state as GroupState;
  }
}
