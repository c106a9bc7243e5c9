import type { Executor } from '../../store/engine/database.ts';
import { type MetricPlan, voiceOf } from '../read/metric-plan.ts';
import type { Side } from '../read/run-facts.ts';
import { type Measured, placedAt, scanAgents, scanMerged } from '../read/scan.ts';
import { Frame, type Spread } from './aggregation-window.ts';
import type { OpenRun } from './open-run.ts';

export type By = 'total' | 'plugin' | 'agent' | 'target';
/** Sides of entries are told apart in summaries only. */
type Grouping = By | 'side';
export type Labels = Record<string, string>;

export interface Collecting<S extends Spread> {
  readonly plans: readonly MetricPlan[];
  readonly fromSec: number;
  readonly toSec: number;
  readonly by: Grouping;
  createSpread(): S;
  /** The second that what was measured counts in, undefined for none; each in its own when left out. */
  placeOf?(side: Side, second: number): number | undefined;
  readonly agentId?: number | undefined;
}

type Done<S extends Spread> = (labels: Labels, frame: Frame<S>) => void;

/** Frames by label; handed on as soon as no more can come for them. */
class Labelled<S extends Spread> {
  readonly #frames = new Map<string, { labels: Labels; frame: Frame<S> }>();
  readonly #create: (sides: readonly Side[]) => Frame<S>;
  readonly #done: Done<S>;

  constructor(create: (sides: readonly Side[]) => Frame<S>, done: Done<S>) {
    this.#create = create;
    this.#done = done;
  }

  /** `describe` says what a new label is, and which sides of the run it is about. */
  frameOf(key: string, describe: () => { labels: Labels; sides: readonly Side[] }): Frame<S> {
    let found = this.#frames.get(key);
    if (found === undefined) {
      const { labels, sides } = describe();
      found = { labels, frame: this.#create(sides) };
      this.#frames.set(key, found);
    }
    return found.frame;
  }

  finish(): void {
    const sorted = [...this.#frames].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
    for (const [, { labels, frame }] of sorted) this.#done(labels, frame);
    this.#frames.clear();
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
    target: (measured) => {
      for (const part of measured.parts) {
        const target = names.targetOf(part.target);
        labelled.frameOf(target, () => ({ labels: { target }, sides: everySide })).add(measured, [part]);
      }
    },
  };
};

/** Reads what is wanted of a run into frames, one for each label. */
export const collectFrames = async <S extends Spread>(
  read: Executor,
  run: OpenRun,
  { plans, fromSec, toSec, by, createSpread, placeOf, agentId }: Collecting<S>,
  done: Done<S>,
): Promise<void> => {
  const { facts, names } = run;
  const sources = new Set(plans.flatMap((plan) => [...plan.sources]));
  const span = { fromSec, toSec, wants: (metric: number) => sources.has(metric) };
  const create = (sides: readonly Side[]) => {
    const voices = plans.map((plan) => ({ plan, voice: voiceOf(plan, sides, names) }));
    return new Frame(voices, fromSec, createSpread);
  };
  const labelled = new Labelled(create, done);
  const everySide = agentId === undefined ? [...facts.sides.values()] : (facts.agents.get(agentId)?.sides ?? []);
  const visit = visitorOf(run, labelled, everySide)[by];
  const add = (measured: Measured) => {
    const placed = placeOf === undefined ? measured : placedAt(measured, placeOf(measured.side, measured.second));
    if (placed !== undefined) visit(placed);
  };
  const isMerged = agentId === undefined && by !== 'agent' && by !== 'target';
  if (isMerged) await scanMerged(read, run, span, add);
  else await scanAgents(read, run, { ...span, agentId }, add);
  labelled.finish();
};
