import { tunnelSecretsOf } from '@rushhour/contract';
import { findDictionaryReference } from '@rushhour/pools';
import { agents, findAgentByUuid } from '../../../store/agents/agents.ts';
import { applications, readMembers } from '../../../store/assets/applications.ts';
import { certificateContents, certificates } from '../../../store/assets/certificates.ts';
import { files, filesWith } from '../../../store/assets/files.ts';
import { macs } from '../../../store/assets/macs.ts';
import { tunnels } from '../../../store/assets/tunnels.ts';
import { inList } from '../../../store/engine/expressions.ts';
import { statement } from '../../../store/engine/statement.ts';
import type { RecordKind, Reference } from '../reference.ts';
import { campaignExporter } from './campaign-exporter.ts';
import { dictionaryExporter } from './dictionary-exporter.ts';
import { networkExporter } from './network-exporter.ts';
import type { PartsOf, RecordExporter } from './record-exporter.ts';
import { signatureExporter } from './signature-exporter.ts';

type Application = PartsOf<'applications'>['application'];

const byCapture = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('applications')
    .select('id')
    .where((eb) => eb.or([inList('pcapFileId', p.ids, engine), inList('trimmedPcapFileId', p.ids, engine)]))
    .orderBy('id'),
);

/** Dictionaries are referenced in texts: `dict/<id>/<column>`. */
const dictionariesIn = ({ parameters = [] }: Application): Reference[] =>
  parameters.flatMap(({ source, defaultValue = '' }, index) => {
    const found = source === 'dictionary' ? findDictionaryReference(defaultValue) : undefined;
    if (found === undefined) return [];
    const path = `/application/parameters/${index}/defaultValue`;
    const write = (id: number | string) => `dict/${id}/${found.column}`;
    return [{ path, kind: 'dictionaries' as const, id: found.dictionaryId, write }];
  });

const applicationExporter: RecordExporter<'applications'> = {
  read: async (executor, id) => {
    const found = await applications.find(executor, id);
    if (found === undefined) return undefined;
    const { parameters, sessions } = await readMembers(executor, id);
    const { name, description, tags, mode, defaultSpeedMode, clientIp, allowPerSessionSpeed, followTimestamps } = found;
    const { lockParameters, loop, defaultTimeout, defaultUsers, timingGapThresholdMs } = found;
    const application = {
      ...{ name, description, tags, mode, defaultSpeedMode, clientIp, allowPerSessionSpeed, followTimestamps },
      ...{ lockParameters, loop, defaultTimeout, defaultUsers, timingGapThresholdMs },
      parameters: parameters.map(({ id: _, applicationId: __, ...parameter }) => parameter),
      sessions: sessions.map(({ sessionIndex, name }) => ({ sessionIndex, name })),
      pcapFileId: found.trimmedPcapFileId ?? found.pcapFileId,
    };
    return { application: application as Application };
  },
  nameOf: ({ application }) => application.name,
  references: ({ application }) => [
    { path: '/application/pcapFileId', kind: 'files', id: application.pcapFileId },
    ...dictionariesIn(application),
  ],
  identityOf: ({ application: { name: _, description: __, tags: ___, ...application } }) => application,
  findMatches: async (executor, { application }, neighbours) => {
    const capture = neighbours.find('files', application.pcapFileId);
    const present = capture === undefined ? [] : await filesWith(executor, capture.file.sha256);
    const ids = JSON.stringify(present.map(({ id }) => id));
    return (await byCapture.all(executor, { ids })).map(({ id }) => id);
  },
};

const byEnds = statement((db, p: { type: string; clientIp: string; serverIp: string; endpoints: string }) =>
  db
    .selectFrom('tunnels')
    .select('id')
    .where('type', '=', p.type)
    .where('clientIp', '=', p.clientIp)
    .where('serverIp', '=', p.serverIp)
    .where('endpoints', '=', p.endpoints)
    .orderBy('id'),
);

const tunnelExporter: RecordExporter<'tunnels'> = {
  read: async (executor, id) => {
    const found = await tunnels.find(executor, id);
    if (found === undefined) return undefined;
    const { name, type, description, clientIp, serverIp, endpoints, count, mtu, certificateID, tags } = found;
    const hidden = tunnelSecretsOf(type);
    const params = Object.fromEntries(Object.entries(found.params).filter(([member]) => !hidden.includes(member)));
    const ends = { clientIp, serverIp, endpoints };
    const secretSet = found.secrets !== '';
    return { tunnel: { name, type, description, ...ends, count, mtu, params, certificateID, tags, secretSet } };
  },
  nameOf: ({ tunnel }) => tunnel.name,
  references: ({ tunnel: { certificateID } }) =>
    certificateID ? [{ path: '/tunnel/certificateID', kind: 'certificates', id: certificateID }] : [],
  identityOf: ({ tunnel: { name: _, description: __, tags: ___, secretSet: ____, ...tunnel } }) => tunnel,
  findMatches: async (executor, { tunnel: { type, clientIp = '', serverIp = '', endpoints = '' } }) =>
    (await byEnds.all(executor, { type, clientIp, serverIp, endpoints })).map(({ id }) => id),
};

