import { createInterface } from 'node:readline';
import { type MacPolicy, tunnelSecretsOf } from '@rushhour/contract';
import { invalid } from '../../../errors.ts';
import { applications } from '../../../store/assets/applications.ts';
import { certificateContents, certificates, sealKey } from '../../../store/assets/certificates.ts';
import { dictionaries, replaceRows } from '../../../store/assets/dictionaries.ts';
import { files } from '../../../store/assets/files.ts';
import { macs } from '../../../store/assets/macs.ts';
import { networkPolicies, networks } from '../../../store/assets/networks.ts';
import { sealParams, tunnels } from '../../../store/assets/tunnels.ts';
import type { Change } from '../../../store/engine/change.ts';
import { setLinks } from '../../../store/engine/links.ts';
import { insertCampaign } from '../../../store/security/campaigns.ts';
import { campaignExporter } from '../export/campaign-exporter.ts';
import { dictionaryExporter } from '../export/dictionary-exporter.ts';
import { networkExporter, policyOf } from '../export/network-exporter.ts';
import type { PartsOf } from '../export/record-exporter.ts';
import type { RecordKind } from '../reference.ts';
import { at } from './issues-at.ts';
import type { ImportContext, RecordImporter } from './record-importer.ts';
import type { RecordRules } from './record-rules.ts';

const maxBytes = 64 * 1_048_576;
const linkKinds = { files: 'file', certificates: 'certificate' } as const;

const prepareDictionary: RecordImporter<'dictionaries'> = async ({ dictionary }, context) => {
  const { rules, findFile } = context;
  const { description = '', tags = '', type, selection = 'sequential', columns = [], config } = dictionary;
  const checked = await at('/dictionary', async () => {
    const content = { type, selection, columns, config, ...(await readRows(dictionary, context)) };
    return rules.dictionary(content, findFile);
  });
  return async (tx, name, parts) => {
    const { blocks, ...stored } = checked;
    const record = { name, description, tags, ...stored, config: parts.dictionary.config };
    const id = await dictionaries.insert(tx, { ...record, source: 'user' });
    await replaceRows(tx, id, blocks);
    const used = dictionaryExporter.references(parts).map(({ kind, id }) => ({
      kind: linkKinds[kind as keyof typeof linkKinds],
      id,
    }));
    await setLinks(tx, { kind: 'dictionary', id, name }, used);
    return id;
  };
};

