import {
  calibrationRate,
  filledGoal,
  findPlugin,
  type GoalTrial,
  type GoalValues,
  goalLagSec,
  idleLoad,
  runStatus,
  searchedRate,
} from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { type NewRunEvent, runEventsOf } from '../../store/runs/run-events.ts';
import { changeLoads } from '../control/load-change.ts';
import type { RunView } from '../lifecycle/run-view.ts';
import type { RunWriter } from '../lifecycle/run-writer.ts';
import type { Steps } from '../lifecycle/steps.ts';
import type { RunMetrics } from '../verdict/run-metrics.ts';
import { bitsOf, judgeTrial, trialReader } from './judge-trial.ts';
import { isSearchEnd, type NextTrial, nextTrial } from './search.ts';

/** Types of the events that a search leaves behind. They are its only memory, so that it outlives a restart. */
export const goalEvents = {
  started: 'goalStarted',
  calibrated: 'goalCalibrated',
  begun: 'goalTrialBegun',
  judged: 'goalTrial',
  ended: 'goalEnded',
} as const;

interface Deps {
  readonly read: Executor;
  readonly writer: RunWriter;
  readonly steps: Pick<Steps, 'stop'>;
  readonly metrics: RunMetrics;
}

interface Search {
  readonly index: number;
  /** Name of the plugin. */
  readonly plugin: string;
  /** The rate that is changed; `concurrentSessions` where it is their number. */
  readonly member: NonNullable<ReturnType<typeof searchedRate>> | 'concurrentSessions';
  readonly goal: GoalValues;
}

/** Searches of a run, by entry. */
const searchesOf = ({ run }: RunView): Search[] =>
  run.definition.configuration.flatMap((entry, index) => {
    const given = (entry as { values?: { duration?: { goal?: GoalValues } } }).values?.duration?.goal;
    const plugin = findPlugin((entry as { plugin: { id: number } }).plugin.id);
    if (given === undefined || plugin === undefined) return [];
    const goal = filledGoal(given);
    const member = searchedRate(goal.metric, plugin.schema.properties) ?? 'concurrentSessions';
    return [{ index, goal, plugin: plugin.name, member }];
  });

interface Begun extends NextTrial {
  /** Events per second, or sessions, that are asked for. */
  readonly rate: number;
  readonly number: number;
  readonly fromSec: number;
  readonly toSec: number;
}

const event = (type: string, message: string, data: object): NewRunEvent => ({
  ...{ type, message, source: 'controller', data: data as Record<string, unknown> },
});

/** Sets the load of an entry whose search begins or has ended. */
const setLoad = ({ writer }: Deps, runId: number, { index, member }: Search, load: number, made: NewRunEvent) =>
  writer.edit(runId, (now) => {
    const isRunning = now.run.status === runStatus.running;
    return { events: [made], ...(isRunning && { agents: changeLoads(now, [{ index, [member]: load }]).agents }) };
  });

/** Sets the load of a trial and notes which seconds will be judged. */
const begin = async ({ writer }: Deps, runId: number, { index, goal, member }: Search, trial: Begun) => {
  const change = { index, [member]: trial.rate };
  await writer.edit(runId, (now) => {
    if (now.run.status !== runStatus.running) return {};
    const { agents, rejected } = changeLoads(now, [change]);
    const [refused] = rejected;
    if (refused) return { events: [event(goalEvents.ended, `the search ended: ${refused.reason}`, { entry: index })] };
    const message = `trial ${trial.number}: ${trial.load} ${goal.metric}${trial.isRepeat ? ', again' : ''}`;
    return { agents, events: [event(goalEvents.begun, message, { entry: index, ...trial })] };
  });
};

const note = (deps: Deps, runId: number, made: NewRunEvent) => deps.writer.edit(runId, () => ({ events: [made] }));

const judge = async (deps: Deps, runId: number, search: Search, begun: Begun): Promise<JudgedEvent> => {
  const trial = { ...begun, ...(await judgeTrial(deps.metrics, { runId, ...search, ...begun })) };
  const outcome = trial.passed ? 'passed' : `failed: ${trial.reason}`;
  const message = `trial ${trial.number}: ${trial.load} ${search.goal.metric} ${outcome}`;
  await note(deps, runId, event(goalEvents.judged, message, { entry: search.index, ...trial }));
  return trial;
};

const dataOf = async <T>({ read }: Deps, runId: number, type: string, index: number): Promise<T[]> =>
  (await runEventsOf(read, runId, type)).filter(({ data }) => data['entry'] === index).map(({ data }) => data as T);

type JudgedEvent = GoalTrial & { readonly begun: number };

/** Bits that an event carries: of the last trial that passed, or as it was before the first. */
const bitsPerEvent = (calibrated: number, judged: readonly JudgedEvent[]): number => {
  const last = judged.findLast(({ passed, bps, begun }) => passed && bps !== null && begun > 0);
  return last === undefined ? calibrated : (last.bps as number) / last.begun;
};

