import type { GoalKpi, Rfc9411Result } from '@rushhour/contract';
import { cell, numberText, table } from './report-text.ts';

const units: Readonly<Record<string, string>> = { throughputBps: 'bit/s', concurrentSessions: '' };
const limits: Readonly<Record<Rfc9411Result['limit'], string>> = {
  ...{ '': '–', path: 'the path with the device' },
  ...{ generator: 'the agents (lower bound)', max: 'the target (lower bound)' },
};

const loadText = ({ metric }: Rfc9411Result, value: number | null) => numberText(value, units[metric] ?? '/s');

const objectText = ({ objectBytes }: Rfc9411Result) =>
  objectBytes === null ? 'mixed' : `${objectBytes.toLocaleString('en')} bytes`;

const outcomeOf = (test: Rfc9411Result): string => {
  const { result, isLowerBound, isDone } = test;
  const found = result === null ? 'none passed' : `${isLowerBound ? '≥ ' : ''}${loadText(test, result)}`;
  return isDone ? found : `${found} (not ended)`;
};

const row = (texts: readonly string[], words: number) =>
  `<tr>${texts.map((text, index) => cell(text, index < words ? '' : 'n')).join('')}</tr>`;

const objectives = (tests: readonly Rfc9411Result[]) =>
  table(
    ['Section', 'Test', 'Objects', 'Initial', 'Target', 'Result', 'Limited by'],
    tests.map((test) =>
      row(
        [
          ...[test.section, test.title, objectText(test), loadText(test, test.initial), loadText(test, test.target)],
          ...[outcomeOf(test), limits[test.limit]],
        ],
        3,
      ),
    ),
  );

const failedText = (value: number | null) => (value === null ? '–' : `${value.toFixed(4)} %`);
const valueText = ({ unit }: GoalKpi, value: number | null) =>
  unit === '%' ? failedText(value) : numberText(value, unit);

/** One row for each indicator that a test has, with what it was at first and at the result. */
const indicators = (tests: readonly Rfc9411Result[]) =>
  table(
    ['Section', 'KPI', 'Initial avg', 'Result min', 'Result avg', 'Result max'],
    tests.flatMap(({ section, kpis, initialKpis }) =>
      (kpis.length > 0 ? kpis : initialKpis).map((kpi) => {
        const first = initialKpis.find(({ name }) => name === kpi.name);
        const values = kpis.length > 0 ? [kpi.min, kpi.avg, kpi.max] : [null, null, null];
        const shown = values.map((value) => valueText(kpi, value));
        return row([section, kpi.name, valueText(kpi, first?.avg ?? null), ...shown], 2);
      }),
    ),
  );

const conditions = (tests: readonly Rfc9411Result[]) => {
  const lengths = [...new Set(tests.map(({ sustainSec }) => `${sustainSec} s`))].join(', ');
  const allowed = [...new Set(tests.map(({ maxFailedPct }) => (maxFailedPct === null ? 'any' : `${maxFailedPct} %`)))];
  return `<p>Sustain phase: ${lengths}. Allowed to fail: ${allowed.join(', ')}. The RFC asks for at least 300 s and for 0.001 %.</p>`;
};

/** Results of all tests of RFC 9411 in one place: objectives, then key performance indicators. */
export const rfc9411Section = (tests: readonly Rfc9411Result[]): string =>
  `${conditions(tests)}<h3>Test objectives</h3>${objectives(tests)}<h3>Key performance indicators</h3>${indicators(tests)}`;
