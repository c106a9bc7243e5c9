import { Threshold, taskReferences } from '@rushhour/contract';
import { Type } from 'typebox';
import { invalid } from '../../errors.ts';
import { resolveSignatureFilters } from '../../plan/load/signature-filters.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import type { Calendar } from '../../runs/schedules/calendar.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import { openCertificate } from '../../store/assets/certificates.ts';
import { openParams, tunnels } from '../../store/assets/tunnels.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import type { StoredTask } from '../../store/tasks/tasks.ts';
import { taskTemplates } from '../../store/tasks/tasks.ts';
import { issuesOfUnknown } from '../../tasks/check/check-definition.ts';
import { referenceIssues } from '../../tasks/check/reference-rules.ts';
import { thresholdIssues } from '../../tasks/check/threshold-rules.ts';
import { conflictsWith } from '../../tasks/check/validate-conflicts.ts';
import { removeTask } from '../../tasks/records/removal.ts';
import { createTask, definitionOf } from '../../tasks/records/write-task.ts';
import { fillTemplate } from '../../tasks/templates/fill.ts';
import { gatherTask } from '../../tasks/transfer/export/export-plan.ts';
import type { PartsOf } from '../../tasks/transfer/export/record-exporter.ts';
import type { TaskOperations } from './approval-tasks.ts';
import { digestOf } from './digest.ts';
import { secretHash, type TaskDependencies } from './digest-subject.ts';

type Gathered = Awaited<ReturnType<typeof gatherTask>>;

/** Secrets are not exported, so fingerprints of exports ignore them; here they count. */
const secretIn = async (executor: Executor, { secrets }: Store, kind: string, id: number) => {
  if (kind === 'certificates') return (await openCertificate(executor, secrets, id))?.private ?? '';
  if (kind !== 'tunnels') return '';
  const tunnel = await tunnels.find(executor, id);
  return tunnel === undefined || tunnel.secrets === '' ? '' : JSON.stringify(openParams(tunnel, secrets));
};

/** The content and state of a signature. A fingerprint includes the name but not the state. */
const markOf = ({ kind, fingerprint, parts }: Gathered['records'][number]) => {
  if (kind !== 'cveSignatures') return fingerprint;
  const { signature } = parts as PartsOf<'cveSignatures'>;
  const { requests, responses, variables, payloads, combine, maxAttempts, expect } = signature;
  const { protocol, direction, safety, enabled } = signature;
  const content = { requests, responses, variables, payloads, combine, maxAttempts, expect };
  return digestOf({ ...content, protocol, direction, safety, enabled });
};

const fingerprintsOf = async (executor: Executor, store: Store, { records, missing }: Gathered) => {
  const found: Record<string, Record<string, string>> = {};
  const put = (kind: string, id: number, fingerprint: string) => {
    found[kind] = { ...found[kind], [id]: fingerprint };
  };
  for (const record of records) {
    const { kind, id } = record;
    const mark = markOf(record);
    const secret = await secretIn(executor, store, kind, id);
    put(kind, id, secret === '' ? mark : `${mark} ${secretHash(store.secrets, secret)}`);
  }
  for (const { kind, sourceId } of missing) put(kind, sourceId, 'missing');
  return found;
};

const sourceNetworks = (task: StoredTask) =>
  new Set(
    taskReferences(task)
      .filter(({ kind, path }) => kind === 'network' && path.includes('/sources/'))
      .map(({ id }) => id),
  );

const isSpoofing = (task: StoredTask, { records }: Gathered) => {
  const sources = sourceNetworks(task);
  return records.some(
    ({ kind, id, parts }) =>
      kind === 'networks' &&
      sources.has(id) &&
      (parts as { network?: { spoofing?: boolean } }).network?.spoofing === true,
  );
};

const dependenciesOf = async (executor: Executor, store: Store, stored: StoredTask): Promise<TaskDependencies> => {
  // A start would freeze the current result of the filter.
  const task = await resolveSignatureFilters(executor, stored);
  const gathered = await gatherTask(executor, task as Parameters<typeof gatherTask>[1]);
  const agentIds = taskReferences(task).flatMap(({ kind, id }) => (kind === 'agent' ? [id] : []));
  return {
    fingerprints: await fingerprintsOf(executor, store, gathered),
    agentIds: [...new Set(agentIds)].sort((a, b) => a - b),
    isSpoofing: isSpoofing(task, gathered),
  };
};

const checkThresholds = createSchemaCheck(Type.Array(Threshold, { maxItems: 100 }));

/** Fills in defaults, too. */
const shapeIssues = (thresholds: unknown) =>
  checkThresholds(thresholds).map((issue) => ({ ...issue, path: `/thresholds${issue.path}` }));

interface Deps {
  readonly store: Store;
  readonly runs: Pick<Runs, 'stop'>;
  readonly calendar: Calendar;
}

/** Task operations for the AI gateway. */
export const createTaskOperations = ({ store, runs, calendar }: Deps): TaskOperations => ({
  dependenciesOf: (executor, task) => dependenciesOf(executor, store, task),
  check: async (executor, given) => {
    const { thresholds = [], ...task } = (given ?? {}) as { thresholds?: Threshold[] };
    const issues = [...issuesOfUnknown(task), ...shapeIssues(thresholds)];
    // Only a well-formed task has references.
    if (issues.length > 0) return issues;
    return [
      ...(await referenceIssues(executor, task as never)),
      ...thresholdIssues(definitionOf(task as never), thresholds),
    ];
  },
  create: (tx, draft) => createTask(tx, store.secrets, draft),
  conflictsOf: (plan, taskId) => conflictsWith({ read: store.read, calendar }, plan, taskId),
  fromTemplate: async (executor, id, filling) => {
    const template = await taskTemplates.find(executor, id);
    if (template === undefined) return undefined;
    const { task, issues } = fillTemplate(template, filling);
    // What is not given yet is a problem of the draft; what is wrong is refused.
    const wrong = issues.filter(({ code }) => code !== 'SLOT_UNFILLED' && code !== 'PARAMETER_UNFILLED');
    if (wrong.length > 0) throw invalid(wrong);
    return task as Record<string, unknown>;
  },
  remove: (tx, id) => removeTask(tx, id, runs, false),
});
