import type { MetricSeries, RunAgent, RunEvent, RunResult } from '@rushhour/contract';
import type { SecurityReport } from '../../security/verdicts/security-report.ts';

/** A chart of the report: lines over the same time. */
export interface ReportChart {
  readonly title: string;
  readonly unit: string;
  /** Milliseconds since 1970. */
  readonly t: readonly number[];
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

/** Everything a report says, whatever its form. */
export interface ReportData {
  readonly title: string;
  readonly generatedAt: string;
  /** The run has not ended: numbers will change. */
  readonly isPartial: boolean;
  readonly run: RunResult;
  readonly agents: readonly RunAgent[];
  readonly events: readonly RunEvent[];
  readonly charts: readonly ReportChart[];
  /** Null when the run was no security test. */
  readonly security: SecurityReport | null;
}

/** Lines of series that have any value, as one chart. */
export const chartOf = (
  title: string,
  unit: string,
  series: readonly (readonly [string, MetricSeries])[],
): ReportChart => {
  const t = series.find(([, { t: times }]) => times.length > 0)?.[1].t ?? [];
  const lines = series.flatMap(([label, { series: found }]) => {
    const values = found[0]?.values ?? [];
    return values.some((value) => value !== null) ? [{ label, values }] : [];
  });
  return { title, unit, t, lines };
};
