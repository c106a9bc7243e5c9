import type { GoalTrial } from '@rushhour/contract';
import { text } from '../../../lib/text.ts';
import classes from './trial-chart.module.css';

const { goals: words } = text.run;
const maxLabelled = 16;

interface TrialChartProps {
  trials: readonly GoalTrial[];
  best: number | null;
  loadText: (load: number) => string;
}

/** Offered loads as bars in the order of the trials, on a scale of doublings. */
export const TrialChart = ({ trials, best, loadText }: TrialChartProps) => {
  if (trials.length === 0) return null;
  const loads = trials.map(({ load }) => Math.log2(1 + load));
  // From just below the smallest load, so that neighbours can be told apart.
  const [low, high] = [Math.max(0, Math.min(...loads) - 1), Math.max(...loads)];
  return (
    <div
      className={classes['chart']}
      role="img"
      aria-label={words.chart(trials.map((trial) => barText(trial, loadText)))}
    >
      {trials.map((trial, index) => (
        <div key={trial.number} className={classes['trial']} title={barText(trial, loadText)}>
          {trials.length <= maxLabelled && <span className={classes['load']}>{loadText(trial.load)}</span>}
          <div
            className={classes['bar']}
            data-passed={trial.passed}
            data-best={trial.passed && trial.load === best}
            style={{ height: `${(80 * ((loads[index] ?? 0) - low)) / Math.max(0.1, high - low)}%` }}
          />
          <span className={classes['number']}>{trial.number}</span>
        </div>
      ))}
    </div>
  );
};

const barText = ({ number, load, passed }: GoalTrial, loadText: (load: number) => string) =>
  words.bar(number, loadText(load), passed ? words.passed : words.failed);
