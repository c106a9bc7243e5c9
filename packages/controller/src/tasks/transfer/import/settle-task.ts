import { type ImportBody, secretSlotsIn, type TaskDraft } from '@rushhour/contract';
import { type Issue, invalid } from '../../../errors.ts';
import { agents } from '../../../store/agents/agents.ts';
import type { Change } from '../../../store/engine/change.ts';
import type { Executor } from '../../../store/engine/database.ts';
import type { Secrets } from '../../../store/engine/secrets.ts';
import { thresholdIssues } from '../../check/threshold-rules.ts';
import { createTask, definitionOf } from '../../records/write-task.ts';
import { needsOf, type PortableTask, type TaskNeeds, withCampaignParameters } from '../export/portable-task.ts';
import { valueAt, withValues } from '../json-pointer.ts';
import { type Reference, withReferences } from '../reference.ts';
import type { CheckedArchive } from './check-archive.ts';
import { at } from './issues-at.ts';

interface Settling {
  readonly archive: CheckedArchive;
  readonly body: ImportBody;
  /** The archive's secrets in clear. */
  readonly secrets: Readonly<Record<string, string>>;
  idOf(reference: Pick<Reference, 'kind' | 'id'>): number;
}

/** Stores the task with the ids of this controller. */
export const settleTask = async (tx: Change, secrets: Secrets, { archive, body, secrets: opened, idOf }: Settling) => {
  const { task } = archive;
  const needs = needsOf(task);
  const { values, warnings } = await interfacesHere(tx, archive, needs, idOf);
  // Removing interfaces shifts only other interfaces: no list mixes them with records.
  const moved = withReferences(withValues(task, values), needs.references, idOf);
  const settled = withCampaignParameters(moved, needs.campaigns, idOf);
  const whole = withSecrets(settled, { ...opened, ...body.secrets });
  const { comment = whole.comment, projectID = null } = body;
  const id = await at('/task', async () => {
    const issues = thresholdIssues(definitionOf(whole as TaskDraft), whole.thresholds);
    if (issues.length > 0) throw invalid(issues);
    return createTask(tx, secrets, { ...(whole as TaskDraft), thresholds: whole.thresholds, comment, projectID });
  });
  return { id, warnings };
};

type Value = readonly [path: string, value: unknown];

/** Interfaces are matched by name; those that the chosen agent lacks are removed. */
const interfacesHere = async (
  executor: Executor,
  { records }: CheckedArchive,
  needs: TaskNeeds,
  idOf: Settling['idOf'],
) => {
  const values: Value[] = [];
  const warnings: string[] = [];
  for (const { path, id, agentId } of needs.interfaces) {
    const name = records.find('agents', agentId)?.agent.interfaces.find((one) => one.id === id)?.name;
    const agent = agentId === 0 ? undefined : await agents.find(executor, idOf({ kind: 'agents', id: agentId }));
    const here = agent?.interfaces.find((one) => one.name === name);
    values.push([path, here?.id]);
    if (here === undefined)
      warnings.push(`agent "${agent?.name}" has no interface "${name ?? id}": ${path} is left out`);
  }
  return { values, warnings };
};

/** Inserts secrets, and changes nothing else. */
const withSecrets = (task: PortableTask, secrets: Readonly<Record<string, string>>): PortableTask => {
  const copy = structuredClone(task);
  const issues: Issue[] = [];
  const slots = new Map(secretSlotsIn(copy.configuration).map((slot) => [slot.path, slot]));
  for (const [path, secret] of Object.entries(secrets)) {
    const slot = slots.get(path);
    const isInside = slot !== undefined && valueAt(copy, path.slice(0, path.lastIndexOf('/'))) === slot.holder;
    if (isInside) slot.holder[slot.member] = secret;
    else
      issues.push({
        path: `/secrets/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        code: 'UNKNOWN_SECRET',
        message: 'does not point to a secret',
      });
  }
  if (issues.length > 0) throw invalid(issues);
  return copy;
};
