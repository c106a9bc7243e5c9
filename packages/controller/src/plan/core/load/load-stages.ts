import {
  calibrationRate,
  firstLoadMember,
  type GoalValues,
  goalSeconds,
  idleLoad,
  loadCurveOf,
  type PluginSpec,
  stagesPeak,
  stagesSeconds,
} from '@rushhour/contract';
import type { Duration } from '@rushhour/protocol';
import type { CheckedValues } from '../checked-values.ts';

/** Members that give the load of an entry in events per second. */
export const rateMembers = [
  'requestsPerSecond',
  'packetsPerSecond',
  'sessionsPerSecond',
  'ppsPerConnection',
  'ipsecLoadHsRatePps',
] as const;

type Values = Readonly<Record<string, unknown>>;
const numberAt = (values: unknown, name: string): number | undefined => {
  const value = (values as Values | undefined)?.[name];
  return typeof value === 'number' ? value : undefined;
};

/** The rate that stages stand for when the entry gives none; undefined where a plugin has no rate. */
export const stagedRateOf = ({ schema }: PluginSpec): string | undefined =>
  rateMembers.find((name) => name in schema.properties);

/** What 100 % of the load is, in the unit in which the entry gives it. */
export const fullLoadOf = (values: Values): number | undefined => {
  if (values['rpsUnlimited'] === true) return numberAt(values['httpParams'], 'connections');
  if (values['ppsUnlimited'] === true) return undefined;
  const rates = rateMembers.map((name) => numberAt(values, name));
  const inPayload = ['rateBps', 'linePct'].map((name) => numberAt(values['payload'], name));
  return [...rates, ...inPayload].find((rate) => rate !== undefined);
};

/** Stages give the length of an entry, and its rate where no other load is given. */
export const withStages = (values: CheckedValues, plugin: PluginSpec): CheckedValues => {
  const { stages } = values.duration;
  if (stages.length === 0) return values;
  const duration = { ...values.duration, seconds: stagesSeconds(stages) };
  const all = values as unknown as Values;
  const rate = stagedRateOf(plugin);
  const isGiven = all['rpsUnlimited'] === true || fullLoadOf(all) !== undefined;
  return { ...values, duration, ...(rate !== undefined && !isGiven && { [rate]: stagesPeak(stages) }) };
};

const firstLoadOf = ({ metric, start }: GoalValues) => (metric === 'throughputBps' ? calibrationRate : start);

/** A search begins with its first load and has ended after its longest time. */
export const withGoal = (values: CheckedValues, { schema }: PluginSpec): CheckedValues => {
  const { goal } = values.duration;
  if (goal === undefined) return values;
  const duration = { ...values.duration, mode: 'time' as const, seconds: goalSeconds(goal) };
  const member = firstLoadMember(goal.metric, schema.properties);
  return { ...values, duration, ...(member !== undefined && { [member]: firstLoadOf(goal) }) };
};

interface Searching {
  readonly values: CheckedValues;
  readonly plugin?: PluginSpec | undefined;
}

/** Searches of any order begin with the run: each lasts until those before it have ended, too. */
export const withOrder = <E extends Searching>(entries: readonly E[]): E[] => {
  const goals = entries.flatMap(({ values }) => values.duration.goal ?? []);
  const secondsOf = (order: number) =>
    Math.max(0, ...goals.filter((goal) => goal.order === order).map((goal) => goalSeconds(goal)));
  const orders = [...new Set(goals.map(({ order }) => order))].sort((a, b) => a - b);
  return entries.map((entry) => {
    const { duration } = entry.values;
    const { goal } = duration;
    const before = orders.filter((order) => goal !== undefined && order < goal.order);
    if (goal === undefined || entry.plugin === undefined || before.length === 0) return entry;
    const seconds = duration.seconds + before.reduce((sum, order) => sum + secondsOf(order), 0);
    const member = firstLoadMember(goal.metric, entry.plugin.schema.properties);
    const idle = member === undefined ? {} : { [member]: idleLoad };
    return { ...entry, values: { ...entry.values, duration: { ...duration, seconds }, ...idle } };
  });
};

/** Connections to keep open at first and at most, where a search changes their number. */
export const searchedSessions = ({
  duration: { goal },
}: Pick<CheckedValues, 'duration'>): { first?: number; max?: number } =>
  goal?.metric === 'concurrentSessions' ? { first: goal.order > 0 ? 1 : goal.start, max: goal.max } : {};

/** Load over time as shares of the full load. */
export const curveOf = (values: CheckedValues): Pick<Duration, 'curve'> => {
  const { stages } = values.duration;
  const full = fullLoadOf(values as unknown as Values);
  if (stages.length === 0 || full === undefined || full === 0) return {};
  const curve = loadCurveOf(stages).map(({ seconds, from, to }) => ({ seconds, from: from / full, to: to / full }));
  return { curve };
};
