import { type FoundReference, taskReferences } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { stepReferences } from '../../security/campaigns/action-params.ts';
import { findCampaign, knownCampaigns } from '../../security/campaigns/campaigns.ts';
import type { Executor } from '../../store/engine/database.ts';
import {
  interfacesOf,
  isReferredKind,
  type ReferredKind,
  type ReferredRecords,
  referredRecords,
} from '../../store/engine/referred-records.ts';
import type { Definition } from './check-definition.ts';
import { sampleIssues } from './sample-rules.ts';

/** Every existing record named by a definition. */
type Known = { [K in ReferredKind]: Map<number, ReferredRecords[K]> };
type Judge<Kind extends ReferredKind> = (reference: FoundReference, record: ReferredRecords[Kind]) => Issue[];

const issue = ({ path }: FoundReference, code: string, message: string): Issue[] => [{ path, code, message }];

const kinds = [
  'agent',
  'network',
  'tunnel',
  'certificate',
  'file',
  'dictionary',
  'application',
  'signature',
  'campaign',
  'task',
] as const;

const readKnown = async (executor: Executor, references: readonly FoundReference[]): Promise<Known> => {
  const idsOf = (kind: ReferredKind) => [...new Set(references.filter((r) => r.kind === kind).map(({ id }) => id))];
  const found = await Promise.all(
    kinds.map(async (kind) => [kind, await referredRecords(executor, kind, idsOf(kind))] as const),
  );
  return Object.fromEntries(found) as unknown as Known;
};

const clientNetwork = 1;
const serverNetwork = 2;

/** Networks are for clients, for servers, or for both. */
const judgeNetwork: Judge<'network'> = (reference, { name, type }) => {
  const unfit = /\/sources\/\d+\/network\/id$/.test(reference.path) ? serverNetwork : clientNetwork;
  if (type !== unfit) return [];
  const side = unfit === serverNetwork ? 'servers' : 'clients';
  return issue(reference, 'NETWORK_ROLE', `network "${name}" is only for ${side}`);
};

/** A presented certificate needs its private key; an authority does not. */
const judgeCertificate: Judge<'certificate'> = (reference, { name, hasPrivate }) => {
  const needsKey = !/\/(caCertificateID|ipsecCa)$/.test(reference.path);
  if (hasPrivate === 1 || !needsKey) return [];
  return issue(reference, 'CERTIFICATE_WITHOUT_KEY', `certificate "${name}" has no private key`);
};

const judgeFile: Judge<'file'> = (reference, { name, category, state }) => {
  const { categories } = reference;
  if (categories !== undefined && !categories.some((fit) => fit === category)) {
    const wanted = categories.join(', ');
    return issue(reference, 'FILE_CATEGORY', `file "${name}" is of category ${category}; it must be ${wanted}`);
  }
  // Samples have their own rules.
  if (category === 'malware') return [];
  // Alerts are written during the test: their file is completed afterwards.
  if (/\/alerts\/fileID$/.test(reference.path)) return [];
  return state === 'ready' ? [] : issue(reference, 'FILE_NOT_READY', `file "${name}" is not ready`);
};

const judgeDictionary: Judge<'dictionary'> = (reference, { name, type }) => {
  const { protocol } = reference;
  const isProfile = type.startsWith('protocol.');
  if (protocol === undefined) {
    return isProfile ? issue(reference, 'DICTIONARY_TYPE', `dictionary "${name}" is a profile and has no values`) : [];
  }
  if (type === `protocol.${protocol}`) return [];
  return issue(reference, 'DICTIONARY_TYPE', `dictionary "${name}" is of type ${type}, not protocol.${protocol}`);
};

interface Played {
  readonly parameters?: readonly unknown[];
  readonly sessions?: readonly { readonly speed?: unknown }[];
}

