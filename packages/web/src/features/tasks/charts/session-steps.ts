import type { MetricValue, RunSummary } from '@rushhour/contract';
import { text } from '../../../lib/text.ts';

const prefix = 'access.inStep.';

export interface SessionStep {
  readonly label: string;
  /** Sessions that are in the step now. */
  readonly count: number;
  readonly kind: 'waiting' | 'setup' | 'up' | 'over';
}

const kinds: Readonly<Record<string, SessionStep['kind']>> = {
  idle: 'waiting',
  waiting: 'waiting',
  up: 'up',
  closing: 'over',
  ended: 'over',
};

/** The steps that sessions of a run go through, in their order. */
export const sessionStepsOf = (summary: RunSummary): SessionStep[] => {
  const metrics = summary.flatMap((side) => side.metrics);
  return Object.entries(text.rows.steps).flatMap(([name, label]) => {
    const found = metrics.filter(({ metric }) => metric === `${prefix}${name}`);
    if (found.length === 0) return [];
    const count = found.reduce((sum, { last }) => sum + (last ?? 0), 0);
    return [{ label, count, kind: kinds[name] ?? 'setup' }];
  });
};

export interface SessionDelay {
  readonly key: string;
  readonly label: string;
  readonly metric: MetricValue;
}

/** The times that were measured of sessions, ports and switches, in the order of the setup, by entry and side. */
export const sessionDelaysOf = (summary: RunSummary): SessionDelay[] => {
  const measured = summary.map((side) => ({
    side: `${side.configurationIndex + 1} ${side.role}`,
    found: side.metrics.filter(({ metric, count }) => metric.startsWith('access.') && (count ?? 0) > 0),
  }));
  const isOne = measured.filter(({ found }) => found.length > 0).length === 1;
  return Object.entries(text.rows.delays).flatMap(([name, label]) =>
    measured.flatMap(({ side, found }) =>
      found
        .filter(({ metric }) => metric === `access.${name}`)
        .map((metric) => ({ key: `${name} ${side}`, label: isOne ? label : `${label} (${side})`, metric })),
    ),
  );
};
