import { isActive } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import { ApiError } from '../../errors.ts';
import { allows } from '../../people/permissions.ts';
import { busyAgents } from '../../store/agents/agent-work.ts';
import type { Change, Origin } from '../../store/engine/change.ts';
import { groups } from '../../store/people/groups.ts';
import { users } from '../../store/people/users.ts';
import { newestRunOf } from '../../store/runs/runs.ts';
import {
  agentsOfTasks,
  definitionMark,
  dueSchedules,
  type ScheduleOfTask,
  takeOccurrence,
} from '../../store/runs/schedules.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';
import type { Runs } from '../lifecycle/create-runs.ts';
import { nextOccurrence } from './occurrences.ts';

interface Deps {
  store: Store;
  bus: Bus;
  log: Logger;
  runs: Pick<Runs, 'check' | 'enqueue' | 'isConducting' | 'isMine'>;
  /** An occurrence later than this counts as missed. */
  lateMs?: number;
  /** Missed occurrences start within this time if the schedule asks for it. */
  misfireMs?: number;
}

const tickMs = 1000;

const originOf = ({ taskID, issuerID }: ScheduleOfTask): Origin => ({
  userId: issuerID,
  address: '',
  requestId: `schedule of task ${taskID}`,
  operation: 'schedules.run',
});

const taken = (schedule: ScheduleOfTask, lastRunID: number | null, now: string) => {
  const runsMade = schedule.runsMade + (lastRunID === null ? 0 : 1);
  const isLast = schedule.maxRuns !== null && runsMade >= schedule.maxRuns;
  const next = isLast ? null : nextOccurrence(schedule, Date.parse(now));
  return {
    taskID: schedule.taskID,
    due: schedule.nextRunAt ?? '',
    nextRunAt: next === null ? null : new Date(next).toISOString(),
    runsMade,
    lastRunID: lastRunID ?? schedule.lastRunID,
    now,
  };
};

/** Skips an occurrence and records it. */
const skip = ({ store, bus }: Deps, schedule: ScheduleOfTask, kind: 'missed' | 'skipped' | 'failed', why: string) =>
  store.change(originOf(schedule), async (tx: Change) => {
    if (!(await takeOccurrence(tx, taken(schedule, null, tx.now)))) return;
    tx.touch('tasks', schedule.taskID);
    tx.note({ due: schedule.nextRunAt, [kind]: why });
    const message = `The scheduled run of “${schedule.comment || `task ${schedule.taskID}`}” at ${schedule.nextRunAt} was ${kind === 'failed' ? 'not possible' : kind}: ${why}`;
    await notify(tx, bus, {
      severity: kind === 'failed' ? 'error' : 'warning',
      kind: `schedule.${kind}`,
      message,
      entity: { type: 'task', id: schedule.taskID },
      audience: schedule.issuerID === null ? { permission: 'tasks.read' } : { userID: schedule.issuerID },
    });
  });

const start = async (deps: Deps, schedule: ScheduleOfTask) => {
  const { store, runs } = deps;
  const issuer = schedule.issuerID === null ? undefined : await users.find(store.read, schedule.issuerID);
  if (issuer === undefined || !issuer.isActive)
    return skip(deps, schedule, 'failed', 'its owner may no longer start tasks');
  const group = await groups.find(store.read, issuer.groupID);
  const permissions = new Set((group?.permissions ?? []).map(({ value }) => value));
  if (!allows(permissions, 'tasks.execute')) {
    return skip(deps, schedule, 'failed', 'its owner lost the permission tasks.execute');
  }
  const body = { comment: 'scheduled' };
  const { taskID: taskId, priority } = schedule;
  const checked = await runs.check({ taskId, userId: issuer.id, permissions, by: 'schedule', priority, body });
  if (schedule.definition !== '' && schedule.definition !== definitionMark(checked.task, store.secrets)) {
    const why = 'another user changed the task: schedule it again to run the new definition';
    return skip(deps, schedule, 'failed', why);
  }
  await store.change(originOf(schedule), async (tx) => {
    const { runId } = await runs.enqueue(tx, checked);
    // Another controller took the occurrence first: rolling back also removes the run enqueued here.
    if (!(await takeOccurrence(tx, taken(schedule, runId, tx.now)))) throw new Taken();
  });
};

const occurrence = async (deps: Deps, schedule: ScheduleOfTask) => {
  const { lateMs = 60_000, misfireMs = 3_600_000, store } = deps;
  const lateBy = Date.now() - Date.parse(schedule.nextRunAt ?? '');
  if (lateBy > lateMs && (schedule.misfire === 'skip' || lateBy > misfireMs)) {
    return skip(deps, schedule, 'missed', 'no controller was running at that time');
  }
  const conflict = await conflictOf(store, schedule);
  if (conflict !== undefined)
    return skip(deps, schedule, schedule.onConflict === 'fail' ? 'failed' : 'skipped', conflict);
  try {
    await start(deps, schedule);
  } catch (error) {
    if (error instanceof Taken) return;
    if (!(error instanceof ApiError)) throw error;
    await skip(deps, schedule, 'failed', error.message);
  }
};

const tick = async (deps: Deps) => {
  const { runs, store, log } = deps;
  if (!runs.isConducting()) return;
  for (const schedule of await dueSchedules(store.read, new Date().toISOString())) {
    if (!runs.isMine(schedule.taskID)) continue;
    await occurrence(deps, schedule).catch((error) =>
      log.error({ err: error, taskID: schedule.taskID }, 'could not start a scheduled run'),
    );
  }
};

/** Starts due occurrences. The transaction that takes an occurrence also advances the schedule, so none runs twice. */
export const startScheduler = (deps: Deps) => {
  const { log } = deps;
  let working = Promise.resolve();

  const timer = setInterval(() => {
    working = working
      .then(() => tick(deps))
      .catch((error) => log.error({ err: error }, 'could not read the schedules'));
  }, tickMs);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await working;
    },
  };
};

class Taken extends Error {}

/** What prevents a start now. With `queue` only an active run of the same task does: a task runs once at a time. */
const conflictOf = async (store: Store, { taskID, onConflict }: ScheduleOfTask): Promise<string | undefined> => {
  const newest = await newestRunOf(store.read, taskID);
  if (newest !== undefined && isActive(newest.status)) return `run ${newest.number} of the task has not ended`;
  if (onConflict === 'queue') return undefined;
  const agents = (await agentsOfTasks(store.read, [taskID])).get(taskID) ?? [];
  const busy = await busyAgents(store.read);
  const taken = agents.find((id) => busy.has(id));
  return taken === undefined ? undefined : `agent ${taken} is busy`;
};
