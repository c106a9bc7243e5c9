import type { AttackTarget, Attempt, AttemptRecord, Exchange, FindingObservation } from '@rushhour/protocol';
import { fieldsOf } from './minimise.ts';

type Kind = FindingObservation['kind'];

export interface Finding {
  readonly attempt?: Attempt;
  readonly target: AttackTarget;
  readonly detail: string;
  /** Exchange that reproduces the finding. */
  readonly reproducer?: Exchange;
  /** Findings of one kind with the same cause are one finding. */
  readonly cause?: string;
}

interface LogOptions {
  count(kind: Kind): void;
  note(text: string): void;
  record(record: AttemptRecord): void;
  elapsedMs(): number;
}

const maxReported = 100;
const maxRepeats = 1000;

/** What the client says, without the answers. */
export const causeOf = (exchange: Exchange): string =>
  JSON.stringify([shapeOf(exchange), fieldsOf(exchange).map(({ name, bytes }) => [name, bytes.toString('base64')])]);

/** Members that are never shortened. */
const shapeOf = (exchange: Exchange): string =>
  exchange.protocol === 'http'
    ? exchange.steps.map(({ request: { method, version } }) => `${method} ${version}`).join()
    : exchange.protocol;

/** Whether an input holds everything that a shorter one is known to need. */
const holds = (whole: Exchange, needed: Exchange): boolean => {
  const fields = fieldsOf(needed).filter(({ bytes }) => bytes.length > 0);
  const byName = new Map(fieldsOf(whole).map(({ name, bytes }) => [name, bytes]));
  return (
    fields.length > 0 &&
    shapeOf(whole) === shapeOf(needed) &&
    fields.every(({ name, bytes }) => byName.get(name)?.includes(bytes) === true)
  );
};

/** Reports each finding once, and further cases with the same cause as its repeats; counts all of them. */
export class FindingLog {
  readonly #options: LogOptions;
  readonly #first = new Map<string, number>();
  readonly #reported = new Map<Kind, number>();
  readonly #crashes: { readonly reproducer: Exchange; readonly cause: string }[] = [];
  #repeats = 0;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** The cause of a crash found before that this input holds. */
  knownCrash(exchange: Exchange): string | undefined {
    return this.#crashes.find(({ reproducer }) => holds(exchange, reproducer))?.cause;
  }

  add(kind: Kind, finding: Finding): void {
    const { attempt, cause, reproducer, detail } = finding;
    this.#options.count(kind);
    const key = cause === undefined ? undefined : `${kind} ${cause}`;
    const first = key === undefined ? undefined : this.#first.get(key);
    if (first !== undefined) {
      this.#repeat(kind, finding, first);
      return;
    }
    if (key !== undefined && attempt !== undefined) this.#first.set(key, attempt.id);
    if (kind === 'health-lost' && cause !== undefined && reproducer !== undefined)
      this.#crashes.push({ reproducer, cause });
    const reported = (this.#reported.get(kind) ?? 0) + 1;
    this.#reported.set(kind, reported);
    if (reported > maxReported) return;
    if (kind === 'health-lost') this.#options.note(`finding ${kind}: ${detail}`);
    this.#options.record(this.#observation(kind, finding));
  }

  #repeat(kind: Kind, { reproducer: _known, ...finding }: Finding, first: number): void {
    this.#repeats += 1;
    if (this.#repeats <= maxRepeats) this.#options.record({ ...this.#observation(kind, finding), repeats: first });
  }

  #observation(kind: Kind, { attempt, target, detail, reproducer }: Finding): FindingObservation {
    return {
      side: 'finding',
      kind,
      attempt: attempt?.id ?? null,
      name: attempt?.refName ?? '',
      target: `${target.host}:${target.port}`,
      detail: detail.slice(0, 500),
      ...(reproducer !== undefined && { reproducer }),
      atMs: this.#options.elapsedMs(),
    };
  }
}
