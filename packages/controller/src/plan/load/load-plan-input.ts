import { setImmediate as nextIteration } from 'node:timers/promises';
import {
  type ApplicationParameter,
  type CveSignature,
  type FoundReference,
  findProtocol,
  taskReferences,
} from '@rushhour/contract';
import { findDictionaryReference } from '@rushhour/pools';
import { usesOf } from '../../assets/dictionaries/content.ts';
import { stepReferences } from '../../security/campaigns/action-params.ts';
import { knownCampaigns } from '../../security/campaigns/campaigns.ts';
import { agents } from '../../store/agents/agents.ts';
import { type ApplicationRow, applications, readMembers } from '../../store/assets/applications.ts';
import { openKey } from '../../store/assets/certificates.ts';
import { dictionaries as storedDictionaries } from '../../store/assets/dictionaries.ts';
import { files } from '../../store/assets/files.ts';
import { macsById } from '../../store/assets/macs.ts';
import { macIdsOf, networkPolicies, networks } from '../../store/assets/networks.ts';
import { openParams, tunnels } from '../../store/assets/tunnels.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { allAgentAddresses, sealedCertificates } from '../../store/runs/plan-records.ts';
import { findSignatures } from '../../store/security/cve.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import type {
  PlanAgent,
  PlanApplication,
  PlanApplications,
  PlanCertificate,
  PlanFile,
  PlanInput,
  PlanMac,
  PlanNetwork,
  PlanProfile,
  PlanTunnel,
  TaskDefinition,
} from '../core/plan-input.ts';
import { isReachable, plainAddress } from '../endpoints/machine-addresses.ts';
import { type CampaignFiles, campaignFilesOf } from './campaign-files.ts';
import { type CaptureSessions, captureRequests } from './capture-sessions.ts';
import type { PlanDictionaries, PlanTables } from './dictionaries.ts';
import { type FuzzBaselines, fuzzBaselineRequests } from './fuzz-baselines.ts';
import { type PlanRecordings, recordingRequests } from './recordings.ts';
import { type PlanSamples, sampleRequest } from './samples.ts';

/** The members whose applications are played, or changed by fuzzing. */
const playingMembers = ['/applicationParams/', '/fuzzingParams/'];

/** The members whose dictionaries agents draw from themselves. */
const drawingMembers = ['/applicationParams/', '/httpParams/journeys/', '/values/payload/', '/dnsParams/'];

/** The applications of a task, and the dictionaries that agents draw from. */
const loadApplications = async (
  read: Executor,
  references: readonly FoundReference[],
  tables: PlanTables,
): Promise<PlanApplications> => {
  const played = references.filter(
    ({ kind, path }) => kind === 'application' && playingMembers.some((member) => path.includes(member)),
  );
  const ids = [...new Set(played.map(({ id }) => id))];
  const rows = ids.length === 0 ? [] : await applications.findMany(read, ids);
  const byId = new Map(await Promise.all(rows.map(async (row) => [row.id, await completed(read, row)] as const)));
  const named = references.filter(
    ({ kind, path }) => kind === 'dictionary' && drawingMembers.some((member) => path.includes(member)),
  );
  const drawn = [...byId.values()].flatMap(({ parameters }) => parameters.flatMap(dictionaryOf));
  const dictionaries = [...named.map(({ id }) => id), ...drawn];
  return { byId, tables: dictionaries.length === 0 ? new Map() : await tables(read, dictionaries) };
};

const dictionaryOf = ({ source, defaultValue }: ApplicationParameter): number[] => {
  const found = source === 'dictionary' ? findDictionaryReference(defaultValue) : undefined;
  return found === undefined ? [] : [found.dictionaryId];
};

const completed = async (read: Executor, row: ApplicationRow): Promise<PlanApplication> => {
  const [members, file] = await Promise.all([
    readMembers(read, row.id),
    files.find(read, row.trimmedPcapFileId ?? row.pcapFileId),
  ]);
  const capture = file && { name: file.name, sha256: file.sha256, size: file.size, isReady: file.state === 'ready' };
  return { ...row, ...members, capture };
};

