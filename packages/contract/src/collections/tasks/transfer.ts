import { type Static, type TProperties, Type } from 'typebox';
import { Data, IdParams } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, NullableInteger, Timestamp } from '../../scalars.ts';
import { Component, OneOf, optional, StrictObject, strict } from '../../schema.ts';
import { MacOverride } from '../networks/mac-policy.ts';
import {
  ExportedApplication,
  PortableAgent,
  PortableCampaign,
  PortableCertificate,
  PortableDictionary,
  PortableFile,
  PortableMac,
  PortableNetwork,
  PortableSignature,
  PortableTunnel,
  payloadPattern,
} from './transfer-records.ts';

const Free = Type.Record(Type.String(), Type.Unknown());
const count = Type.Integer({ minimum: 0 });
const SourceId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const dependency = <Extra extends TProperties>(extra: Extra) =>
  Type.Array(
    Type.Object({
      sourceId: SourceId,
      fingerprint: Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'SHA-256 of what the record means to a task: no ids, names, descriptions, tags, times or authors',
      }),
      ...extra,
    }),
    { maxItems: 10_000 },
  );

export const exportSchema = 'rushhour.task/1';

export const ExportOptions = Type.Object({
  includeFilePayloads: optional.flag('Put the contents of files in', true),
  includeMalwarePayloads: optional.flag('Samples too; needs the permission malware.download', false),
});
export type ExportOptions = Static<typeof ExportOptions>;

/** Dependencies of a task: the export preview, and `manifest.json` of the archive. */
export const TaskExportPlan = Component('TaskExportPlan', {
  sourceTaskId: Type.Integer(),
  schema: Type.String(),
  format: Type.String(),
  generatedAt: Type.String(),
  options: Type.Object({ includeFilePayloads: Type.Boolean(), includeMalwarePayloads: Type.Boolean() }),
  summary: Type.Object({
    agents: count,
    applications: count,
    certificates: count,
    compromisedHostCampaigns: count,
    cveSignatures: count,
    dictionaries: count,
    files: count,
    fileBytes: count,
    macs: count,
    networks: count,
    payloadBytes: count,
    tunnels: count,
  }),
  warnings: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 100_000 }),
  missing: Type.Array(Type.Object({ kind: Type.String(), reason: Type.String(), sourceId: Type.Integer() }), {
    maxItems: 10_000,
  }),
  dependencies: Type.Object({
    agents: dependency({ agent: PortableAgent }),
    applications: dependency({ application: ExportedApplication }),
    certificates: dependency({ certificate: PortableCertificate, hasPrivate: Type.Boolean() }),
    compromisedHostCampaigns: dependency({ campaign: PortableCampaign }),
    cveSignatures: dependency({ signature: PortableSignature }),
    dictionaries: dependency({ dictionary: PortableDictionary }),
    files: dependency({
      file: PortableFile,
      payloadIncluded: Type.Boolean(),
      payloadPath: Type.String({ pattern: `^$|${payloadPattern}`, description: 'Empty when it is not included' }),
      payloadSkipped: Type.String({ description: 'Why it is not included' }),
    }),
    macs: dependency({ mac: PortableMac }),
    networks: dependency({
      network: PortableNetwork,
      macPolicy: Type.Unsafe<Record<string, unknown>>({ ...Free, description: 'Empty when there is none' }),
      macOverrides: Type.Array(MacOverride, { maxItems: 10_000 }),
    }),
    tunnels: dependency({ tunnel: PortableTunnel }),
  }),
});
export type TaskExportPlan = Static<typeof TaskExportPlan>;

export const importKinds = [
  'agents',
  'applications',
  'certificates',
  'compromisedHostCampaigns',
  'cveSignatures',
  'dictionaries',
  'files',
  'macs',
  'networks',
  'tunnels',
] as const;
export type ImportKind = (typeof importKinds)[number];

