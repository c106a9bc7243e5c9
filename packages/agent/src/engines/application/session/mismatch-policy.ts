import type { ApplicationConfig } from '@rushhour/protocol';
import type { Counter, EngineContext } from '../../../engine.ts';
import type { ScriptSession } from '../script.ts';
import type { Fault } from './receive-step.ts';

const maxNotes = 20;

/** Ends the run because of a mismatch. */
class TaskStopped extends Error {
  readonly code = 'MISMATCH';
}

/** Counts mismatches, notes the first ones in the result, and decides whether the session or run continues. */
export class MismatchPolicy {
  readonly #context: Pick<EngineContext<ApplicationConfig>, 'config' | 'samples' | 'note'>;
  readonly #mismatches: Counter;
  readonly #stopped = Promise.withResolvers<never>();
  #noted = 0;

  constructor(context: Pick<EngineContext<ApplicationConfig>, 'config' | 'samples' | 'note'>) {
    this.#context = context;
    this.#mismatches = context.samples.counter('application.mismatches');
    this.#stopped.promise.catch(() => {});
  }

  /** Rejects when the whole run must end. */
  get stopped(): Promise<never> {
    return this.#stopped.promise;
  }

  /** True when the session continues. */
  apply(session: ScriptSession, step: number, fault: Fault): boolean {
    const { config, samples, note } = this.#context;
    this.#mismatches.add(1);
    samples.counter(`application.mismatch.${session.index}-${step}`).add(1);
    const side = config.role === 'client' ? 'server' : 'client';
    const text = `session ${session.index} (${session.name}), step ${step} of the ${side} ${fault.text}`;
    if (this.#noted++ < maxNotes) note(text);
    if (config.onMismatch === 'stopTask') this.#stopped.reject(new TaskStopped(text));
    return config.onMismatch === 'continue';
  }
}