export interface PlanServices {
  readonly samples: PlanSamples;
  readonly recordings: PlanRecordings;
  readonly captures: CaptureSessions;
  readonly baselines: FuzzBaselines;
  readonly campaignFiles: CampaignFiles;
  readonly secrets: Secrets;
  readonly settings: Pick<SettingsStore, 'current'>;
  readonly dictionaries: PlanDictionaries;
  readonly tables: PlanTables;
}

/** Reads everything a plan of this definition is computed from, with one statement for each kind of record. */
export const loadPlanInput = async (
  read: Executor,
  services: PlanServices,
  definition: TaskDefinition,
): Promise<PlanInput> => {
  const { secrets, settings, dictionaries, tables, samples } = services;
  const references = taskReferences(definition);
  const named = idsByKind(references);
  const idsOf = (kind: FoundReference['kind']) => [...(named.get(kind) ?? [])];
  const signatures = await readSignatures(read, idsOf('signature'));
  const applications = await loadApplications(read, references, tables);
  const campaigns = await knownCampaigns(read, idsOf('campaign'));
  const profiles = await readProfiles(read, references);
  const inSteps = campaigns.flatMap(({ steps }) => stepReferences(steps));
  const idsInSteps = (kind: string) => inSteps.flatMap((found) => (found.kind === kind ? [found.id] : []));
  const [agentsById, addresses, networksById, certificates, values, filesById, tunnelsById] = await Promise.all([
    readAgents(read, idsOf('agent')),
    allAgentAddresses(read),
    readNetworks(read, idsOf('network')),
    readCertificates(read, secrets, [...idsOf('certificate'), ...idsInProfiles(profiles, 'certificate')]),
    dictionaries(read, [...idsOf('dictionary'), ...signatures.flatMap(dictionariesOf), ...idsInSteps('dictionary')]),
    readFiles(read, [...idsOf('file'), ...idsInProfiles(profiles, 'file')]),
    readTunnels(read, secrets, idsOf('tunnel')),
  ]);
  const request = sampleRequest(definition.configuration, [...idsOf('file'), ...idsInSteps('file')]);
  const { tasks, dumps } = settings.current();
  return {
    definition,
    agents: agentsById,
    agentAddresses: new Set(addresses.map(plainAddress).filter(isReachable)),
    networks: networksById,
    macs: await readMacs(read, networksById.values()),
    tunnels: tunnelsById,
    certificates,
    dictionaries: values,
    profiles,
    files: withCaptures(filesById, applications.byId.values()),
    applications,
    samples: request === undefined ? new Map() : await samples(read, request),
    ...(await readContents(services, definition, { files: filesById, applications: applications.byId })),
    signatures: byId(signatures, (signature) => signature),
    campaigns: byId(campaigns, (campaign) => campaign),
    allowedTargets: tasks.allowedTargets,
    dumpLimits: dumps,
  };
};

/** What entries play of the contents of files, by the path of the entry or the id of the file. */
const readContents = async (
  { recordings, captures, baselines, campaignFiles }: PlanServices,
  { configuration }: TaskDefinition,
  {
    files,
    applications,
  }: {
    readonly files: ReadonlyMap<number, PlanFile>;
    readonly applications: PlanApplications['byId'];
  },
) => ({
  recordings: await recordings(recordingRequests(configuration, files)),
  captures: await captures(captureRequests(configuration, files)),
  baselines: await baselines(fuzzBaselineRequests(configuration, files, applications)),
  campaignFiles: await campaignFiles(campaignFilesOf(configuration, files)),
});

const signaturesAtOnce = 500;

/** In parts, so that others are answered between them. */
const readSignatures = async (read: Executor, ids: readonly number[]): Promise<CveSignature[]> => {
  const found: CveSignature[] = [];
  for (let at = 0; at < ids.length; at += signaturesAtOnce) {
    if (at > 0) await nextIteration();
    found.push(...(await findSignatures(read, ids.slice(at, at + signaturesAtOnce))));
  }
  return found;
};