export const ImportPlan = Component('TaskImportPlan', {
  importId: Type.String(),
  expiresAt: Timestamp,
  schema: Type.String(),
  task: Type.Unsafe<Record<string, unknown>>({
    ...Free,
    description: 'With the ids of the controller it comes from',
  }),
  items: Type.Array(
    Type.Object({
      kind: OneOf([...importKinds, 'tasks']),
      sourceId: Type.Integer(),
      name: Type.String(),
      fingerprint: Type.String(),
      action: OneOf(['reuse', 'create', 'map', 'missing'], {
        description:
          'reuse: an equal record is here; create: it will be made; map: you must name one; missing: the archive lacks it, so you must name one, too',
      }),
      targetId: Type.Optional(Type.Integer({ description: 'The record here that will be used' })),
      candidates: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() }), {
        description: 'Records here that may be meant',
      }),
    }),
  ),
  warnings: Type.Array(Type.String()),
  problems: Type.Array(Type.String(), { description: 'What stands in the way of the import until it is mapped' }),
});
export type ImportPlan = Static<typeof ImportPlan>;

const mapped = Type.Optional(
  Type.Record(Type.String({ pattern: '^[1-9][0-9]{0,15}$' }), Id, { description: 'Id there → id here' }),
);

export const ImportBody = StrictObject({
  importId: Type.String({ minLength: 1, maxLength: 64 }),
  mapping: Type.Optional(
    Type.Object(Object.fromEntries(importKinds.map((kind) => [kind, mapped])) as Record<ImportKind, typeof mapped>, {
      ...strict,
    }),
  ),
  comment: optional.text(4096, 'Instead of that of the task'),
  projectID: Type.Optional(NullableInteger),
  secrets: Type.Optional(
    Type.Record(Type.String({ maxLength: 1024 }), Type.String({ minLength: 1, maxLength: 65_536 }), {
      description:
        'Secrets of the task that the archive lacks, by JSON pointer into it: {"/configuration/0/values/ipsecPsk": "…"}',
    }),
  ),
});
export type ImportBody = Static<typeof ImportBody>;

export const ImportResult = Data(
  Type.Object({
    id: Id,
    created: Type.Record(Type.String(), Type.Array(Id), { description: 'New records by kind' }),
    warnings: Type.Array(Type.String(), { description: 'What could not be taken over' }),
  }),
);
export type ImportResult = Static<typeof ImportResult>;

/** Routes to export tasks and import them on another controller. */
export const transferRoutes = {
  exportPlan: route('GET /tasks/:id/export/plan', {
    summary: 'What an export of the task would hold; 500 when the task is not found',
    access: 'tasks.export',
    params: IdParams,
    query: ExportOptions,
    reply: TaskExportPlan,
  }),
  export: route('GET /tasks/:id/export', {
    summary: 'The task and everything it needs as an archive; the passphrase goes in X-Export-Passphrase',
    access: 'tasks.export',
    params: IdParams,
    query: Type.Object({
      ...ExportOptions.properties,
      secrets: optional.oneOf(['omit', 'encrypted'], { default: 'omit' }),
      strict: optional.flag('409 when something is missing'),
    }),
    conditional: 'etag',
    download: ['application/zip'],
    headers: {
      request: { 'X-Export-Passphrase': 'Encrypts the secrets of the archive; needed with secrets=encrypted' },
    },
    errors: [404, 409],
  }),
  importPlan: route('POST /tasks/import/plan', {
    summary: 'Upload an archive and see what would become of its parts',
    access: 'tasks.import',
    body: StrictObject({ fileId: Id }),
    upload: StrictObject({}),
    reply: Data(ImportPlan),
    errors: [404, 409],
  }),
  import: route('POST /tasks/import', {
    summary: 'Carry out an import, all or nothing',
    access: 'tasks.import',
    body: ImportBody,
    headers: { request: { 'X-Export-Passphrase': 'Decrypts the secrets of the archive, if it holds any' } },
    reply: ImportResult,
    errors: [404, 409, 410],
  }),
};
