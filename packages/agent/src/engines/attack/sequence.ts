import type { Attempt, ClientObservation } from '@rushhour/protocol';

/** The attempts of a client in order, those of each host apart, with the rules for skipping. */
export class Sequence {
  /** By host; undefined for attempts without one. */
  readonly #queues: Map<number | undefined, Attempt[]>;
  readonly #settled = new Map<number, PromiseWithResolvers<boolean>>();
  readonly #leftChannels = new Set<string>();
  readonly #stoppedHosts = new Set<number | undefined>();

  constructor(attempts: readonly Attempt[]) {
    this.#queues = Map.groupBy(attempts, ({ host }) => host);
    for (const queue of this.#queues.values()) queue.reverse();
    const own = new Set(attempts.map(({ id }) => id));
    for (const { requires = [] } of attempts) {
      for (const id of requires) if (own.has(id)) this.#settled.set(id, Promise.withResolvers());
    }
  }

  get hosts(): number[] {
    return [...this.#queues.keys()].filter((host) => host !== undefined);
  }

  next(host: number | undefined): Attempt | undefined {
    return this.#queues.get(host)?.pop();
  }

  async reasonToSkip({ requires = [], channel, host }: Attempt): Promise<ClientObservation['skipped']> {
    for (const id of requires) {
      if ((await this.#settled.get(id)?.promise) === false) return 'requirement_failed';
    }
    if (this.#stoppedHosts.has(host)) return 'stopped';
    return channel !== undefined && this.#leftChannels.has(channel) ? 'channel_left' : undefined;
  }

  /** Records the outcome of an attempt as seen by the client. */
  settle({ id, onBlocked, channel, host }: Attempt, hasPassed: boolean, isSkipped: boolean): void {
    this.#settled.get(id)?.resolve(hasPassed);
    if (hasPassed || isSkipped) return;
    if (onBlocked === 'stop') this.#stoppedHosts.add(host);
    if (onBlocked === 'next-channel' && channel !== undefined) this.#leftChannels.add(channel);
  }
}
