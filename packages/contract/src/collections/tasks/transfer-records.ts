import { type Static, type TProperties, Type } from 'typebox';
import { Id, Name, Tags, Timestamp } from '../../scalars.ts';
import { Described, Nullable, OneOf, StrictObject } from '../../schema.ts';
import { PortableApplication } from '../applications/archive.ts';
import { CampaignDraft } from '../compromised-host/campaign.ts';
import { CveDraft, safeties, signatureSources } from '../cve/signature.ts';
import { DictionaryDraft } from '../dictionaries.ts';
import { fileCategories, Sha256 } from '../files/file.ts';
import { MacDraft } from '../macs.ts';
import { NetworkDraft } from '../networks/routes.ts';
import { TunnelDraft } from '../tunnels/routes.ts';

const MaybeId = Nullable(Type.Integer({ maximum: Number.MAX_SAFE_INTEGER }));
const label = Type.String({ maxLength: 4096 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const without = <P extends TProperties, const K extends keyof P>(properties: P, ...names: readonly K[]) =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name as unknown as K))) as Omit<
    P,
    K
  >;

export const payloadPattern = '^payload/[0-9a-f]{64}$';

/** Agents are not exported: the importing user maps each to an agent of the target controller. */
export const PortableAgent = StrictObject({
  uuid: Type.String({ maxLength: 128 }),
  name: label,
  hostname: label,
  tags: label,
  os: label,
  arch: label,
  cpuCores: count,
  interfaces: Type.Array(StrictObject({ id: Id, name: label }), {
    maxItems: 10_000,
    description: 'Those that the task names',
  }),
});
export type PortableAgent = Static<typeof PortableAgent>;

export const PortableMac = StrictObject(MacDraft.properties);
export type PortableMac = Static<typeof PortableMac>;

export const PortableNetwork = StrictObject(without(NetworkDraft.properties, 'macPolicy', 'macOverrides'));
export type PortableNetwork = Static<typeof PortableNetwork>;

export const PortableTunnel = StrictObject({
  ...TunnelDraft.properties,
  secretSet: Type.Boolean({ description: 'It has secrets, which are in `params` never' }),
});
export type PortableTunnel = Static<typeof PortableTunnel>;

export const PortableCertificate = StrictObject({
  name: Name,
  public: Type.String({ minLength: 1, maxLength: 1_048_576 }),
  issuerCertificateID: MaybeId,
});
export type PortableCertificate = Static<typeof PortableCertificate>;

export const PortableFile = StrictObject({
  name: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
  category: OneOf(fileCategories),
  mime: Type.String({ maxLength: 255 }),
  size: count,
  sha256: Sha256,
  original_sha256: Type.String({ maxLength: 64 }),
  tags: Tags,
  first_seen_at: Timestamp,
});
export type PortableFile = Static<typeof PortableFile>;

export const PortableDictionary = StrictObject({
  ...without(DictionaryDraft.properties, 'rows', 'values', 'rowsPartial', 'config'),
  config: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), { maxProperties: 200 }),
  rowCount: count,
  rowsPath: Type.String({
    pattern: `^$|${payloadPattern}`,
    description: 'Rows or values, a line of JSON each; empty where there are none',
  }),
  rowsBytes: count,
});
export type PortableDictionary = Static<typeof PortableDictionary>;

export const ExportedApplication = StrictObject({
  ...PortableApplication.properties,
  pcapFileId: Described(Id, 'The capture that is played'),
});
export type ExportedApplication = Static<typeof ExportedApplication>;

/** Safety and origin as the source claims; the importing controller classifies the signature again. */
export const PortableSignature = StrictObject({
  ...CveDraft.properties,
  safety: OneOf(safeties),
  enabled: Type.Boolean(),
  source: OneOf(signatureSources),
  sourceRef: Type.String({ maxLength: 4096 }),
  sourceSha256: Type.String({ maxLength: 64 }),
});

export const PortableCampaign = StrictObject({
  ...CampaignDraft.properties,
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});
