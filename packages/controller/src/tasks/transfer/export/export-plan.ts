import { type ExportOptions, entriesOf, exportSchema, type TaskExportPlan } from '@rushhour/contract';
import type { Executor } from '../../../store/engine/database.ts';
import type { RecordKind } from '../reference.ts';
import { createGatherer, type Gathered, isMissing, type Missing } from './gather.ts';
import { needsOf, type PortableTask, type TaskNeeds } from './portable-task.ts';
import type { PartsOf } from './record-exporter.ts';
import { readSignatures } from './signature-exporter.ts';

type Dependencies = TaskExportPlan['dependencies'];
type Options = Required<ExportOptions>;

interface Source {
  readonly id: number;
  readonly task: PortableTask;
  /** Secrets removed from the task itself. */
  readonly secretCount: number;
}

/** Reads every record that a task needs. */
export const gatherTask = async (executor: Executor, task: PortableTask) => {
  const needs = needsOf(task);
  const signatures = needs.references.flatMap(({ kind, id }) => (kind === 'cveSignatures' ? [id] : []));
  const gatherer = createGatherer(executor, await readSignatures(executor, signatures));
  for (const reference of needs.references) await gatherer.find(reference);
  const found = await gatherer.all();
  const foreign = needs.tasks.map(({ id }) => ({
    kind: 'tasks',
    sourceId: id,
    reason: 'other tasks are not exported',
  }));
  return {
    needs,
    records: found.filter((one): one is Gathered => !isMissing(one)),
    missing: [...found.filter(isMissing), ...foreign],
  };
};
export type GatheredTask = Awaited<ReturnType<typeof gatherTask>>;

/** The plan of an export; `isSealed` includes sealed secrets. */
export const planOf = (source: Source, gathered: GatheredTask, options: Options, isSealed = false): TaskExportPlan => {
  const dependencies = dependenciesOf(gathered, options);
  return {
    sourceTaskId: source.id,
    schema: exportSchema,
    format: 'zip',
    generatedAt: new Date().toISOString(),
    options,
    summary: summaryOf(dependencies),
    warnings: [
      ...interfaceWarnings(gathered),
      ...contentWarnings(dependencies),
      ...filterWarnings(source.task),
      ...(isSealed ? [] : secretWarnings(source, dependencies)),
    ],
    missing: gathered.missing.map(({ kind, reason, sourceId }: Missing) => ({ kind, reason, sourceId })),
    dependencies,
  };
};

const dependenciesOf = ({ records, needs }: GatheredTask, options: Options): Dependencies => {
  const listed = <Kind extends RecordKind>(kind: Kind, finish = (parts: PartsOf<Kind>, _id: number) => parts) =>
    records
      .filter((record) => record.kind === kind)
      .map(({ id, fingerprint, parts }) => ({
        sourceId: id,
        fingerprint,
        ...finish(parts as unknown as PartsOf<Kind>, id),
      })) as unknown as Dependencies[Kind];
  return {
    agents: listed('agents', (parts, id) => withUsedInterfaces(parts, id, needs)),
    applications: listed('applications'),
    certificates: listed('certificates'),
    compromisedHostCampaigns: listed('compromisedHostCampaigns'),
    cveSignatures: listed('cveSignatures'),
    dictionaries: listed('dictionaries'),
    files: listed('files', (parts) => ({ ...parts, ...payloadOf(parts, options) })),
    macs: listed('macs'),
    networks: listed('networks'),
    tunnels: listed('tunnels'),
  };
};

const withUsedInterfaces = ({ agent }: PartsOf<'agents'>, agentId: number, { interfaces }: TaskNeeds) => {
  const used = new Set(interfaces.filter((use) => use.agentId === agentId).map(({ id }) => id));
  return { agent: { ...agent, interfaces: agent.interfaces.filter(({ id }) => used.has(id)) } };
};

const payloadOf = ({ file }: PartsOf<'files'>, { includeFilePayloads, includeMalwarePayloads }: Options) => {
  const skipped = (payloadSkipped: string) => ({ payloadIncluded: false, payloadPath: '', payloadSkipped });
  if (file.category === 'malware') {
    return skipped(
      includeMalwarePayloads
        ? 'samples leave by GET /malware/{id}/download alone'
        : 'samples of malware were not asked for',
    );
  }
  if (!includeFilePayloads) return skipped('contents of files were not asked for');
  return { payloadIncluded: true, payloadPath: `payload/${file.sha256}`, payloadSkipped: '' };
};

/** Content of the archive by path; equal content is stored once. */
export const payloadsOf = ({ files, dictionaries }: Dependencies): Map<string, number> => {
  const sizes = new Map<string, number>();
  for (const { file, payloadPath } of files) if (payloadPath !== '') sizes.set(payloadPath, file.size);
  for (const { dictionary } of dictionaries) {
    if (dictionary.rowsPath !== '') sizes.set(dictionary.rowsPath, dictionary.rowsBytes);
  }
  return sizes;
};

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

const summaryOf = (dependencies: Dependencies): TaskExportPlan['summary'] => {
  const counts = Object.entries(dependencies).map(([kind, items]) => [kind, items.length]);
  return {
    ...(Object.fromEntries(counts) as Record<keyof Dependencies, number>),
    fileBytes: sum(dependencies.files.map(({ file }) => file.size)),
    payloadBytes: sum(payloadsOf(dependencies).values()),
  };
};

const contentWarnings = ({ files }: Dependencies) =>
  files
    .filter(({ payloadIncluded }) => !payloadIncluded)
    .map(({ sourceId, file, payloadSkipped }) => `file ${sourceId} "${file.name}" has no content: ${payloadSkipped}`);

/** The controller that runs the task evaluates the filter. */
const filterWarnings = ({ configuration }: PortableTask) =>
  entriesOf(configuration).flatMap(({ values, path }) => {
    const { filter } = (values['cveReplayParams'] ?? {}) as { filter?: unknown };
    const filterPath = `${path}/values/cveReplayParams/filter`;
    return filter === undefined ? [] : [`signatures that ${filterPath} finds do not go along: it looks for them anew`];
  });

const secretWarnings = ({ secretCount }: Source, { certificates, tunnels }: Dependencies) => [
  ...(secretCount > 0 ? [`${secretCount} secrets of the task are left out`] : []),
  ...certificates
    .filter(({ hasPrivate }) => hasPrivate)
    .map(({ sourceId, certificate }) => `certificate ${sourceId} "${certificate.name}" leaves its private key behind`),
  ...tunnels
    .filter(({ tunnel }) => tunnel.secretSet)
    .map(({ sourceId, tunnel }) => `tunnel ${sourceId} "${tunnel.name}" leaves its secrets behind`),
];

const interfaceWarnings = ({ records, needs }: GatheredTask) => {
  const known = new Set(
    records
      .filter(({ kind }) => kind === 'agents')
      .flatMap(({ id, parts }) =>
        (parts as unknown as PartsOf<'agents'>).agent.interfaces.map((one) => `${id} ${one.id}`),
      ),
  );
  return needs.interfaces
    .filter(({ agentId, id }) => !known.has(`${agentId} ${id}`))
    .map(({ agentId, id, path }) => `agent ${agentId} has no interface ${id}, which ${path} names`);
};
