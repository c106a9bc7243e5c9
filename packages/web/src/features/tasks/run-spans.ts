import { type ConfigurationEntry, type RunEvent, runStatus } from '@rushhour/contract';
import type { Span } from '../../components/charts/chart.ts';
import { text } from '../../lib/text.ts';

const { run } = text;
const colors = { ramp: '#1971c2', warmUp: '#868e96', pause: '#e8590c' };

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
}

/** Ramps and warm-up of a task with one entry, and all pauses. */
export const spansOf = ({ configuration, events, from, to }: SpanInput): Span[] => {
  const [only, ...others] = configuration;
  const phases = only === undefined || others.length > 0 ? [] : phasesOf(durationOf(only), from);
  return [...phases, ...pausesOf(events, to)].filter((span) => span.to > span.from && span.from < to);
};

const durationOf = ({ values = {} }: ConfigurationEntry): Duration => (values['duration'] ?? {}) as Duration;

const phasesOf = ({ seconds = 0, rampUpSec = 0, rampDownSec = 0, warmUpSec = 0 }: Duration, from: number): Span[] => {
  const at = (second: number) => from + second * 1000;
  return [
    { from, to: at(rampUpSec), label: run.phases.rampUp, color: colors.ramp },
    { from: at(rampUpSec), to: at(warmUpSec), label: run.phases.warmUp, color: colors.warmUp },
    ...(seconds > 0
      ? [{ from: at(seconds - rampDownSec), to: at(seconds), label: run.phases.rampDown, color: colors.ramp }]
      : []),
  ];
};

const pausesOf = (events: readonly RunEvent[], to: number): Span[] =>
  events.flatMap(({ ts, data }, i) => {
    if (data['status'] !== runStatus.paused) return [];
    const next = events.slice(i + 1).find((event) => typeof event.data['status'] === 'number');
    return [{ from: Date.parse(ts), to: next ? Date.parse(next.ts) : to, label: run.paused, color: colors.pause }];
  });
