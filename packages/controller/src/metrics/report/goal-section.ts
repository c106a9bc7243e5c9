import { type GoalKpi, type GoalResult, type GoalTrial, rfc9411Tests } from '@rushhour/contract';
import { cell, numberText, table } from './report-text.ts';

const limits: Readonly<Record<GoalResult['limit'], string>> = {
  '': '–',
  path: 'the path with the device',
  generator: 'the agents themselves: the result is a lower bound',
  max: 'the highest load that was to be tried: the result is a lower bound',
};

const count = (value: number | null) => (value === null ? '–' : Math.round(value).toLocaleString('en'));

const trialRow = ({ number, load, reached, isRepeat, passed, bps, limit, reason }: GoalTrial) => {
  const numbers = [String(number), count(load), count(reached), bps === null ? '–' : numberText(bps, 'bit/s')];
  const outcome = `${passed ? 'passed' : 'failed'}${isRepeat ? ', repeated' : ''}`;
  return `<tr>${numbers.map((text) => cell(text, 'n')).join('')}${[outcome, limit, reason].map((text) => cell(text)).join('')}</tr>`;
};

/** The first trial and the one of the result: what RFC 9411 calls the initial and the final value. */
const telling = ({ trials, best }: GoalResult): readonly [GoalTrial | undefined, GoalTrial | undefined] => [
  trials[0],
  trials.findLast(({ passed, load }) => passed && load === best),
];

/** Shares of failures are small. */
const kpiText = (value: number | null | undefined, unit: string) =>
  unit === '%' && typeof value === 'number' ? `${value.toFixed(4)} %` : numberText(value, unit);

const kpiCells = (kpi: GoalKpi | undefined) =>
  [kpi?.min, kpi?.avg, kpi?.max].map((value) => cell(kpiText(value, kpi?.unit ?? ''), 'n')).join('');

/** Key performance indicators of the first trial and of the result. */
const kpiTable = (goal: GoalResult): string => {
  const [first, final] = telling(goal);
  const names = [...new Set([first, final].flatMap((trial) => trial?.kpis ?? []).map(({ name }) => name))];
  if (names.length === 0) return '';
  const kpiOf = (trial: GoalTrial | undefined, name: string) => trial?.kpis.find((kpi) => kpi.name === name);
  const rows = names.map(
    (name) => `<tr>${cell(name)}${kpiCells(kpiOf(first, name))}${kpiCells(kpiOf(final, name))}</tr>`,
  );
  const times = ['min', 'avg', 'max'];
  const head = ['KPI', ...times.map((time) => `Initial ${time}`), ...times.map((time) => `Result ${time}`)];
  return table(head, rows);
};

const targetTable = (goal: GoalResult): string => {
  const [first, final] = telling(goal);
  const row = [
    goal.metric,
    count(first?.load ?? null),
    count(goal.target),
    count(goal.best),
    count(final?.reached ?? null),
  ];
  const head = ['Objective', 'Initial', 'Target', 'Result', 'Measured'];
  return table(head, [`<tr>${row.map((text, index) => cell(text, index === 0 ? '' : 'n')).join('')}</tr>`]);
};

const headOf = ({ rfc9411 }: GoalResult): string =>
  rfc9411 === '' ? '' : `<h3>RFC 9411, ${rfc9411}: ${rfc9411Tests[rfc9411] ?? ''}</h3>`;

/** Result and trials of every search. */
export const goalSection = (goals: readonly GoalResult[]): string =>
  goals
    .map((goal) => {
      const { configurationIndex, metric, best, isLowerBound, limit, trials, isDone } = goal;
      const found = best === null ? 'no load passed' : `${isLowerBound ? 'at least ' : ''}${count(best)} ${metric}`;
      const state = isDone ? '' : ' (the search did not end)';
      const head = ['Trial', 'Offered', 'Begun', 'Bits/s', 'Outcome', 'Limit', 'Reason'];
      return `${headOf(goal)}<p>Entry ${configurationIndex}: <strong>${found}</strong>${state}. Limited by ${limits[limit]}.</p>${targetTable(goal)}${kpiTable(goal)}${table(head, trials.map(trialRow))}`;
    })
    .join('');

/** One line for each trial. */
export const goalLines = (runId: number, goals: readonly GoalResult[]): unknown[][] => [
  ...[
    [
      'run',
      'entry',
      'metric',
      'trial',
      'offered',
      'begun',
      'bps',
      'repeated',
      'passed',
      'limit',
      'reason',
      'best',
      'lowerBound',
    ],
  ],
  ...goals.flatMap(({ configurationIndex, metric, best, isLowerBound, trials }) =>
    trials.map(({ number, load, reached, bps, isRepeat, passed, limit, reason }) => [
      ...[runId, configurationIndex, metric, number, load, reached, bps, isRepeat, passed, limit, reason],
      ...[best, isLowerBound],
    ]),
  ),
];
