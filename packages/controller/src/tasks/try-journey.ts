import { type api, httpPlugin, isTerminal, type TriedExchange, type TryBody } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { ApiError, forbidden, type Issue, invalid, orNotFound } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { allows } from '../people/permissions.ts';
import type { Runs } from '../runs/lifecycle/create-runs.ts';
import type { Change, Origin } from '../store/engine/change.ts';
import { dropLinks } from '../store/engine/links.ts';
import { removeRuns } from '../store/runs/run-removal.ts';
import { type RunRow, runRowPage } from '../store/runs/run-rows.ts';
import { runs as runTable } from '../store/runs/runs.ts';
import type { Store } from '../store/store.ts';
import { findTask, tasks } from '../store/tasks/tasks.ts';
import { patchedDefinition } from './records/update-task.ts';
import { assertValidTask, type Definition, definitionOf, insertTask } from './records/write-task.ts';

interface Deps {
  readonly store: Store;
  readonly runs: Pick<Runs, 'check' | 'enqueue' | 'stopTask' | 'waitForEnd'>;
}

const maxExchanges = 100;
const defaultWaitSec = 30;
const stopMs = 15_000;
/** Pauses of people are not waited for. */
const maxThinkMs = 200;

type Values = Readonly<Record<string, unknown>>;
type Step = Values & { readonly kind?: string; readonly thinkMs?: number };
type Journey = Values & { readonly steps: readonly Step[] };

const stepOf = (step: Step): Step =>
  step.kind === 'think'
    ? { ...step, distribution: 'fixed', thinkMs: Math.min(step.thinkMs ?? maxThinkMs, maxThinkMs), thinkMaxMs: 0 }
    : step;

/** The values of an entry for one user that goes through one journey once. */
const onceOf = (values: Values, journey: Journey, lastStep: number | undefined): Values => {
  const { requestsPerSecond, sessionsPerSecond, totalSessions, initialTps, tpsRampStep, cpuCores, ...rest } = values;
  const sources = (values['sources'] as readonly unknown[] | undefined) ?? [];
  const steps = journey.steps.slice(0, lastStep === undefined ? undefined : lastStep + 1).map(stepOf);
  return {
    ...rest,
    sources: sources.slice(0, 1),
    rpsUnlimited: true,
    duration: { mode: 'count', count: 1 },
    httpParams: {
      ...(values['httpParams'] as Values),
      ...{ connections: 1, traceExchanges: maxExchanges, traceFailed: false },
      journeys: [{ ...journey, steps }],
    },
  };
};

const journeyOf = (definition: Definition, { index = 0, journey: at = 0 }: TryBody) => {
  const entry = definition.configuration[index];
  const refuse = (path: string, code: string, message: string) => invalid([{ path, code, message } satisfies Issue]);
  if (entry === undefined) throw refuse('/index', 'ENTRY_UNKNOWN', `there is no entry ${index}`);
  const values = entry.values as Values;
  const journeys = (values['httpParams'] as { journeys?: readonly Journey[] } | undefined)?.journeys ?? [];
  if (entry.plugin.id !== httpPlugin.id)
    throw refuse('/index', 'JOURNEY_UNKNOWN', 'only entries of http have journeys');
  const journey = journeys[at];
  if (journey === undefined) throw refuse('/journey', 'JOURNEY_UNKNOWN', `the entry has no journey ${at}`);
  return { entry, values, journey };
};

const givenDefinition = async ({ store }: Deps, { id, ...given }: TryBody): Promise<Definition> => {
  if (id === undefined) return definitionOf(given);
  const task = await orNotFound(findTask(store.read, id), 'task', id);
  return patchedDefinition(task, given, store.secrets).after;
};

/** A definition of its own needs the right to write one. */
const assertMayDefine = ({ permissions }: Caller, { configuration, accessPlane, controlPlane }: TryBody) => {
  const isOwn = (configuration ?? accessPlane ?? controlPlane) !== undefined;
  const permission = 'tasks.write';
  if (isOwn && !allows(permissions, permission))
    throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
};

const parsed = (text: unknown): Record<string, string> => JSON.parse(String(text)) as Record<string, string>;

const exchangeOf = ({ state, cells }: RunRow): TriedExchange => {
  const { journey: _, user: _user, iteration: _iteration, variables, extracted, ...shown } = cells;
  return { ...shown, state, variables: parsed(variables), extracted: parsed(extracted) } as TriedExchange;
};

const createTried = async (deps: Deps, origin: Origin, body: TryBody): Promise<number> => {
  const definition = await givenDefinition(deps, body);
  const { entry, values, journey } = journeyOf(definition, body);
  const once = { ...entry, values: onceOf(values, journey, body.step) };
  const tried = definitionOf({ ...definition, configuration: [once as never], dumps: null });
  return deps.store.change(origin, async (tx) => {
    await assertValidTask(tx, tried);
    const comment = `Try of journey ${String(journey['name'] ?? '')}`.trim();
    return insertTask(tx, deps.store.secrets, { ...tried, comment, projectID: null, thresholds: [], device: null });
  });
};

const discard = async (tx: Change, taskId: number, runId?: number) => {
  if (runId !== undefined) await removeRuns(tx, [runId]);
  await tasks.remove(tx, [taskId]);
  await dropLinks(tx, 'task', [taskId]);
};

/** Stops a run that takes too long; false when it has not ended even then. */
const stopLate = async (
  { runs, store }: Deps,
  origin: Origin,
  { taskId, runId }: { taskId: number; runId: number },
) => {
  const request = { mode: 'abort', reason: 'user', note: 'the try took too long' } as const;
  await runs.stopTask(origin, taskId, request).catch((error) => {
    // The run ended on its own in the meantime.
    if (!(error instanceof ApiError && error.code === 'ILLEGAL_TRANSITION')) throw error;
  });
  await runs.waitForEnd(runId, stopMs);
  return isTerminal((await runTable.find(store.read, runId))?.status ?? 0);
};

/** Runs a journey once, as a task of its own that is removed at the end. */
export const tryHandlers = (deps: Deps): Pick<Handlers<typeof api.tasks>, 'try'> => ({
  try: async ({ body }, caller) => {
    const { store, runs } = deps;
    assertMayDefine(caller, body);
    const { userId, address, requestId, operation, permissions } = caller;
    const origin: Origin = { userId, address, requestId, operation };
    const taskId = await createTried(deps, origin, body);
    const checked = await runs.check({ taskId, userId, permissions, by: 'user', body: {} }).catch(async (error) => {
      await store.change(origin, (tx) => discard(tx, taskId));
      throw error;
    });
    const { runId } = await store.change(origin, (tx) => runs.enqueue(tx, checked));
    const { waitSec = defaultWaitSec } = body;
    const isInTime = await runs.waitForEnd(runId, waitSec * 1000);
    const hasEnded = isInTime || (await stopLate(deps, origin, { taskId, runId }));
    const late = isInTime ? '' : `it did not end within ${waitSec} s and was stopped`;
    const run = await runTable.find(store.read, runId);
    const filter = { runID: runId, tableName: 'exchanges' as const, agentID: 0, state: '', search: '' };
    const { rows } = await runRowPage(store.read, { ...filter, limit: maxExchanges, offset: 0 });
    return store.change(caller, async (tx) => {
      if (hasEnded) await discard(tx, taskId, runId);
      const data = { status: run?.status ?? 0, error: run?.error || late, exchanges: rows.map(exchangeOf) };
      return { data };
    });
  },
});
