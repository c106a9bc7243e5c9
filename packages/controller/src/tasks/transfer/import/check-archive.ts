import { exportSchema, MacPolicy, TaskDraft, TaskExportPlan, Threshold } from '@rushhour/contract';
import { type TSchema, Type } from 'typebox';
import { type Issue, invalid } from '../../../errors.ts';
import { createSchemaCheck } from '../../../schema-check.ts';
import { payloadsOf } from '../export/export-plan.ts';
import { policyOf } from '../export/network-exporter.ts';
import { needsOf, type PortableTask } from '../export/portable-task.ts';
import { keyOf, type Reference } from '../reference.ts';
import { SealedSecrets } from '../sealed-secrets.ts';
import { type ArchiveRecords, recordIssues, recordsOf } from './archive-records.ts';
import type { ArchiveTexts } from './walk-archive.ts';

/** A verified archive. */
export interface CheckedArchive {
  readonly plan: TaskExportPlan;
  readonly task: PortableTask;
  readonly records: ArchiveRecords;
  readonly sealed: SealedSecrets | undefined;
  readonly bound: string;
}

const { comment, accessPlane, controlPlane, configuration, dumps } = TaskDraft.properties;
const ArchivedTask = Type.Object(
  { comment, accessPlane, controlPlane, configuration, dumps, thresholds: Type.Array(Threshold, { maxItems: 200 }) },
  {
    additionalProperties: false,
    required: ['comment', 'accessPlane', 'controlPlane', 'configuration', 'dumps', 'thresholds'],
  },
);

/** A longer text is refused at its first problem: a hostile one could have millions. */
const largeChars = 128 * 1024;
const checksOf = (schema: TSchema) => ({ all: createSchemaCheck(schema), first: createSchemaCheck(schema, 'first') });
const checks = {
  manifest: checksOf(TaskExportPlan),
  task: checksOf(ArchivedTask),
  secrets: checksOf(SealedSecrets),
  macPolicy: createSchemaCheck(MacPolicy),
};

/** Refuses an archive with all its issues. `payloads` are the sizes of its content. */
export const checkArchive = (texts: ArchiveTexts, payloads: ReadonlyMap<string, number>): CheckedArchive => {
  assertShape(texts);
  const plan = texts.manifest as TaskExportPlan;
  const task = texts.task as PortableTask;
  const records = recordsOf(plan);
  const issues = [
    ...policyIssues(plan),
    ...recordIssues(records),
    ...payloadIssues(plan, payloads),
    ...unexplained(plan, task, records),
    ...unknownKinds(plan),
  ];
  if (issues.length > 0) throw invalid(issues.slice(0, 100), issues[0]?.code);
  return { plan, task, records, sealed: texts.secrets as SealedSecrets | undefined, bound: texts.bound };
};

const assertShape = ({ manifest, task, secrets, longest }: ArchiveTexts) => {
  const schema = (manifest as { schema?: unknown } | null)?.schema;
  if (typeof schema === 'string' && schema !== exportSchema) {
    const message = `is ${schema.slice(0, 64)}; this controller reads ${exportSchema}`;
    throw invalid([{ path: '/manifest/schema', code: 'UNSUPPORTED_SCHEMA', message }], 'UNSUPPORTED_SCHEMA');
  }
  const mode = longest > largeChars ? 'first' : 'all';
  const issues = [
    ...checks.manifest[mode](manifest, '/manifest'),
    ...checks.task[mode](task, '/task'),
    ...(secrets === undefined ? [] : checks.secrets[mode](secrets, '/secrets')),
  ];
  if (issues.length > 0) throw invalid(issues, 'BAD_ARCHIVE');
};

const policyIssues = ({ dependencies }: TaskExportPlan): Issue[] =>
  dependencies.networks.flatMap((item, index) => {
    const policy = policyOf(item);
    return policy === null ? [] : checks.macPolicy(policy, `/manifest/dependencies/networks/${index}/macPolicy`);
  });

/** Every declared content must exist with its declared length, and no other content may exist. */
const payloadIssues = (plan: TaskExportPlan, payloads: ReadonlyMap<string, number>): Issue[] => {
  const wanted = payloadsOf(plan.dependencies);
  const issues: Issue[] = [];
  for (const [path, size] of wanted) {
    const found = payloads.get(path);
    if (found === undefined)
      issues.push({ path: `/${path}`, code: 'PAYLOAD_MISSING', message: 'is not in the archive' });
    else if (found !== size) issues.push({ path: `/${path}`, code: 'HASH_MISMATCH', message: `has ${found} bytes` });
  }
  for (const path of payloads.keys()) {
    if (!wanted.has(path))
      issues.push({ path: `/${path}`, code: 'PAYLOAD_UNKNOWN', message: 'does not belong to any record' });
  }
  for (const [index, { file, payloadIncluded, payloadPath }] of plan.dependencies.files.entries()) {
    if (payloadPath === (payloadIncluded ? `payload/${file.sha256}` : '')) continue;
    const path = `/manifest/dependencies/files/${index}/payloadPath`;
    issues.push({ path, code: 'HASH_MISMATCH', message: 'does not match the path of its content' });
  }
  return issues;
};

const unknownKinds = ({ dependencies, missing }: TaskExportPlan): Issue[] =>
  missing.flatMap(({ kind }, index) =>
    kind === 'tasks' || Object.hasOwn(dependencies, kind)
      ? []
      : [{ path: `/manifest/missing/${index}/kind`, code: 'UNKNOWN_KIND', message: 'is not a known kind of record' }],
  );

/** Ids that the manifest neither contains nor lists as missing. */
const unexplained = (plan: TaskExportPlan, task: PortableTask, records: ArchiveRecords): Issue[] => {
  const missing = new Set(plan.missing.map(({ kind, sourceId }) => keyOf({ kind, id: sourceId })));
  const { references, tasks } = needsOf(task);
  const needed: (Pick<Reference, 'id' | 'path'> & { kind: string })[] = [
    ...references.map(({ kind, id, path }) => ({ kind, id, path: `/task${path}` })),
    ...tasks.map(({ id, path }) => ({ kind: 'tasks', id, path: `/task${path}` })),
    ...records.all.flatMap((record) =>
      record.references.map(({ kind, id, path }) => ({ kind, id, path: record.path + path })),
    ),
  ];
  return needed
    .filter((reference) => records.record(reference) === undefined && !missing.has(keyOf(reference)))
    .map(({ kind, id, path }) => ({
      path,
      code: 'UNEXPLAINED',
      message: `the manifest does not contain ${kind} ${id}`,
    }));
};
