import type { MetricValue, RunSummary } from '@rushhour/contract';

/** A journey, or one of its steps, in the results of a run. */
export interface JourneyRow {
  /** Of the entry, the journey and the step. */
  readonly key: string;
  readonly journey: string;
  /** Empty for the journey as a whole. */
  readonly step: string;
  readonly count: number;
  readonly errors: number;
  readonly failed: number;
  readonly time: MetricValue | undefined;
}

const journeyPrefix = 'http.journeyIterations.';
const stepPrefix = 'http.stepRequests.';

/** Journeys with their steps, from the metrics of a finished run. */
export const journeyRows = (summary: RunSummary): JourneyRow[] =>
  summary.flatMap(({ configurationIndex, role, metrics }) => {
    if (role !== 'client') return [];
    const find = (name: string) => metrics.find(({ metric }) => metric === name);
    const sumOf = (name: string) => find(name)?.sum ?? 0;
    const namesAfter = (prefix: string) =>
      metrics.flatMap(({ metric }) => (metric.startsWith(prefix) ? [metric.slice(prefix.length)] : []));
    const steps = namesAfter(stepPrefix);
    return namesAfter(journeyPrefix).flatMap((journey) => [
      {
        ...{ key: `${configurationIndex} ${journey}`, journey, step: '', errors: 0 },
        count: sumOf(`${journeyPrefix}${journey}`),
        failed: sumOf(`http.journeyFailed.${journey}`),
        time: find(`http.journeyTime.${journey}`),
      },
      ...steps
        .filter((name) => name.startsWith(`${journey}.`))
        .map((name) => ({
          ...{ key: `${configurationIndex} ${name}`, journey, step: name.slice(journey.length + 1) },
          count: find(`http.stepLatency.${name}`)?.count ?? sumOf(`${stepPrefix}${name}`),
          errors: sumOf(`http.stepErrors.${name}`),
          failed: sumOf(`http.stepChecksFailed.${name}`),
          time: find(`http.stepLatency.${name}`),
        })),
    ]);
  });