const judgeApplication: Judge<'application'> = (reference, { name, lockParameters, allowPerSessionSpeed }) => {
  const { parameters = [], sessions = [] } = reference.beside as Played;
  const parent = reference.path.slice(0, reference.path.lastIndexOf('/'));
  const locked: Issue = {
    path: `${parent}/parameters`,
    code: 'PARAMETERS_LOCKED',
    message: `application "${name}" does not allow tasks to set its parameters`,
  };
  const fixed = sessions.flatMap(({ speed }, i) =>
    speed === undefined || allowPerSessionSpeed === 1
      ? []
      : [
          {
            path: `${parent}/sessions/${i}/speed`,
            code: 'SPEED_FIXED',
            message: `application "${name}" does not allow a speed per session`,
          },
        ],
  );
  return [...(lockParameters === 1 && parameters.length > 0 ? [locked] : []), ...fixed];
};

const judges: { readonly [K in ReferredKind]?: Judge<K> } = {
  agent: (reference, { name, isBlocked }) =>
    isBlocked === 1 ? issue(reference, 'AGENT_BLOCKED', `agent "${name}" is blocked`) : [],
  network: judgeNetwork,
  certificate: judgeCertificate,
  file: judgeFile,
  dictionary: judgeDictionary,
  application: judgeApplication,
};

const judgeInterface = (reference: FoundReference, { agent: agents }: Known): Issue[] => {
  const { agent } = reference.beside as { agent?: { id?: number } };
  const found = agent?.id === undefined ? undefined : agents.get(agent.id);
  if (agent === undefined) return issue(reference, 'INTERFACE_WITHOUT_AGENT', 'belongs to an agent, and none is named');
  if (found === undefined || interfacesOf(found).some(({ id }) => id === reference.id)) return [];
  return issue(reference, 'INTERFACE_UNKNOWN', `agent "${found.name}" has no interface ${reference.id}`);
};

/** Campaigns ship with the controller or come with an imported task. */
const judgeCampaign = (reference: FoundReference, { campaign: stored }: Known): Issue[] =>
  findCampaign(reference.id) || stored.has(reference.id)
    ? []
    : issue(reference, 'CAMPAIGN_UNKNOWN', `there is no campaign ${reference.id}`);

const decideVerdict = (reference: FoundReference, known: Known): Issue[] => {
  const { kind, id } = reference;
  if (kind === 'interface') return judgeInterface(reference, known);
  if (kind === 'campaign') return judgeCampaign(reference, known);
  if (!isReferredKind(kind)) return [];
  const record = known[kind].get(id);
  if (record === undefined) return issue(reference, `${kind.toUpperCase()}_UNKNOWN`, `there is no ${kind} ${id}`);
  return (judges[kind] as Judge<typeof kind> | undefined)?.(reference, record) ?? [];
};

/** References made by the task's campaigns, reported where the task names the campaign. */
const throughCampaigns = async (executor: Executor, references: readonly FoundReference[]) => {
  const pathOfId = new Map(references.filter(({ kind }) => kind === 'campaign').map(({ id, path }) => [id, path]));
  if (pathOfId.size === 0) return [];
  const campaigns = await knownCampaigns(executor, [...pathOfId.keys()]);
  return campaigns.flatMap(({ id, steps }) =>
    stepReferences(steps).map((reference) => ({ ...reference, path: pathOfId.get(id) ?? '' })),
  );
};

/** References to records that do not exist or do not fit. `withoutAgents` skips agents and interfaces. */
export const referenceIssues = async (
  executor: Executor,
  definition: Definition,
  { withoutAgents = false } = {},
): Promise<Issue[]> => {
  const named = taskReferences(definition).filter(
    ({ kind }) => !withoutAgents || (kind !== 'agent' && kind !== 'interface'),
  );
  const references = [...named, ...(await throughCampaigns(executor, named))];
  const known = await readKnown(executor, references);
  const issues = references.flatMap((reference) => decideVerdict(reference, known));
  return [...issues, ...(await sampleIssues(executor, references, known.file))];
};
