import type { Threshold } from '@rushhour/contract';
import { createMutex, type Mutex } from '../../concurrency/mutex.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runStatuses } from '../../store/runs/run-history.ts';
import { AggregationWindow, TotalSpread } from '../ingest/aggregation-window.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { type Aggregation, aggregateOf, secondsOf } from '../rollup/aggregate.ts';
import { readLosses } from './losses.ts';
import { authoritativeSide, type MetricPlan, planMetric } from './metric-plan.ts';
import type { SecondSlot } from './phases.ts';
import type { Side } from './run-facts.ts';
import { type Measured, movedTo, readPhases, scanAgents, scanMerged } from './scan.ts';

/** One number of a run: which metric, over which seconds, of which part of the traffic. */
export interface ValueQuery {
  readonly runId: number;
  readonly metric: string;
  readonly aggregation: Aggregation;
  readonly scope: NonNullable<Threshold['scope']>;
  readonly window: NonNullable<Threshold['window']>;
}

type Scope = Pick<ValueQuery, 'metric' | 'scope' | 'window'>;

/** What is known of a query from minutes that will not change; only newer seconds are read at each asking. */
interface Tally {
  readonly exclusively: Mutex;
  readonly window: AggregationWindow<TotalSpread>;
  /** What it was made from; when that changes it is made anew. */
  readonly basis: string;
  lastSecond: number;
}

const stoppingStatus = 6;
const tallies = new WeakMap<OpenRun, Map<string, Tally>>();

const isInScope =
  ({ configurationIndex, pluginID }: ValueQuery['scope']) =>
  ({ entry, pluginId }: Side) =>
    (configurationIndex ?? entry) === entry && (pluginID ?? pluginId) === pluginId;

const sidesIn = ({ facts }: OpenRun, scope: ValueQuery['scope']) =>
  (scope.agentID === undefined ? [...facts.sides.values()] : (facts.agents.get(scope.agentID)?.sides ?? [])).filter(
    isInScope(scope),
  );

const tallyOf = (run: OpenRun, plan: MetricPlan, { metric, scope, window }: Scope): Tally => {
  const known = tallies.get(run) ?? new Map<string, Tally>();
  tallies.set(run, known);
  const key = JSON.stringify([metric, scope, window]);
  const authority = authoritativeSide(plan, sidesIn(run, scope), run.names);
  const basis = `${authority} ${plan.sources.size} ${run.reopenings}`;
  const found = known.get(key);
  if (found?.basis === basis) return found;
  const aggregated = new AggregationWindow([{ plan, authority }], 1, () => new TotalSpread());
  const made: Tally = { exclusively: createMutex(), window: aggregated, basis, lastSecond: 0 };
  known.set(key, made);
  return made;
};

/** Where a second counts, by side; undefined when it does not. The first second ends one second after the common start. */
const windowOf = ({ phases }: OpenRun, { scope, window }: Scope) => {
  const isWanted = isInScope(scope);
  return (side: Side, second: number): SecondSlot | undefined => {
    if (!isWanted(side)) return undefined;
    if (window === 'all') return { second, countsTime: true };
    if (window === 'steady') return phases.steadySecond(side, second);
    return second > window.fromSec && second <= window.toSec ? { second, countsTime: true } : undefined;
  };
};

const fill = async (
  read: Executor,
  run: OpenRun,
  window: AggregationWindow<TotalSpread>,
  { query, span: [fromSec, toSec] }: { query: Scope; span: readonly [number, number] },
) => {
  if (fromSec > toSec) return;
  const secondOf = windowOf(run, query);
  const wants = (metric: number) => window.plans.some(({ sources }) => sources.has(metric));
  const visit = (measured: Measured) => {
    const moved = movedTo(measured, secondOf(measured.side, measured.second));
    if (moved !== undefined) window.add(moved);
  };
  const { agentID } = query.scope;
  const losses = await readLosses(read, run, { fromSec, toSec, wants });
  if (agentID === undefined) await scanMerged(read, run, { fromSec, toSec, wants }, visit);
  else await scanAgents(read, run, { fromSec, toSec, wants, agentId: agentID }, visit);
  losses.filter(({ agentId }) => agentID === undefined || agentId === agentID).forEach(visit);
};

const aggregate = (read: Executor, run: OpenRun, plan: MetricPlan, query: Scope) => {
  const tally = tallyOf(run, plan, query);
  return tally.exclusively(async () => {
    const settled = Math.max(run.lastOfRolled, tally.lastSecond);
    await fill(read, run, tally.window, { query, span: [tally.lastSecond + 1, Math.min(settled, run.newestSecond)] });
    tally.lastSecond = settled;
    if (settled >= run.newestSecond) return tally.window;
    const window = AggregationWindow.copyOf(tally.window);
    await fill(read, run, window, { query, span: [settled + 1, run.newestSecond] });
    return window;
  });
};

/** A run without a steady part is judged by all of it, but only once nothing steady can come any more. */
const windowFor = async (read: Executor, run: OpenRun, window: ValueQuery['window']) => {
  if (window !== 'steady') return window;
  await readPhases(read, run);
  if (run.phases.hasSteady(run.facts.sides.values())) return window;
  const { runId } = run.facts;
  const status = (await runStatuses(read, [runId])).get(runId) ?? 0;
  return status >= stoppingStatus ? 'all' : window;
};

/** Undefined when there is nothing to compute it from. */
export const readValue = async (read: Executor, run: OpenRun, query: ValueQuery): Promise<number | undefined> => {
  const plan = planMetric(query.metric, run.facts, run.names);
  if (plan === undefined) return undefined;
  const window = await windowFor(read, run, query.window);
  const track = (await aggregate(read, run, plan, { ...query, window })).trackOf(0);
  const value = aggregateOf(plan, secondsOf(plan, track), track.spread.sum, query.aggregation);
  return value === undefined || Number.isNaN(value) ? undefined : value;
};
