import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayGroup } from './gateway-group.ts';
import type { SessionGroup } from './session-group.ts';

/** Jobs of a run are prepared at once: a group that is not there after this time does not come. */
const registrationMs = 10_000;

/** Groups of one side, by the id that entries give them. */
class GroupRegistry<Group> {
  readonly #side: string;
  readonly #groups = new Map<number, PromiseWithResolvers<Group>>();

  constructor(side: string) {
    this.#side = side;
  }

  register(groupId: number, group: Group): void {
    this.#entry(groupId).resolve(group);
  }

  /** The group cannot be prepared. */
  fail(groupId: number, error: Error): void {
    this.#entry(groupId).reject(error);
  }

  /** The group, once the job that has it is prepared. */
  async find(groupId: number): Promise<Group> {
    const found = await Promise.race([
      this.#entry(groupId).promise,
      sleep(registrationMs, undefined, { ref: false }),
    ]).catch((error: Error) => {
      throw new Error(`access group ${groupId} has no ${this.#side}: ${error.message}`);
    });
    if (found === undefined) throw new Error(`this run has no ${this.#side} of access group ${groupId} on this agent`);
    return found;
  }

  #entry(groupId: number): PromiseWithResolvers<Group> {
    const known = this.#groups.get(groupId);
    if (known !== undefined) return known;
    const entry = Promise.withResolvers<Group>();
    // A group that no traffic uses may fail.
    entry.promise.catch(() => {});
    this.#groups.set(groupId, entry);
    return entry;
  }
}

/** The access groups of a run, which carry the traffic of its other jobs. */
export class AccessGroups {
  readonly subscribers = new GroupRegistry<SessionGroup>('sessions');
  readonly gateways = new GroupRegistry<GatewayGroup>('gateway');
}
