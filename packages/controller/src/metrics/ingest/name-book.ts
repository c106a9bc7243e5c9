import type { Series, Summary } from '@rushhour/protocol';
import type { Part, Second } from './second.ts';

export type MetricKind = 'counter' | 'gauge' | 'histogram';
type Kind = MetricKind | 'target' | 'reported';

export interface Metric {
  readonly kind: MetricKind;
  readonly name: string;
}

/** How a name is stored: its kind comes first, so that a number says what it stands for. */
const marks: Readonly<Record<Kind, string>> = {
  counter: 'c ',
  gauge: 'g ',
  histogram: 'h ',
  target: 't ',
  reported: 's ',
};
const kindOfMark = new Map(Object.entries(marks).map(([kind, mark]) => [mark, kind as Kind]));

const reportedKey = (group: number, metric: number) => group * 2 ** 20 + metric;

/** Stands for what concerns no target. */
export const noTarget = 0;

/**
 * The names of a run and their numbers, from 1. Names are only ever added. That a side has said something of a metric is
 * written down as a name too: silence means something else where nobody ever spoke.
 */
export class NameBook {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [''];
  readonly #metrics = new Map<number, Metric>();
  readonly #reported = new Set<number>();
  /** Not stored yet. */
  #fresh: { number: number; name: string }[] = [];

  constructor(stored: readonly { number: number; name: string }[] = []) {
    for (const { number, name } of stored) this.#enter(number, name);
  }

  get fresh(): readonly { number: number; name: string }[] {
    return this.#fresh;
  }

  /** What was fresh is stored now. */
  settle(): void {
    this.#fresh = [];
  }

  get size(): number {
    return this.#names.length - 1;
  }

  get metrics(): ReadonlyMap<number, Metric> {
    return this.#metrics;
  }

  targetOf(number: number): string {
    return number === noTarget ? '' : (this.#names[number] ?? '').slice(2);
  }

  numberOf(kind: Kind, name: string): number {
    if (kind === 'target' && name === '') return noTarget;
    const marked = marks[kind] + name;
    const known = this.#numbers.get(marked);
    if (known !== undefined) return known;
    const number = this.#names.length;
    this.#enter(number, marked);
    this.#fresh.push({ number, name: marked });
    return number;
  }

  /** Whether a side, by its number, has ever reported a metric, by its number. */
  hasReported(group: number, metric: number): boolean {
    return this.#reported.has(reportedKey(group, metric));
  }

  noteReported(group: number, { parts }: Second): void {
    for (const { scalars, histograms } of parts) {
      for (const metric of scalars.keys()) this.#say(group, metric);
      for (const metric of histograms.keys()) this.#say(group, metric);
    }
  }

  secondOf({ seq, at, spanMs, phase, series }: Summary): Second {
    return { seq, at: Math.round(at), spanMs, phase, parts: series.map((one) => this.#partOf(one)) };
  }

  /** The way back; needs no names but those that are known. */
  summaryOf({ seq, at, spanMs, phase, parts }: Second): Summary {
    return { seq, at, spanMs, phase, series: parts.map((part) => this.#seriesOf(part)) };
  }

  #say(group: number, metric: number): void {
    if (!this.#reported.has(reportedKey(group, metric))) this.numberOf('reported', `${group} ${metric}`);
  }

  #enter(number: number, marked: string): void {
    this.#numbers.set(marked, number);
    this.#names[number] = marked;
    const kind = kindOfMark.get(marked.slice(0, 2));
    if (kind === 'reported') {
      const [group = 0, metric = 0] = marked.slice(2).split(' ').map(Number);
      this.#reported.add(reportedKey(group, metric));
    } else if (kind !== undefined && kind !== 'target') this.#metrics.set(number, { kind, name: marked.slice(2) });
  }

  #partOf({ target, counters, gauges, histograms }: Series): Part {
    const scalars = new Map<number, number>();
    for (const name in counters) scalars.set(this.numberOf('counter', name), counters[name] as number);
    for (const name in gauges) scalars.set(this.numberOf('gauge', name), gauges[name] as number);
    const packed = new Map<number, Uint8Array>();
    for (const name in histograms) {
      packed.set(this.numberOf('histogram', name), Buffer.from(histograms[name] as string, 'base64'));
    }
    return { target: this.numberOf('target', target), scalars, histograms: packed };
  }

  #seriesOf({ target, scalars, histograms }: Part): Series {
    const series: Series = { target: this.targetOf(target), counters: {}, gauges: {}, histograms: {} };
    for (const [number, value] of scalars) {
      const metric = this.#metrics.get(number);
      if (metric !== undefined) series[metric.kind === 'gauge' ? 'gauges' : 'counters'][metric.name] = value;
    }
    for (const [number, bytes] of histograms) {
      const metric = this.#metrics.get(number);
      if (metric !== undefined) series.histograms[metric.name] = Buffer.from(bytes).toString('base64');
    }
    return series;
  }
}
