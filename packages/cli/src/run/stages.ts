import type { LoadChange } from '@rushhour/contract';
import { UsageError } from '../exit-codes.ts';

/** A part of a run with one rate. */
export interface Stage {
  readonly seconds: number;
  readonly rate: number;
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** `30s:500`: for 30 seconds at 500 a second. */
export const parseStage = (text: string): Stage => {
  const [, amount = '', unit = 's', rate = ''] = /^(\d+)(s|m|h)?:(\d+)$/.exec(text) ?? [];
  const stage = { seconds: Number(amount) * (units[unit] ?? 1), rate: Number(rate) };
  if (stage.seconds < 1 || stage.rate < 1) {
    throw new UsageError(`--stage takes TIME:RATE such as 30s:500, not "${text}"`);
  }
  return stage;
};

const rateMembers = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond'] as const;

interface Entry {
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

/** The change that gives every entry with a rate this rate. */
export const loadChanges = (configuration: readonly Entry[], rate: number): LoadChange[] =>
  configuration.flatMap(({ values = {} }, index) => {
    const member = rateMembers.find((name) => values[name] !== undefined);
    return member === undefined ? [] : [{ index, [member]: rate }];
  });

/** The same entries, as long as all stages and with the rate of the first. */
export const staged = <E extends Entry>(configuration: readonly E[], stages: readonly Stage[]): E[] => {
  const seconds = stages.reduce((sum, stage) => sum + stage.seconds, 0);
  const first = loadChanges(configuration, stages[0]?.rate ?? 0);
  if (first.length === 0) throw new UsageError('--stage needs a task with a rate, such as requestsPerSecond');
  return configuration.map((entry, i) => {
    const { index: _, ...rate } = first.find(({ index }) => index === i) ?? { index: i };
    const duration = { ...(entry.values?.['duration'] as object | undefined), mode: 'time', seconds };
    return { ...entry, values: { ...entry.values, ...rate, duration } };
  });
};

/** The stage a run is in after so many seconds; undefined after the last. */
export const stageAt = (stages: readonly Stage[], elapsedSec: number): number | undefined => {
  let end = 0;
  const index = stages.findIndex(({ seconds }) => {
    end += seconds;
    return elapsedSec < end;
  });
  return index < 0 ? undefined : index;
};
