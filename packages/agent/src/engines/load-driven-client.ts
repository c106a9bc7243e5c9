import type { LoadChange, LoadChangeable, Pausable, PreparedEngine } from '../engine.ts';
import type { ClientLifecycle } from '../net/load/client-lifecycle.ts';
import type { LoadDriver } from '../net/load/load-driver.ts';

type LoadChangeResult = ReturnType<LoadChangeable['changeLoad']>;

/** A client whose load comes from load drivers. */
export abstract class LoadDrivenClient implements PreparedEngine, Pausable, LoadChangeable {
  /** Set by the constructor of the engine. */
  protected lifecycle!: ClientLifecycle;

  abstract start(): Promise<void>;
  abstract changeLoad(change: LoadChange): LoadChangeResult;
  /** Closes everything the engine has opened, after the last event was started. */
  protected abstract release(): Promise<void>;

  pause(): void {
    this.lifecycle.pause();
  }

  resume(): void {
    this.lifecycle.resume();
  }

  async close(): Promise<void> {
    this.lifecycle.close();
    await this.release();
  }
}

interface ChangeableRate {
  readonly engine: string;
  readonly member: keyof LoadChange;
  /** What is counted, in the plural, for messages. */
  readonly noun: string;
  readonly driver: LoadDriver;
}

/** Changes the only rate of a client. */
export const changeRate = (change: LoadChange, { engine, member, noun, driver }: ChangeableRate): LoadChangeResult => {
  const rate = change[member];
  if (rate === undefined) return { rejected: `${engine} has a rate of ${noun} only` };
  return driver.changeRate(rate) ? {} : { rejected: `this run has no rate of ${noun}` };
};
