import type { StopReason, Threshold, ThresholdResult } from '@rushhour/contract';
import { type EndStatus, runStatus, verdicts } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import { clockNow, clockNowIso } from '../../clock.ts';
import { createAttackValues } from '../../security/verdicts/attack-values.ts';
import { settleAttacks } from '../../security/verdicts/settle-run.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Change } from '../../store/engine/change.ts';
import { runEventsOf } from '../../store/runs/run-events.ts';
import type { RunPatch, RunRecord } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import type { CommandSender } from '../commands/command-sender.ts';
import type { RunMetrics } from '../verdict/run-metrics.ts';
import { type Breach, evaluate, type MetricReader } from '../verdict/thresholds.ts';
import { decideVerdict, shortened } from '../verdict/verdict.ts';
import type { RunLeases } from './run-leases.ts';
import type { RunView } from './run-view.ts';
import type { RunWriter } from './run-writer.ts';
import { endingOf } from './task-state.ts';

interface Deps {
  store: Store;
  blobs: Pick<Blobs, 'read'>;
  bus: Bus;
  settings: Pick<SettingsStore, 'current'>;
  metrics: RunMetrics;
  writer: RunWriter;
  leases: Pick<RunLeases, 'assertOwned'>;
  commands: CommandSender;
  log: Logger;
}

const dayMs = 86_400_000;

const hasSent = ({ t0 }: RunRecord) => t0 !== null && t0 <= clockNow();

const untested = (thresholds: readonly Threshold[]) =>
  thresholds.map(
    (threshold): ThresholdResult => ({ ...threshold, actual: null, outcome: 'pending', breachedAt: null }),
  );

/** Notifies the user who started a run when it failed. */
const notifyStarter = async (
  tx: Change,
  bus: Bus,
  { id, number, taskID, status, verdict, error, startedBy, definition }: RunRecord,
) => {
  const hasFailed = status === runStatus.failed;
  if (!hasFailed && verdict !== verdicts.failed) return;
  await notify(tx, bus, {
    severity: hasFailed ? 'error' : 'warning',
    kind: hasFailed ? 'run.failed' : 'run.verdictFailed',
    message: `Run ${number} of ${definition.comment || `task ${taskID}`} ${hasFailed ? `failed: ${error}` : 'failed its thresholds'}`,
    entity: { type: 'run', id },
    audience: startedBy === null ? { permission: 'tasks.execute' } : { userID: startedBy },
  });
};

const finalOf = ({ settings }: Deps, run: RunRecord): RunPatch => {
  const now = clockNow();
  return {
    finishedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + settings.current().retention.runsDays * dayMs).toISOString(),
    deadlineAt: null,
    health: run.health === 'recovering' ? 'ok' : run.health,
  };
};

const breachesOf = async ({ store }: Deps, runId: number): Promise<Breach[]> =>
  (await runEventsOf(store.read, runId, 'thresholdBreached')).map(({ data, ts }) => ({
    index: Number(data['index']),
    actual: Number(data['actual']),
    at: ts,
  }));

/** A run ends even when its results cannot be computed. */
const measure = async (deps: Deps, { run }: RunView, problems: string[]) => {
  const { store, blobs, metrics, leases, log } = deps;
  if (!hasSent(run)) return { entries: [], thresholds: untested(run.thresholds) };
  try {
    await settleAttacks({ store, blobs, assertOwned: (tx, id) => leases.assertOwned(tx, id) }, run);
    const attacks = await createAttackValues(store.read, run);
    problems.push(...attacks.doubts());
    const reader: MetricReader = {
      value: (query) => (attacks.isOurs(query.metric) ? attacks.value(query.metric) : metrics.value(query)),
    };
    const options = { breaches: await breachesOf(deps, run.id), now: clockNowIso() };
    const thresholds = await evaluate(run.id, run.thresholds, reader, options);
    return { entries: await metrics.summaryOf(run.id), thresholds };
  } catch (error) {
    log.error({ err: error, runId: run.id }, 'could not compute the results of a run');
    problems.push('the results could not be computed');
    return { entries: [], thresholds: untested(run.thresholds) };
  }
};

/** Ends runs: those that never sent traffic, and those with results. */
export const createRunEnding = (deps: Deps) => {
  const { writer, bus, commands } = deps;

  return {
    /** Ends a run that could not start. */
    fail: async (view: RunView, reason: StopReason, error: string) => {
      const { run } = view;
      const patch: RunPatch = {
        ...finalOf(deps, run),
        stopReason: reason,
        error,
        validity: { valid: false, reasons: [...run.validity.reasons, error] },
        summary: { entries: [], thresholds: untested(run.thresholds) },
      };
      const move = { trigger: 'fail', source: 'controller', patch, message: error } as const;
      const failed = await writer.moveAudited('runs.end', run.id, move, (tx, ended) => notifyStarter(tx, bus, ended));
      commands.dismiss({ run: failed, agents: view.agents }, false);
    },

    /** Ends a run whose results are complete or no longer awaited. */
    finish: async (view: RunView, problems: readonly string[], areSamplesComplete: boolean) => {
      const { run } = view;
      const faults = [...problems, ...(run.endStatus === runStatus.failed ? [run.error] : [])];
      const summary = await measure(deps, view, faults);
      if (hasSent(run)) faults.push(...shortened(view, (await deps.metrics.progressOf(run.id)).newest));
      const tested = summary.thresholds.filter(({ outcome }) => outcome !== 'pending');
      const { verdict, validity } = decideVerdict(view, tested, faults);
      const patch: RunPatch = {
        ...finalOf(deps, run),
        verdict: hasSent(run) ? verdict : verdicts.none,
        validity,
        summary,
      };
      const trigger = endingOf[(run.endStatus ?? runStatus.failed) as EndStatus];
      const move = { trigger, source: 'controller', patch, message: run.error } as const;
      const ended = await writer.moveAudited('runs.end', run.id, move, (tx, last) => notifyStarter(tx, bus, last));
      commands.dismiss({ run: ended, agents: view.agents }, areSamplesComplete);
    },
  };
};

export type RunEnding = ReturnType<typeof createRunEnding>;
