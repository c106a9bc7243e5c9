import type { ImportPlan } from '@rushhour/contract';
import { campaigns } from '../../../security/campaigns/campaigns.ts';
import { agents } from '../../../store/agents/agents.ts';
import type { Executor } from '../../../store/engine/database.ts';
import { statement } from '../../../store/engine/statement.ts';
import { campaignsNamed } from '../../../store/security/campaigns.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import type { RecordKind } from '../reference.ts';
import type { ArchiveRecord } from './archive-records.ts';

type Candidate = ImportPlan['items'][number]['candidates'][number];

const maxCandidates = 10;
const agentsLooked = 5000;

const namedIn = <Name extends Exclude<RecordKind, 'agents' | 'compromisedHostCampaigns'>>(table: Name) =>
  statement((db, p: { name: string }) =>
    db
      .selectFrom(table as 'networks')
      .select(['id', 'name'])
      .where('name', '=', p.name)
      .orderBy('id')
      .limit(maxCandidates),
  );

const named = {
  applications: namedIn('applications'),
  certificates: namedIn('certificates'),
  cveSignatures: namedIn('cveSignatures'),
  dictionaries: namedIn('dictionaries'),
  files: namedIn('files'),
  macs: namedIn('macs'),
  networks: namedIn('networks'),
  tunnels: namedIn('tunnels'),
};

const campaignsCalled = async (executor: Executor, name: string): Promise<Candidate[]> => [
  ...campaigns.filter((campaign) => campaign.name === name).map(({ id }) => ({ id, name })),
  ...(await campaignsNamed(executor, name)),
];

const recordsCalled = (executor: Executor, kind: Exclude<RecordKind, 'agents'>, name: string): Promise<Candidate[]> =>
  kind === 'compromisedHostCampaigns' ? campaignsCalled(executor, name) : named[kind].all(executor, { name });

/** Whether a record of this kind has the name. */
export const isNameTaken = async (executor: Executor, kind: Exclude<RecordKind, 'agents'>, name: string) =>
  (await recordsCalled(executor, kind, name)).length > 0;

/** Candidates in this controller: records of the same name, and agents with common tags. */
export const findCandidates = async (executor: Executor, { kind, name, parts }: ArchiveRecord): Promise<Candidate[]> =>
  kind === 'agents'
    ? agentsLike(executor, (parts as unknown as PartsOf<'agents'>).agent)
    : recordsCalled(executor, kind, name);

const tagsOf = (tags: string) => tags.split(',').filter((tag) => tag !== '');

const agentsLike = async (executor: Executor, { name, tags }: PartsOf<'agents'>['agent']): Promise<Candidate[]> => {
  const wanted = new Set(tagsOf(tags));
  const { rows } = await agents.page(executor, { key: 'id', order: 'asc', limit: agentsLooked, offset: 0 });
  return rows
    .map((agent) => {
      const shared = tagsOf(agent.tags).filter((tag) => wanted.has(tag)).length;
      return { id: agent.id, name: agent.name, score: shared + (agent.name === name ? 1000 : 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, maxCandidates)
    .map(({ id, name }) => ({ id, name }));
};
