import {
  accessPlanePluginId,
  type ConfigurationEntry,
  controlPlanePluginId,
  type DurationValues,
  entriesOf,
  type FoundEntry,
  suitePluginId,
} from '@rushhour/contract';
import { type CheckedValues, checkValues } from '../checked-values.ts';
import type { PlanIssues } from '../plan-issues.ts';
import { withGoal, withOrder, withStages } from './load-stages.ts';

/** An entry of a task, or one inside a suite, that generates traffic. */
export interface TrafficEntry extends Omit<FoundEntry, 'values'> {
  readonly values: CheckedValues;
  /** Seconds after the common start. */
  readonly startAfterSec: number;
}

/** A source or target of an entry. */
export interface Endpoint {
  readonly agent?: { readonly id: number };
  readonly interfaceId?: number;
  readonly network?: { readonly id: number };
  readonly ip?: string;
  /** The last of several addresses, where a planner has given it a range. */
  readonly lastIp?: string;
  /** Group of access sessions; of a target: of their gateway. */
  readonly accessGroup?: number;
  readonly ports?: string;
  readonly weight: number;
}

export const endpointsOf = (entry: TrafficEntry, member: 'sources' | 'targets'): readonly Endpoint[] =>
  entry.values[member] ?? [];

/** The duration of an entry, where its plugin decides it; undefined leaves it as given. */
export type DurationRule<Values> = (
  values: Values,
  entry: FoundEntry,
  issues: PlanIssues,
) => DurationValues | undefined;

/** The plugins that can run, by id. */
type Runnable = ReadonlyMap<number, { readonly durationOf?: DurationRule<CheckedValues> }>;

interface Child {
  readonly startAfterSec?: unknown;
  readonly order?: unknown;
}

const numberOr = (value: unknown, other: number): number => (typeof value === 'number' ? value : other);

/** Seconds an entry lasts; undefined when it ends by count or by hand. */
export const durationSecOf = ({ duration }: CheckedValues): number | undefined =>
  duration.mode === 'time' ? duration.seconds : undefined;

const isPlane = (pluginId: number) => pluginId === accessPlanePluginId || pluginId === controlPlanePluginId;

/** All entries that generate traffic, defaults applied. Entries that cannot run are reported and left out. */
export const trafficEntriesOf = (
  configuration: readonly ConfigurationEntry[],
  runnable: Runnable,
  issues: PlanIssues,
): TrafficEntry[] => {
  const entries: TrafficEntry[] = [];
  const suites = new Map<number, TrafficEntry[]>();
  for (const found of entriesOf(configuration)) {
    if (found.pluginId === suitePluginId) {
      suites.set(found.index, []);
      continue;
    }
    if (isPlane(found.pluginId)) continue;
    const values = checkValues(found, issues);
    const plugin = runnable.get(found.pluginId);
    if (values === undefined || plugin === undefined) {
      if (values !== undefined) reportUnavailable(found, issues);
      continue;
    }
    const staged = found.plugin === undefined ? values : withGoal(withStages(values, found.plugin), found.plugin);
    const duration = plugin.durationOf?.(staged, found, issues) ?? staged.duration;
    const entry = { ...found, values: { ...staged, duration }, startAfterSec: 0 };
    if (found.isChild) suites.get(found.index)?.push(entry);
    else entries.push(entry);
  }
  const inSuites = [...suites].flatMap(([index, children]) =>
    stagesOf(configuration[index] as ConfigurationEntry, children, issues),
  );
  return [...withOrder(entries), ...inSuites].sort((a, b) => a.index - b.index);
};

const reportUnavailable = ({ plugin, path }: FoundEntry, issues: PlanIssues) => {
  const needs = plugin?.requires.length ? `; it needs: ${plugin.requires.join('; ')}` : '';
  issues.error(`${path}/plugin/id`, 'PLUGIN_UNAVAILABLE', `no agent has an engine for ${plugin?.name}${needs}`);
};

/** Children with the same order start together; the next order starts when all children before it have ended. */
const stagesOf = (suite: ConfigurationEntry, children: readonly TrafficEntry[], issues: PlanIssues): TrafficEntry[] => {
  const given = (suite.subplugins?.subplugins ?? []) as readonly Child[];
  const ordered = children.map((entry) => {
    const child = given[Number(entry.path.slice(entry.path.lastIndexOf('/') + 1))] ?? {};
    return { entry, order: numberOr(child.order, 0), after: numberOr(child.startAfterSec, 0) };
  });
  const orders = [...new Set(ordered.map(({ order }) => order))].sort((a, b) => a - b);
  let startSec = 0;
  const entries = orders.flatMap((order) => {
    const stage = ordered.filter((child) => child.order === order);
    const started = stage.map(({ entry, after }) => ({ ...entry, startAfterSec: startSec + after }));
    const ends = started.map((entry) => endOf(entry, order === orders.at(-1), issues));
    startSec = Math.max(startSec, ...ends);
    return started;
  });
  return limited(suite, entries, issues);
};

const endOf = (entry: TrafficEntry, isLast: boolean, issues: PlanIssues): number => {
  const length = durationSecOf(entry.values);
  if (length === undefined && !isLast) {
    const message = 'the next entries cannot start: only the last entries may end by count or by hand';
    issues.error(`${entry.path}/values/duration/mode`, 'STAGE_UNBOUNDED', message);
  }
  return entry.startAfterSec + (length ?? 0);
};

/** The duration of a suite limits the duration of its children. */
const limited = (suite: ConfigurationEntry, entries: readonly TrafficEntry[], issues: PlanIssues): TrafficEntry[] => {
  const { mode = 'time', seconds } = (suite.subplugins?.duration ?? {}) as { mode?: unknown; seconds?: unknown };
  if (mode !== 'time' || typeof seconds !== 'number') return [...entries];
  return entries.flatMap((entry) => {
    const left = seconds - entry.startAfterSec;
    if (left <= 0) {
      issues.warning(entry.path, 'STAGE_TOO_LATE', `begins after the ${seconds} seconds of the suite are over`);
      return [];
    }
    const { duration } = entry.values;
    if (duration.mode === 'count') {
      issues.caveat(entry.path, 'STAGE_NOT_LIMITED', 'ends by count, not by the time of the suite');
      return [entry];
    }
    const length = Math.min(left, durationSecOf(entry.values) ?? left);
    return [
      { ...entry, values: { ...entry.values, duration: { ...duration, mode: 'time' as const, seconds: length } } },
    ];
  });
};