/** Others may still search: the entry is not to be in their way. */
const end = async (deps: Deps, runId: number, search: Search, best: number | null, reason?: string) => {
  const { index, goal } = search;
  const message = `the search ended: ${reason ?? (best === null ? 'no load passed' : `${best} ${goal.metric}`)}`;
  await setLoad(deps, runId, search, idleLoad, event(goalEvents.ended, message, { entry: index, best }));
  return true;
};

/** Finds out how many bits an event carries; undefined while that is not known. */
const calibrate = async (deps: Deps, runId: number, search: Search, newest: number): Promise<number | undefined> => {
  const { index, goal } = search;
  const [known] = await dataOf<{ bits: number }>(deps, runId, goalEvents.calibrated, index);
  if (known !== undefined) return known.bits;
  const [started] = await dataOf<{ fromSec: number }>(deps, runId, goalEvents.started, index);
  const fromSec = (started?.fromSec ?? 0) + Math.ceil(goal.settleSec) + goalLagSec;
  const toSec = fromSec + Math.ceil(goal.trialSec) - 1;
  if (newest < toSec + goalLagSec) return undefined;
  const value = trialReader(deps.metrics, { runId, index, fromSec, toSec });
  const begun = (await value('achievedLoad', 'avg')) ?? 0;
  const bits = begun > 0 ? Math.round((await bitsOf(value)) / begun) : 0;
  const message = `${bits} bits for each of ${search.member}`;
  await note(deps, runId, event(goalEvents.calibrated, message, { entry: index, bits }));
  return bits;
};

/** The rate for a load; or why there is none: not yet, or never. */
const rateFor = async (
  deps: Deps,
  runId: number,
  search: Search,
  { newest, judged }: { newest: number; judged: readonly JudgedEvent[] },
): Promise<((load: number) => number) | 'wait' | 'nothing'> => {
  if (search.goal.metric !== 'throughputBps') return (load) => load;
  const calibrated = await calibrate(deps, runId, search, newest);
  if (calibrated === undefined) return 'wait';
  const bits = bitsPerEvent(calibrated, judged);
  return bits > 0 ? (load) => load / bits : 'nothing';
};

/** One step of a search, if it is time for one. Answers whether the search has ended. */
const advance = async (deps: Deps, runId: number, search: Search, newest: number): Promise<boolean> => {
  const { index, goal } = search;
  const read = <T>(type: string) => dataOf<T>(deps, runId, type, index);
  if ((await read(goalEvents.ended)).length > 0) return true;
  const begun = (await read<Begun>(goalEvents.begun)).at(-1);
  const judged = await read<JudgedEvent>(goalEvents.judged);
  if (begun !== undefined && judged.length < begun.number) {
    if (newest < begun.toSec + goalLagSec) return false;
    judged.push(await judge(deps, runId, search, begun));
  }
  const next = nextTrial(goal, judged);
  if (isSearchEnd(next)) return end(deps, runId, search, next.best);
  const rateOf = await rateFor(deps, runId, search, { newest, judged });
  if (rateOf === 'wait') return false;
  if (rateOf === 'nothing') return end(deps, runId, search, null, 'nothing was carried');
  const fromSec = newest + goalLagSec + Math.ceil(goal.settleSec);
  const toSec = fromSec + Math.ceil(goal.trialSec) - 1;
  await begin(deps, runId, search, { ...next, rate: rateOf(next.load), number: judged.length + 1, fromSec, toSec });
  return false;
};

/** Begins a search that has waited for others. */
const startSearch = async (deps: Deps, runId: number, search: Search, newest: number) => {
  const { index, goal } = search;
  if ((await dataOf(deps, runId, goalEvents.started, index)).length > 0) return;
  const made = event(goalEvents.started, `the search of ${goal.metric} begins`, { entry: index, fromSec: newest });
  // Before its first trial a search of throughput learns what an event carries.
  const load = goal.metric === 'throughputBps' ? calibrationRate : idleLoad;
  await setLoad(deps, runId, search, load, made);
};

/** Searches of the lowest order that have not ended. */
const advanceInOrder = async (deps: Deps, runId: number, searches: readonly Search[], newest: number) => {
  const orders = [...new Set(searches.map(({ goal }) => goal.order))].sort((a, b) => a - b);
  for (const order of orders) {
    const ended: boolean[] = [];
    for (const search of searches.filter(({ goal }) => goal.order === order)) {
      if (order !== orders[0]) await startSearch(deps, runId, search, newest);
      ended.push(await advance(deps, runId, search, newest));
    }
    if (!ended.every(Boolean)) return false;
  }
  return true;
};

/** Searches the highest load of runs with a goal and ends them when it is found. */
export const createGoalWatch = (deps: Deps) => async (view: RunView) => {
  const { run } = view;
  if (run.status !== runStatus.running || run.t0 === null) return;
  const searches = searchesOf(view);
  if (searches.length === 0) return;
  const { newest } = await deps.metrics.progressOf(run.id);
  const isDone = await advanceInOrder(deps, run.id, searches, newest);
  if (isDone) await deps.steps.stop(view, { endStatus: runStatus.finished, reason: 'goal', error: '' });
};
