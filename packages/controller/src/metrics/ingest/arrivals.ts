import type { RowsRecord, RunReport, Summary } from '@rushhour/protocol';
import type { RecordRow } from '../../store/runs/run-attempts.ts';
import type { RunRow } from '../../store/runs/run-rows.ts';
import type { SampleRow } from '../../store/runs/samples.ts';
import { isHistogram } from '../rollup/histogram-sum.ts';
import { blockOf, type OpenRun, type Stream } from './open-run.ts';
import { packSeconds, storedPlain } from './packing.ts';
import type { Second } from './second.ts';

export type SummariesReport = Extract<RunReport, { type: 'summaries' }>;

const maxNameLength = 256;
const maxNames = 50_000;

const isValidName = (name: string) => name.length <= maxNameLength && !name.includes('\0');

const isRows = (record: unknown): record is RowsRecord => (record as { side?: unknown } | null)?.side === 'rows';

/** The span of time that samples of a run may be of, in milliseconds since 1970. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Whether a summary can be kept: what is stored must be readable for ever. */
const isValid = ({ at, series }: Summary, { from, to }: TimeSpan): boolean =>
  at >= from &&
  at <= to &&
  series.every(
    ({ target, counters, gauges, histograms }) =>
      isValidName(target) &&
      [counters, gauges, histograms].every((values) => Object.keys(values).every(isValidName)) &&
      Object.values(histograms).every((text) => isHistogram(Buffer.from(text, 'base64'))),
  );

/** What has come for one run and is not stored yet. */
export class RunArrivals {
  readonly run: OpenRun;
  /** What jobs told of single attempts. */
  readonly records: RecordRow[] = [];
  /** Rows of tables, oldest first. */
  readonly tableRows: RunRow[] = [];
  readonly areLate: boolean;
  readonly #span: TimeSpan;
  readonly #seconds = new Map<Stream, Map<number, Second>>();
  /** What another controller has stored. */
  readonly #stored = new Map<Stream, Map<number, Second>>();

  /** `areLate`: the run has ended; what was made of its samples is void. */
  constructor(run: OpenRun, span: TimeSpan, areLate = false) {
    this.run = run;
    this.areLate = areLate;
    this.#span = span;
  }

  /** The jobs that have reported something, be it only what was known already. */
  get streams(): IterableIterator<Stream> {
    return this.#seconds.keys();
  }

  /** The same, and those of which another controller stored something. */
  get touched(): Set<Stream> {
    return new Set([...this.#seconds.keys(), ...this.#stored.keys()]);
  }

  /** Says how many summaries were refused. What is known already is passed over. */
  add(stream: Stream, summaries: readonly Summary[]): number {
    let fresh = this.#seconds.get(stream);
    if (fresh === undefined) {
      fresh = new Map();
      this.#seconds.set(stream, fresh);
    }
    let refused = 0;
    const { names } = this.run;
    for (const summary of summaries) {
      if (this.#isKnown(stream, summary.seq)) continue;
      if (!isValid(summary, this.#span) || names.size >= maxNames) {
        refused += 1;
        continue;
      }
      this.#addRecords(stream, summary);
      const second = names.secondOf(summary);
      names.noteReported(stream.side.group, second);
      fresh.set(summary.seq, second);
    }
    return refused;
  }

  /** Takes in what another controller has stored. */
  addStored(stream: Stream, seconds: readonly Second[]): void {
    for (const second of seconds) {
      if (this.#isKnown(stream, second.seq)) continue;
      const stored = this.#stored.get(stream) ?? new Map<number, Second>();
      this.#stored.set(stream, stored.set(second.seq, second));
    }
  }

  #isKnown(stream: Stream, seq: number): boolean {
    const isHere = this.#seconds.get(stream)?.has(seq) || this.#stored.get(stream)?.has(seq);
    return isHere || stream.ranges.has(seq);
  }

  #addRecords({ agentId, order }: Stream, { seq, records: reported = [] }: Summary): void {
    const of = { runID: this.run.facts.runId, agentID: agentId, orderIndex: order };
    const records = reported.filter((record) => !isRows(record));
    if (records.length > 0) this.records.push({ ...of, seq, records });
    for (const { table, rows } of reported.filter(isRows)) {
      for (const { index, state, cells } of rows) {
        this.tableRows.push({ ...of, tableName: table, rowIndex: index, state, cells });
      }
    }
  }

  secondsOf(stream: Stream): Second[] {
    return inOrder([...(this.#seconds.get(stream)?.values() ?? []), ...(this.#stored.get(stream)?.values() ?? [])]);
  }

  /** What is to be written. */
  get rows(): SampleRow[] {
    return [...this.#seconds].flatMap(([stream, fresh]) =>
      piecesOf(inOrder([...fresh.values()])).map((piece) => rowOf(this.run, stream, piece)),
    );
  }
}

const inOrder = (seconds: Second[]) => seconds.sort((a, b) => a.seq - b.seq);

/** Seconds that follow one another within one block. */
export const piecesOf = (seconds: readonly Second[]): Second[][] => {
  const pieces: Second[][] = [];
  for (const second of seconds) {
    const piece = pieces.at(-1);
    const last = piece?.at(-1);
    if (piece && last && second.seq === last.seq + 1 && blockOf(second.seq) === blockOf(last.seq)) piece.push(second);
    else pieces.push([second]);
  }
  return pieces;
};

const rowOf = ({ facts }: OpenRun, { agentId, order }: Stream, piece: readonly Second[]): SampleRow => ({
  runID: facts.runId,
  agentID: agentId,
  orderIndex: order,
  ...spanOf(piece),
  isBlock: 0,
  data: storedPlain(packSeconds(piece)),
});

/** First and last of consecutive seconds, as columns. */
export const spanOf = (seconds: readonly Second[]) => {
  const first = seconds[0] as Second;
  const last = seconds.at(-1) as Second;
  return { fromSeq: first.seq, toSeq: last.seq, fromAt: first.at, toAt: last.at };
};
