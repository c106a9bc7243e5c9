import { type ConfigurationEntry, entriesOf, type FoundEntry, suitePluginId } from '@rushhour/contract';
import { trialSecondsOf } from '../plugins/packets/stream-trials.ts';
import type { PlanIssues } from './plan-issues.ts';
import { type CheckedValues, checkValues } from './plugin-values.ts';

/** An entry of a task, or one inside a suite: what is planned. */
export interface Leaf extends FoundEntry {
  readonly values: CheckedValues;
  /** Seconds after the common start. */
  readonly startAfterSec: number;
}

interface Child {
  readonly startAfterSec?: unknown;
  readonly order?: unknown;
}

const numberOr = (value: unknown, other: number): number => (typeof value === 'number' ? value : other);

/** Seconds an entry lasts; undefined when it ends by count or by hand. */
export const lengthOf = ({ duration }: CheckedValues): number | undefined =>
  duration.mode === 'time' ? duration.seconds : undefined;

/** All entries that make traffic, with defaults filled in. Those that nothing can run as they are are told and left out. */
export const leavesOf = (
  configuration: readonly ConfigurationEntry[],
  isRunnable: (pluginId: number) => boolean,
  issues: PlanIssues,
): Leaf[] => {
  const leaves: Leaf[] = [];
  const suites = new Map<number, Leaf[]>();
  for (const entry of entriesOf(configuration)) {
    if (entry.pluginId === suitePluginId) {
      suites.set(entry.index, []);
      continue;
    }
    const values = checkValues(entry, issues);
    if (values === undefined || !isRunnable(entry.pluginId)) {
      if (values !== undefined) tellUnavailable(entry, issues);
      continue;
    }
    const leaf = { ...entry, values: lasting(entry, values, issues), startAfterSec: 0 };
    if (entry.isChild) suites.get(entry.index)?.push(leaf);
    else leaves.push(leaf);
  }
  const staged = [...suites].flatMap(([index, children]) =>
    stagesOf(configuration[index] as ConfigurationEntry, children, issues),
  );
  return [...leaves, ...staged].sort((a, b) => a.index - b.index);
};

/** Captures are played to the end unless they begin again and again. */
const isPlayedOut = ({ plugin }: FoundEntry, values: CheckedValues): boolean =>
  plugin?.name === 'pcap-replay' && (values['pcapReplayParams'] as { loop: number }).loop > 0;

/** Security tests last until everything was tried, unless a time is set; trials as long as they take at most. */
const lasting = (entry: FoundEntry, values: CheckedValues, issues: PlanIssues) => {
  const { plugin, path, values: written } = entry;
  const seconds = plugin?.name === 'stream' ? trialSecondsOf(values) : undefined;
  if (seconds !== undefined) {
    const message = `the trials decide how long they take: ${seconds} seconds at most`;
    if (written['duration'] !== undefined) issues.warning(`${path}/values/duration`, 'MEMBER_IGNORED', message);
    return { ...values, duration: { mode: 'time', seconds, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 } as const };
  }
  const endsByItself = plugin?.kind === 'security' || isPlayedOut(entry, values);
  if (!endsByItself || written['duration'] !== undefined) return values;
  return { ...values, duration: { ...values.duration, mode: 'continuous' as const } };
};

const tellUnavailable = ({ plugin, path }: FoundEntry, issues: PlanIssues) => {
  const needs = plugin?.requires.length ? `; it needs: ${plugin.requires.join('; ')}` : '';
  issues.error(`${path}/plugin/id`, 'PLUGIN_UNAVAILABLE', `no agent has an engine for ${plugin?.name}${needs}`);
};

/** Children of one order begin together; the next order begins when all before have had their time. */
const stagesOf = (suite: ConfigurationEntry, children: readonly Leaf[], issues: PlanIssues): Leaf[] => {
  const given = (suite.subplugins?.subplugins ?? []) as readonly Child[];
  const placed = children.map((leaf) => {
    const child = given[Number(leaf.path.slice(leaf.path.lastIndexOf('/') + 1))] ?? {};
    return { leaf, order: numberOr(child.order, 0), after: numberOr(child.startAfterSec, 0) };
  });
  const orders = [...new Set(placed.map(({ order }) => order))].sort((a, b) => a - b);
  let begins = 0;
  const leaves = orders.flatMap((order) => {
    const stage = placed.filter((child) => child.order === order);
    const started = stage.map(({ leaf, after }) => ({ ...leaf, startAfterSec: begins + after }));
    const ends = started.map((leaf) => endOf(leaf, order === orders.at(-1), issues));
    begins = Math.max(begins, ...ends);
    return started;
  });
  return limited(suite, leaves, issues);
};

const endOf = (leaf: Leaf, isLast: boolean, issues: PlanIssues): number => {
  const length = lengthOf(leaf.values);
  if (length === undefined && !isLast) {
    const message = 'the next entries cannot start: only the last entries may end by count or by hand';
    issues.error(`${leaf.path}/values/duration/mode`, 'STAGE_UNBOUNDED', message);
  }
  return leaf.startAfterSec + (length ?? 0);
};

/** The whole suite is over after its own time, whatever its children say. */
const limited = (suite: ConfigurationEntry, leaves: readonly Leaf[], issues: PlanIssues): Leaf[] => {
  const { mode = 'time', seconds } = (suite.subplugins?.duration ?? {}) as { mode?: unknown; seconds?: unknown };
  if (mode !== 'time' || typeof seconds !== 'number') return [...leaves];
  return leaves.flatMap((leaf) => {
    const left = seconds - leaf.startAfterSec;
    if (left <= 0) {
      issues.warning(leaf.path, 'STAGE_TOO_LATE', `begins after the ${seconds} seconds of the suite are over`);
      return [];
    }
    const { duration } = leaf.values;
    if (duration.mode === 'count') {
      issues.caveat(leaf.path, 'STAGE_NOT_LIMITED', 'ends by count, not by the time of the suite');
      return [leaf];
    }
    const length = Math.min(left, lengthOf(leaf.values) ?? left);
    return [{ ...leaf, values: { ...leaf.values, duration: { ...duration, mode: 'time' as const, seconds: length } } }];
  });
};
