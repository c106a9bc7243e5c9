import { conflict, type Issue } from '../../../errors.ts';
import { knownCampaigns } from '../../../security/campaigns/campaigns.ts';
import { agents } from '../../../store/agents/agents.ts';
import { applications } from '../../../store/assets/applications.ts';
import { certificates } from '../../../store/assets/certificates.ts';
import { dictionaries } from '../../../store/assets/dictionaries.ts';
import { files } from '../../../store/assets/files.ts';
import { macs } from '../../../store/assets/macs.ts';
import { findNetworkDraft } from '../../../store/assets/networks.ts';
import { tunnels } from '../../../store/assets/tunnels.ts';
import type { Executor } from '../../../store/engine/database.ts';
import { cveSignatures } from '../../../store/security/cve.ts';
import { createGatherer, type Gathered, isMissing } from '../export/gather.ts';
import type { RecordKind } from '../reference.ts';
import type { Decision, Decisions } from './decide.ts';

type Find = (executor: Executor, id: number) => Promise<{ updatedAt: string; l2PolicyVersion?: number } | undefined>;

const finders: Readonly<Record<RecordKind, Find>> = {
  agents: agents.find,
  applications: applications.find,
  certificates: certificates.find,
  compromisedHostCampaigns: async (executor, id) => (await knownCampaigns(executor, [id]))[0],
  cveSignatures: cveSignatures.find,
  dictionaries: dictionaries.find,
  files: files.find,
  macs: macs.find,
  networks: findNetworkDraft,
  tunnels: tunnels.find,
};

/** A text that changes with the record; undefined when it is deleted. Changes of agents do not count. */
const versionOf = async (executor: Executor, kind: RecordKind, id: number): Promise<string | undefined> => {
  const found = await finders[kind](executor, id);
  return found && (kind === 'agents' ? 'there' : `${found.updatedAt} ${found.l2PolicyVersion ?? ''}`);
};

/** Versions of the existing records that an import uses, by kind and id. */
export type Versions = readonly {
  readonly kind: RecordKind;
  readonly id: number;
  readonly version: string | undefined;
}[];

/** Checks that the records found by the plan are unchanged and records their versions. */
export const assertUnchanged = async (executor: Executor, decisions: Decisions): Promise<Versions> => {
  const gatherer = createGatherer(executor);
  for (const decision of decisions.values()) {
    if (decision.how !== 'reuse') continue;
    const found = await gatherer.find({ kind: decision.kind, id: decision.targetId });
    if (isMissing(found) || found.fingerprint !== decision.fingerprint) throw changed(decision);
  }
  const relied = (await gatherer.all()).filter((found): found is Gathered => !isMissing(found));
  return Promise.all(relied.map(async ({ kind, id }) => ({ kind, id, version: await versionOf(executor, kind, id) })));
};

/** The same check inside the transaction, where it is cheap. */
export const assertSameVersions = async (executor: Executor, versions: Versions) => {
  for (const { kind, id, version } of versions) {
    if ((await versionOf(executor, kind, id)) !== version) throw changed({ kind, targetId: id });
  }
};

const changed = ({ kind, targetId }: Pick<Extract<Decision, { how: 'reuse' }>, 'kind' | 'targetId'>) =>
  conflict('IMPORT_CHANGED', `${kind} ${targetId} was changed or deleted after the plan: plan again`, {
    kind,
    id: targetId,
  });

/** Records named by a mapping that do not exist. */
export const unknownTargets = async (executor: Executor, decisions: Decisions): Promise<Issue[]> => {
  const issues: Issue[] = [];
  for (const decision of decisions.values()) {
    if (decision.how !== 'map') continue;
    const { kind, sourceId, targetId } = decision;
    if ((await versionOf(executor, kind, targetId)) !== undefined) continue;
    const message = `there is no such record: ${targetId}`;
    issues.push({ path: `/mapping/${kind}/${sourceId}`, code: 'UNKNOWN_TARGET', message });
  }
  return issues;
};
