import type { Attempt, ClientObservation } from '@rushhour/protocol';

/** The attempts of a client in order, with the rules for skipping. */
export class Sequence {
  readonly #attempts: readonly Attempt[];
  readonly #settled = new Map<number, PromiseWithResolvers<boolean>>();
  readonly #leftChannels = new Set<string>();
  #next = 0;
  #isStopped = false;

  constructor(attempts: readonly Attempt[]) {
    this.#attempts = attempts;
    const own = new Set(attempts.map(({ id }) => id));
    for (const { requires = [] } of attempts) {
      for (const id of requires) if (own.has(id)) this.#settled.set(id, Promise.withResolvers());
    }
  }

  next(): Attempt | undefined {
    return this.#attempts[this.#next++];
  }

  async reasonToSkip({ requires = [], channel }: Attempt): Promise<ClientObservation['skipped']> {
    for (const id of requires) {
      if ((await this.#settled.get(id)?.promise) === false) return 'requirement_failed';
    }
    if (this.#isStopped) return 'stopped';
    return channel !== undefined && this.#leftChannels.has(channel) ? 'channel_left' : undefined;
  }

  /** Records the outcome of an attempt as seen by the client. */
  settle({ id, onBlocked, channel }: Attempt, hasPassed: boolean, isSkipped: boolean): void {
    this.#settled.get(id)?.resolve(hasPassed);
    if (hasPassed || isSkipped) return;
    if (onBlocked === 'stop') this.#isStopped = true;
    if (onBlocked === 'next-channel' && channel !== undefined) this.#leftChannels.add(channel);
  }
}
