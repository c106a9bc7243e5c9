import type { GoalResult, GoalTrial } from '@rushhour/contract';
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

/** Result and trials of every search. */
export const goalSection = (goals: readonly GoalResult[]): string =>
  goals
    .map(({ configurationIndex, metric, best, isLowerBound, limit, trials, isDone }) => {
      const found = best === null ? 'no load passed' : `${isLowerBound ? 'at least ' : ''}${count(best)} ${metric}`;
      const state = isDone ? '' : ' (the search did not end)';
      const head = ['Trial', 'Offered', 'Begun', 'Bits/s', 'Outcome', 'Limit', 'Reason'];
      return `<p>Entry ${configurationIndex}: <strong>${found}</strong>${state}. Limited by ${limits[limit]}.</p>${table(head, trials.map(trialRow))}`;
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
