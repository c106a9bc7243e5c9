import type { Executor } from '../store/database.ts';
import { Frame, type Spread } from './frame.ts';
import type { MetricPlan } from './metric-plan.ts';
import type { OpenRun } from './open-run.ts';
import type { Side } from './run-facts.ts';
import { type Measured, scanAgents, scanMerged } from './scan.ts';

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
  /** Only these sides; all when left out. */
  isWanted?(side: Side, second: number): boolean;
  readonly agentId?: number | undefined;
}

type Done<S extends Spread> = (labels: Labels, frame: Frame<S>) => void;

/** Frames by label; handed on as soon as no more can come for them. */
class Labelled<S extends Spread> {
  readonly #frames = new Map<string, { labels: Labels; frame: Frame<S> }>();
  readonly #create: () => Frame<S>;
  readonly #done: Done<S>;

  constructor(create: () => Frame<S>, done: Done<S>) {
    this.#create = create;
    this.#done = done;
  }

  frameOf(key: string, labels: () => Labels): Frame<S> {
    let found = this.#frames.get(key);
    if (found === undefined) {
      found = { labels: labels(), frame: this.#create() };
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

/** Reads what is wanted of a run into frames, one for each label. */
export const collectFrames = async <S extends Spread>(
  read: Executor,
  run: OpenRun,
  { plans, fromSec, toSec, by, createSpread, isWanted = () => true, agentId }: Collecting<S>,
  done: Done<S>,
): Promise<void> => {
  const sources = new Set(plans.flatMap((plan) => [...plan.sources]));
  const span = { fromSec, toSec, wants: (metric: number) => sources.has(metric) };
  const labelled = new Labelled(() => new Frame(plans, fromSec, createSpread), done);
  let lastAgent = 0;
  const addWhole = (key: string, labels: () => Labels) => (measured: Measured) =>
    labelled.frameOf(key, labels).add(measured);
  const visit: Record<Grouping, (measured: Measured) => void> = {
    total: addWhole('', () => ({})),
    side: (measured) => {
      const group = String(measured.side.group);
      addWhole(group, () => ({ group }))(measured);
    },
    plugin: (measured) => {
      const { pluginId, role } = measured.side;
      addWhole(`${pluginId} ${role}`, () => pluginLabels(measured.side))(measured);
    },
    agent: (measured) => {
      if (measured.agentId !== lastAgent) labelled.finish();
      lastAgent = measured.agentId;
      const name = run.facts.agents.get(lastAgent)?.name ?? '';
      addWhole('', () => ({ agent: name, agentID: String(lastAgent) }))(measured);
    },
    target: (measured) => {
      for (const part of measured.parts) {
        const target = run.names.targetOf(part.target);
        labelled.frameOf(target, () => ({ target })).add(measured, [part]);
      }
    },
  };
  const add = (measured: Measured) => {
    if (isWanted(measured.side, measured.second)) visit[by](measured);
  };
  const isMerged = agentId === undefined && by !== 'agent' && by !== 'target';
  if (isMerged) await scanMerged(read, run, span, add);
  else await scanAgents(read, run, { ...span, agentId }, add);
  labelled.finish();
};
