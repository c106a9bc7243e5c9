import type { Executor } from '../../store/engine/database.ts';
import { everyAgent } from '../../store/runs/samples.ts';
import { readLosses } from '../read/losses.ts';
import { authoritativeSide, type MetricPlan } from '../read/metric-plan.ts';
import type { SecondSlot } from '../read/phases.ts';
import type { Side } from '../read/run-facts.ts';
import { type Measured, movedTo, scanAgents, scanMerged } from '../read/scan.ts';
import { AggregationWindow, type Spread } from './aggregation-window.ts';
import type { OpenRun } from './open-run.ts';

export type By = 'total' | 'plugin' | 'agent' | 'target' | 'job';
/** Only summaries group by the side of an entry. */
type Grouping = By | 'side';
export type Labels = Record<string, string>;

export interface Collecting<S extends Spread> {
  readonly plans: readonly MetricPlan[];
  readonly fromSec: number;
  readonly toSec: number;
  readonly by: Grouping;
  createSpread(): S;
  /** The second that what was measured counts in, undefined for none; each in its own when left out. */
  secondOf?(side: Side, second: number, agentId: number): SecondSlot | undefined;
  readonly agentId?: number | undefined;
  /** Each second is read once, as soon as it is complete. */
  readonly isLive?: boolean;
}

type Done<S extends Spread> = (labels: Labels, window: AggregationWindow<S>) => void;

/** Frames by label; handed on as soon as no more can come for them. */
class Labelled<S extends Spread> {
  readonly #windows = new Map<string, { labels: Labels; window: AggregationWindow<S> }>();
  readonly #create: (sides: readonly Side[]) => AggregationWindow<S>;
  readonly #done: Done<S>;

  constructor(create: (sides: readonly Side[]) => AggregationWindow<S>, done: Done<S>) {
    this.#create = create;
    this.#done = done;
  }

  /** `describe` says what a new label is, and which sides of the run it is about. */
  frameOf(key: string, describe: () => { labels: Labels; sides: readonly Side[] }): AggregationWindow<S> {
    let found = this.#windows.get(key);
    if (found === undefined) {
      const { labels, sides } = describe();
      found = { labels, window: this.#create(sides) };
      this.#windows.set(key, found);
    }
    return found.window;
  }

  finish(): void {
    const sorted = [...this.#windows].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
    for (const [, { labels, window }] of sorted) this.#done(labels, window);
    this.#windows.clear();
  }
}

const pluginLabels = ({ plugin, pluginId, role }: Side): Labels => ({ plugin, pluginID: String(pluginId), role });

/** What becomes of each second, by the kind of label. */
const visitorOf = <S extends Spread>(
  { facts, names }: OpenRun,
  labelled: Labelled<S>,
  everySide: readonly Side[],
): Record<Grouping, (measured: Measured) => void> => {
  let lastAgent = 0;
  return {
    total: (measured) => labelled.frameOf('', () => ({ labels: {}, sides: everySide })).add(measured),
    side: (measured) => {
      const { side } = measured;
      const group = String(side.group);
      labelled.frameOf(group, () => ({ labels: { group }, sides: [side] })).add(measured);
    },
    plugin: (measured) => {
      const { pluginId, role } = measured.side;
      const isSame = (side: Side) => side.pluginId === pluginId && side.role === role;
      const describe = () => ({ labels: pluginLabels(measured.side), sides: everySide.filter(isSame) });
      labelled.frameOf(`${pluginId} ${role}`, describe).add(measured);
    },
    agent: (measured) => {
      if (measured.agentId !== lastAgent) labelled.finish();
      lastAgent = measured.agentId;
      const { name = '', sides = [] } = facts.agents.get(lastAgent) ?? {};
      labelled.frameOf('', () => ({ labels: { agent: name, agentID: String(lastAgent) }, sides })).add(measured);
    },
    // Each plugin and role of each agent.
    job: (measured) => {
      if (measured.agentId !== lastAgent) labelled.finish();
      lastAgent = measured.agentId;
      const { name = '', sides = [] } = facts.agents.get(lastAgent) ?? {};
      const { pluginId, role } = measured.side;
      const isSame = (side: Side) => side.pluginId === pluginId && side.role === role;
      const describe = () => ({
        labels: { agent: name, agentID: String(measured.agentId), ...pluginLabels(measured.side) },
        sides: sides.filter(isSame),
      });
      labelled.frameOf(`${pluginId} ${role}`, describe).add(measured);
    },
    target: (measured) => {
      for (const part of measured.parts) {
        const target = names.targetOf(part.target);
        labelled.frameOf(target, () => ({ labels: { target }, sides: everySide })).add(measured, [part]);
      }
    },
  };
};

/** Reads what is wanted of a run into windows, one for each label. */
export const collectWindows = async <S extends Spread>(
  read: Executor,
  run: OpenRun,
  { plans, fromSec, toSec, by, createSpread, secondOf, agentId, isLive }: Collecting<S>,
  done: Done<S>,
): Promise<void> => {
  const { facts, names } = run;
  const sources = new Set(plans.flatMap((plan) => [...plan.sources]));
  const span = { fromSec, toSec, wants: (metric: number) => sources.has(metric) };
  const create = (sides: readonly Side[]) => {
    const metrics = plans.map((plan) => ({ plan, authority: authoritativeSide(plan, sides, names) }));
    return new AggregationWindow(metrics, fromSec, createSpread);
  };
  const labelled = new Labelled(create, done);
  const everySide = agentId === undefined ? [...facts.sides.values()] : (facts.agents.get(agentId)?.sides ?? []);
  const visit = visitorOf(run, labelled, everySide)[by];
  const add = (measured: Measured) => {
    const { side, second, agentId: id } = measured;
    const moved = secondOf === undefined ? measured : movedTo(measured, secondOf(side, second, id));
    if (moved !== undefined) visit(moved);
  };
  const losses = await readLosses(read, run, { ...span, isLive });
  const isByAgent = by === 'agent' || by === 'job';
  const isMerged = agentId === undefined && !isByAgent && by !== 'target';
  if (isMerged) await scanMerged(read, run, span, add);
  else {
    const each = isByAgent ? eachWith(add, losses) : { visit: add, finish: () => {} };
    await scanAgents(read, run, { ...span, agentId }, each.visit);
    each.finish();
  }
  if (isMerged || by === 'target') losses.forEach(add);
  else if (!isByAgent) losses.filter((loss) => loss.agentId === agentId).forEach(add);
  labelled.finish();
};

/** Agents come one after another: before the first measurement of each, its losses are added. */
const eachWith = (add: (measured: Measured) => void, losses: readonly Measured[]) => {
  const byAgent = Map.groupBy(losses, ({ agentId }) => agentId);
  const addLosses = (agentId: number) => {
    byAgent.get(agentId)?.forEach(add);
    byAgent.delete(agentId);
  };
  return {
    visit: (measured: Measured) => {
      addLosses(measured.agentId);
      add(measured);
    },
    /** Losses of agents that measured nothing else. */
    finish: () => {
      byAgent.delete(everyAgent);
      for (const agentId of [...byAgent.keys()]) addLosses(agentId);
    },
  };
};