/** Certificates with a private key first. */
const byText = statement((db, p: { public: string }) =>
  db
    .selectFrom('certificateContents as contents')
    .innerJoin('certificates', 'certificates.id', 'contents.id')
    .select('certificates.id')
    .where('contents.public', '=', p.public)
    .orderBy('certificates.hasPrivate', 'desc')
    .orderBy('certificates.id'),
);

const certificateExporter: RecordExporter<'certificates'> = {
  read: async (executor, id) => {
    const [found, contents] = await Promise.all([
      certificates.find(executor, id),
      certificateContents.find(executor, id),
    ]);
    if (found === undefined || contents === undefined) return undefined;
    const { name, issuerCertificateID, hasPrivate } = found;
    return { certificate: { name, public: contents.public, issuerCertificateID }, hasPrivate };
  },
  nameOf: ({ certificate }) => certificate.name,
  references: ({ certificate: { issuerCertificateID: id } }) =>
    id === null ? [] : [{ path: '/certificate/issuerCertificateID', kind: 'certificates', id }],
  identityOf: ({ certificate }) => ({ public: certificate.public }),
  findMatches: async (executor, { certificate }) =>
    (await byText.all(executor, { public: certificate.public })).map(({ id }) => id),
};

const byAddress = statement((db, p: { kind: string; address: string }) =>
  db.selectFrom('macs').select('id').where('kind', '=', p.kind).where('address', '=', p.address).orderBy('id'),
);

const macExporter: RecordExporter<'macs'> = {
  read: async (executor, id) => {
    const found = await macs.find(executor, id);
    if (found === undefined) return undefined;
    const { name, kind, address, count, vendor, description, tags } = found;
    return { mac: { name, kind, address, count, vendor, description, tags } };
  },
  nameOf: ({ mac }) => mac.name,
  references: () => [],
  identityOf: ({ mac: { kind, address, count } }) => ({ kind, address, count }),
  findMatches: async (executor, { mac: { kind = 'address', address } }) =>
    (await byAddress.all(executor, { kind, address })).map(({ id }) => id),
};

const agentExporter: RecordExporter<'agents'> = {
  read: async (executor, id) => {
    const found = await agents.find(executor, id);
    if (found === undefined) return undefined;
    const { uuid, name, hostname, tags, os, arch, cpuCores } = found;
    const interfaces = found.interfaces.map(({ id, name }) => ({ id, name }));
    return { agent: { uuid, name, hostname, tags, os, arch, cpuCores, interfaces } };
  },
  nameOf: ({ agent }) => agent.name,
  references: () => [],
  identityOf: ({ agent }) => ({ uuid: agent.uuid }),
  findMatches: async (executor, { agent }) => {
    const found = await findAgentByUuid(executor, agent.uuid);
    return found ? [found.id] : [];
  },
};

const fileExporter: RecordExporter<'files'> = {
  read: async (executor, id) => {
    const found = await files.find(executor, id);
    if (found === undefined) return undefined;
    if (found.state === 'uploading') return { absent: 'its upload is not complete' };
    const { name, category, mime, size, sha256, original_sha256, tags, first_seen_at } = found;
    const file = { name, category, mime, size, sha256, original_sha256, tags, first_seen_at };
    return { file: file as never, payloadIncluded: false, payloadPath: '', payloadSkipped: '' };
  },
  nameOf: ({ file }) => file.name,
  references: () => [],
  identityOf: ({ file: { category, sha256 } }) => ({ category, sha256 }),
  findMatches: async (executor, { file: { sha256 } }) => (await filesWith(executor, sha256)).map(({ id }) => id),
};

const kinds: { readonly [Kind in RecordKind]: RecordExporter<Kind> } = {
  agents: agentExporter,
  applications: applicationExporter,
  certificates: certificateExporter,
  compromisedHostCampaigns: campaignExporter,
  cveSignatures: signatureExporter,
  dictionaries: dictionaryExporter,
  files: fileExporter,
  macs: macExporter,
  networks: networkExporter,
  tunnels: tunnelExporter,
};

/** The caller passes parts of the same kind, which the compiler cannot check. */
export const exporterOf = (kind: RecordKind) => kinds[kind] as RecordExporter<RecordKind>;

export const isRecordKind = (kind: string): kind is RecordKind => Object.hasOwn(kinds, kind);