/** Lines of JSON; the rules check whether they are rows. */
const readRows = async ({ type, rowsPath }: PartsOf<'dictionaries'>['dictionary'], context: ImportContext) => {
  const found: never[] = [];
  if (rowsPath !== '') {
    const content = context.contentAt(rowsPath);
    if (content.size > maxBytes) throw bad(`is longer than ${maxBytes} bytes`);
    const lines = createInterface({ input: await context.open(content), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) found.push(parsed(line));
  }
  return { rows: type === 'table' ? found : [], values: type === 'list' ? found : [] };
};

const parsed = (line: string): never => {
  try {
    return JSON.parse(line) as never;
  } catch {
    throw bad('has a line that is not JSON');
  }
};

const bad = (message: string) => invalid([{ path: '/rowsPath', code: 'BAD_ROWS', message }], 'BAD_ROWS');

const prepareApplication: RecordImporter<'applications'> = async ({ application }, { rules, findFile, signal }) => {
  const checked = await at('/application', async () => {
    const capture = await findFile(application.pcapFileId);
    if (capture === undefined) {
      throw invalid(
        [{ path: '/pcapFileId', code: 'PCAP_MISSING', message: 'the capture of the application is missing' }],
        'PCAP_MISSING',
      );
    }
    return rules.application(application, capture, signal);
  });
  return async (tx, name, parts) => {
    const { pcapFileId, parameters = [] } = parts.application;
    const pcapMd5 = (await files.find(tx, pcapFileId))?.md5 ?? '';
    const columns = { ...checked.columns, name, pcapFileId, trimmedPcapFileId: null, pcapMd5 };
    const id = await applications.insert(tx, columns);
    await rules.completeApplication(tx, id, {
      sessions: checked.sessions,
      parameters: checked.parameters.map((parameter, index) => ({
        ...parameter,
        defaultValue: parameters[index]?.defaultValue ?? '',
      })),
    });
    return id;
  };
};

const prepareCertificate: RecordImporter<'certificates'> = async ({ certificate }, context, sourceId) => {
  const { rules, secrets, privateKeys } = context;
  const pem = { public: certificate.public, private: privateKeys[sourceId] ?? '' };
  const { contents, columns } = await at('/certificate', () => rules.certificate(pem));
  return async (tx, name, parts) => {
    const authority = await authorityOf(tx, rules, contents.public, parts.certificate.issuerCertificateID);
    const id = await certificates.insert(tx, { ...columns, name, issuerCertificateID: authority });
    await certificateContents.insert(tx, { ...contents, id, private: sealKey(secrets, id, contents.private) });
    const used = authority === null ? [] : [{ kind: 'certificate' as const, id: authority }];
    await setLinks(tx, { kind: 'certificate', id, name }, used);
    return id;
  };
};

/** The issuer, unless it did not sign the certificate: a mapping may name another one. */
const authorityOf = async (tx: Change, rules: RecordRules, child: string, id: number | null) => {
  const authority = id === null ? undefined : await certificateContents.find(tx, id);
  return authority && rules.isSignedBy(child, authority.public) ? id : null;
};

const prepareTunnel: RecordImporter<'tunnels'> = async ({ tunnel }, context, sourceId) => {
  const { rules, secrets, tunnelSecrets } = context;
  const { type, description = '', clientIp = '', serverIp = '', endpoints = '', count = 0, mtu = 1500 } = tunnel;
  const brought = Object.entries(tunnelSecrets[sourceId] ?? {}).filter(([name]) =>
    tunnelSecretsOf(type).includes(name),
  );
  const params = { ...tunnel.params, ...Object.fromEntries(brought) };
  const members = { type, description, clientIp, serverIp, endpoints, count, mtu, tags: tunnel.tags ?? '' };
  await at('/tunnel', () => rules.tunnel({ ...members, params }));
  return async (tx, name, parts) => {
    const certificateID = parts.tunnel.certificateID || null;
    const id = await tunnels.insert(tx, { ...members, name, certificateID, params: {}, secrets: '' });
    await tunnels.update(tx, id, sealParams(type, id, params, secrets));
    const used = certificateID === null ? [] : [{ kind: 'certificate' as const, id: certificateID }];
    await setLinks(tx, { kind: 'tunnel', id, name }, used);
    return id;
  };
};

/** The checks of a network depend on its MAC records, which may be imported with it. */
const prepareNetwork: RecordImporter<'networks'> =
  async (_, { rules }) =>
  async (tx, name, parts) => {
    const macPolicy = policyOf(parts) as MacPolicy | null;
    const { network, macOverrides } = parts;
    const columns = await at('/network', () => rules.network(tx, { ...network, macPolicy, macOverrides }));
    const id = await networks.insert(tx, { name, ...columns });
    await networkPolicies.insert(tx, { id, macPolicy, macOverrides, l2PolicyVersion: 1 });
    const used = networkExporter.references(parts).map((mac) => ({ kind: 'mac' as const, id: mac.id }));
    await setLinks(tx, { kind: 'network', id, name }, used);
    return id;
  };

const campaignLinkKinds = { dictionaries: 'dictionary', files: 'file' } as const;

const prepareCampaign: RecordImporter<'compromisedHostCampaigns'> = async ({ campaign }, { rules }) => {
  await at('/campaign', () => rules.campaign(campaign));
  return (tx, name, parts) => {
    const { description = '', tags = '', version, parameters = [], steps } = parts.campaign;
    const used = campaignExporter.references(parts).map(({ kind, id }) => ({
      kind: campaignLinkKinds[kind as keyof typeof campaignLinkKinds],
      id,
    }));
    return insertCampaign(tx, { name, description, tags, version, parameters, steps }, used);
  };
};

const prepareFile: RecordImporter<'files'> = async ({ file, payloadPath }, { rules, contentAt }) => {
  const content = contentAt(payloadPath);
  const { name, category, tags, first_seen_at } = file;
  const facts = await at('/file', () => {
    if (category !== 'malware') return rules.file(content, { name, category, tags, first_seen_at });
    const message = 'samples of malware come in by POST /malware';
    throw invalid([{ path: '/category', code: 'MALWARE_CATEGORY', message }], 'MALWARE_CATEGORY');
  });
  return (tx) => rules.insertFile(tx, content, facts);
};

const prepareMac: RecordImporter<'macs'> = async ({ mac }, { rules }) => {
  const columns = await at('/mac', () => rules.mac(mac));
  const { description = '', tags = '' } = mac;
  return (tx, name) => macs.insert(tx, { description, tags, ...columns, name });
};

/** Assessed like a new signature: the archive's safety level can only make it stricter. */
const prepareSignature: RecordImporter<'cveSignatures'> = async ({ signature }, { rules }) => {
  const checked = await at('/signature', () => rules.signature(signature));
  return (tx, _name, parts) => rules.insertSignature(tx, { ...checked, payloads: parts.signature.payloads ?? [] });
};

/** Kinds that an import can make; agents enrol themselves. */
export type NewKind = Exclude<RecordKind, 'agents'>;

const prepares: { readonly [Kind in NewKind]: RecordImporter<Kind> } = {
  applications: prepareApplication,
  certificates: prepareCertificate,
  compromisedHostCampaigns: prepareCampaign,
  cveSignatures: prepareSignature,
  dictionaries: prepareDictionary,
  files: prepareFile,
  macs: prepareMac,
  networks: prepareNetwork,
  tunnels: prepareTunnel,
};

/** The caller passes parts of the same kind, which the compiler cannot check. */
export const importerOf = (kind: NewKind) => prepares[kind] as unknown as RecordImporter<RecordKind>;

export const isNewKind = (kind: string): kind is NewKind => Object.hasOwn(prepares, kind);