const withCaptures = (known: ReadonlyMap<number, PlanFile>, played: Iterable<PlanApplication>) =>
  new Map([
    ...known,
    ...[...played].flatMap(({ capture, trimmedPcapFileId, pcapFileId }) =>
      capture === undefined ? [] : [[trimmedPcapFileId ?? pcapFileId, capture] as const],
    ),
  ]);

const dictionariesOf = ({ payloads }: CveSignature) => payloads.flatMap(({ dictionaryId }) => dictionaryId ?? []);

const idsByKind = (references: readonly FoundReference[]) => {
  const named = new Map<FoundReference['kind'], Set<number>>();
  for (const { kind, id } of references) named.set(kind, (named.get(kind) ?? new Set()).add(id));
  return named;
};

const byId = <Row extends { id: number }, Item>(rows: readonly Row[], itemOf: (row: Row) => Item) =>
  new Map(rows.map((row) => [row.id, itemOf(row)]));

const readAgents = async (read: Executor, ids: readonly number[]) =>
  byId(await agents.findMany(read, ids), (row): PlanAgent => row);

const readNetworks = async (read: Executor, ids: readonly number[]) => {
  const [rows, policies] = await Promise.all([networks.findMany(read, ids), networkPolicies.findMany(read, ids)]);
  const policiesById = byId(policies, ({ macPolicy, macOverrides, l2PolicyVersion }) => ({
    ...{ macPolicy, macOverrides, l2PolicyVersion },
  }));
  return byId(rows, (row): PlanNetwork => ({ ...row, l2PolicyVersion: 0, ...policiesById.get(row.id) }));
};

/** The MAC records that networks refer to. */
const readMacs = async (read: Executor, used: Iterable<PlanNetwork>) => {
  const ids = [...used].flatMap((network) => [...macIdsOf(network).values()]);
  const rows = await macsById(read, [...new Set(ids)]);
  return byId([...rows.values()], ({ id, kind, address, count }): PlanMac => ({ id, kind, address, count }));
};

const readTunnels = async (read: Executor, secrets: Secrets, ids: readonly number[]) => {
  const rows = await tunnels.findMany(read, ids);
  const used = rows.flatMap(({ certificateID }) => certificateID ?? []);
  const certificates = await readCertificates(read, secrets, used);
  return byId(rows, (row): PlanTunnel => {
    const { name, type, clientIp, serverIp, endpoints, count, mtu, certificateID } = row;
    const certificate = certificates.get(certificateID ?? 0);
    const params = openParams(row, secrets);
    return { name, type, clientIp, serverIp, endpoints, count, mtu, params, ...(certificate && { certificate }) };
  });
};

const readCertificates = async (read: Executor, secrets: Secrets, ids: readonly number[]) =>
  byId(
    await sealedCertificates(read, ids),
    (row): PlanCertificate => ({ name: row.name, certificate: row.public, privateKey: openKey(secrets, row) }),
  );

/** The profiles that planes refer to. */
const readProfiles = async (read: Executor, references: readonly FoundReference[]) => {
  const ids = references.flatMap(({ kind, id, protocol }) =>
    kind === 'dictionary' && protocol !== undefined ? [id] : [],
  );
  if (ids.length === 0) return new Map<number, PlanProfile>();
  return byId(
    await storedDictionaries.findMany(read, [...new Set(ids)]),
    ({ name, type, config }): PlanProfile => ({ name, protocol: findProtocol(type) ?? '', config }),
  );
};

/** Files that profiles name. */
const idsInProfiles = (profiles: ReadonlyMap<number, PlanProfile>, wanted: 'file' | 'certificate'): number[] =>
  [...profiles.values()].flatMap(({ protocol, config }) =>
    usesOf({ type: `protocol.${protocol}`, config: config as never }).flatMap(({ kind, id }) =>
      kind === wanted ? [id] : [],
    ),
  );

const readFiles = async (read: Executor, ids: readonly number[]) =>
  byId(
    await files.findMany(read, ids),
    ({ name, sha256, size, state }): PlanFile => ({ name, sha256, size, isReady: state === 'ready' }),
  );
