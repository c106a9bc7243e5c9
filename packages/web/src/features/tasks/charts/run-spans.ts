import { type ConfigurationEntry, findPlugin, type RunEvent, runStatus, suitePluginId } from '@rushhour/contract';
import type { Span } from '../../../components/charts/chart.ts';
import { text } from '../../../lib/text.ts';

const { run } = text;
const colors = { ramp: '#1971c2', warmUp: '#868e96', pause: '#e8590c', stage: '#1971c2', otherStage: '#7048e8' };

interface SpanInput {
  readonly configuration: readonly ConfigurationEntry[];
  readonly events: readonly RunEvent[];
  /** First and last point of the charts, Unix time in milliseconds. */
  readonly from: number;
  readonly to: number;
}

interface Duration {
  readonly seconds?: number;
  readonly rampUpSec?: number;
  readonly rampDownSec?: number;
  readonly warmUpSec?: number;
  readonly stages?: readonly { readonly seconds: number; readonly target: number }[];
}

/** Stages, ramps and warm-up where they are the same for all traffic, and all pauses. */
export const spansOf = ({ configuration, events, from, to }: SpanInput): Span[] =>
  [...phasesOfTask(configuration, from), ...pausesOf(events, to)].filter(
    (span) => span.to > span.from && span.from < to,
  );

const phasesOfTask = (configuration: readonly ConfigurationEntry[], from: number): Span[] => {
  const [first, ...others] = configuration;
  if (first === undefined) return [];
  if (others.length === 0 && first.plugin.id === suitePluginId) return suiteSpans(first, from);
  const isSame = others.every((other) => JSON.stringify(durationOf(other)) === JSON.stringify(durationOf(first)));
  return isSame ? phasesOf(durationOf(first), from) : [];
};

const durationOf = ({ values = {} }: Pick<ConfigurationEntry, 'values'>): Duration =>
  (values['duration'] ?? {}) as Duration;

const phasesOf = (duration: Duration, from: number): Span[] => {
  const { seconds = 0, rampUpSec = 0, rampDownSec = 0, warmUpSec = 0, stages = [] } = duration;
  const at = (second: number) => from + second * 1000;
  if (stages.length > 0) {
    return sequenceOf(
      stages.map(({ seconds: length, target }) => [length, target.toLocaleString('en')]),
      from,
    );
  }
  return [
    { from, to: at(rampUpSec), label: run.phases.rampUp, color: colors.ramp },
    { from: at(rampUpSec), to: at(warmUpSec), label: run.phases.warmUp, color: colors.warmUp },
    ...(seconds > 0
      ? [{ from: at(seconds - rampDownSec), to: at(seconds), label: run.phases.rampDown, color: colors.ramp }]
      : []),
  ];
};

/** One after another, each with its length in seconds and what it is. */
const sequenceOf = (parts: readonly (readonly [number, string])[], from: number): Span[] => {
  let start = from;
  return parts.map(([seconds, what], i) => {
    const span = { from: start, to: start + seconds * 1000 };
    start = span.to;
    return { ...span, label: run.stage(i + 1, what), color: i % 2 === 0 ? colors.stage : colors.otherStage };
  });
};

/** Entries of the same order run together; the next order begins when all of them have had their time. */
const suiteSpans = ({ subplugins }: ConfigurationEntry, from: number): Span[] => {
  const orders = Map.groupBy(subplugins?.subplugins ?? [], ({ order = 0 }) => order);
  const parts = [...orders]
    .sort(([a], [b]) => a - b)
    .map(([, entries]) => {
      const lengths = entries.map((entry) => (entry.startAfterSec ?? 0) + (durationOf(entry).seconds ?? 0));
      const names = entries.map(({ plugin }) => findPlugin(plugin.id)?.title ?? '');
      return [Math.max(0, ...lengths), [...new Set(names)].join(', ')] as const;
    });
  return sequenceOf(parts, from);
};

const pausesOf = (events: readonly RunEvent[], to: number): Span[] =>
  events.flatMap(({ ts, data }, i) => {
    if (data['status'] !== runStatus.paused) return [];
    const next = events.slice(i + 1).find((event) => typeof event.data['status'] === 'number');
    return [{ from: Date.parse(ts), to: next ? Date.parse(next.ts) : to, label: run.paused, color: colors.pause }];
  });
