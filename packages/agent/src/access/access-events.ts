import type { ResultRow } from '@rushhour/protocol';
import type { SessionCause } from '@rushhour/wire';
import { EventLines } from '../event-lines.ts';

/** Setups fail again and again: they are listed less often than what happens once. */
const reportsOfFailures = 10;

/** States in which everything begins: that they are reached first is no event. */
const firstStates: ReadonlySet<string> = new Set(['down', 'detached', 'discarding', 'listening', 'unknown', 'waiting']);

/** What happens to the sessions and ports of an entry, for the time line of its run. */
export class AccessEvents {
  readonly #progress: (message: string) => void;
  readonly #sessions: EventLines;
  readonly #failures: EventLines;
  readonly #ports: EventLines;
  readonly #states = new Map<string, string>();
  #isComplete = false;
  #reports = 0;

  constructor(progress: (message: string) => void) {
    this.#progress = progress;
    this.#sessions = new EventLines('sessions', progress);
    this.#failures = new EventLines('sessions', progress);
    this.#ports = new EventLines('ports', progress);
  }

  /** A session that was up is down; `row`: its number in the table of sessions. */
  onFlap(row: number, cause: SessionCause): void {
    this.#sessions.add(() => `session ${row}`, `down: ${cause}`);
  }

  /** A setup has failed. */
  onFailed(row: number, cause: SessionCause): void {
    if (cause !== 'stopped') this.#failures.add(() => `session ${row}`, `setup failed: ${cause}`);
  }

  /** An interface goes down on purpose, or comes back. */
  onLink(name: string, isUp: boolean): void {
    this.#ports.add(() => name, isUp ? 'link up' : 'link down');
  }

  /** The row of a port; an event if its state differs from that before. */
  followPort({ index, state, cells }: ResultRow): void {
    const { interface: name, protocol, role, instance, leader } = cells;
    const tree = (instance ?? 0) === 0 ? '' : ` (instance ${instance})`;
    const more = [role, state === 'follower' ? `of ${leader}` : undefined].filter((one) => one !== undefined);
    const text = [...(protocol === undefined ? [] : [`${protocol}`]), [state, ...more].join(' ')].join(' ');
    this.follow(`port ${index}`, () => `${name ?? `port ${index}`}${tree}`, { state, text });
  }

  /** An object that is reported with its state. */
  follow(key: string, subject: () => string, { state, text = state }: { state: string; text?: string }): void {
    const before = this.#states.get(key);
    if (before === text) return;
    this.#states.set(key, text);
    if (before !== undefined || !firstStates.has(state)) this.#ports.add(subject, text);
  }

  /** Lists what has happened since the last call. */
  report(isLast = false): void {
    this.#ports.report();
    this.#sessions.report();
    if (isLast || this.#reports++ % reportsOfFailures === 0) this.#failures.report();
  }

  /** All sessions have come up, for the first time or again. */
  followCount({ wanted, established }: { readonly wanted: number; readonly established: number }): void {
    const isComplete = wanted > 0 && established === wanted;
    if (isComplete && !this.#isComplete)
      this.#progress(wanted === 1 ? 'the session is up' : `all ${wanted} sessions are up`);
    this.#isComplete = isComplete;
  }
}
