import { type Static, type TProperties, Type } from 'typebox';
import { Data, OneOf } from '../envelopes.ts';
import { Id, Timestamp } from '../scalars.ts';

const Free = Type.Record(Type.String(), Type.Unknown());
const count = Type.Integer({ minimum: 0 });
const dependency = <Extra extends TProperties>(extra: Extra) =>
  Type.Array(Type.Object({ sourceId: Type.Integer(), fingerprint: Type.String(), ...extra }));

export const exportSchema = 'rushhour.task/1';

export const ExportOptions = Type.Object({
  includeFilePayloads: Type.Optional(Type.Boolean({ default: true, description: 'Put the contents of files in' })),
  includeMalwarePayloads: Type.Optional(
    Type.Boolean({ default: false, description: 'Samples too; needs the permission malware.download' }),
  ),
});

/** What a task needs, before it is exported. */
export const TaskExportPlan = Type.Object(
  {
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
      files: count,
      fileBytes: count,
      macs: count,
      networks: count,
      payloadBytes: count,
      tunnels: count,
    }),
    warnings: Type.Array(Type.String()),
    missing: Type.Array(Type.Object({ kind: Type.String(), reason: Type.String(), sourceId: Type.Integer() })),
    dependencies: Type.Object({
      agents: dependency({ agent: Free }),
      applications: dependency({ application: Free }),
      certificates: dependency({ certificate: Free, hasPrivate: Type.Boolean() }),
      compromisedHostCampaigns: dependency({ campaign: Free }),
      cveSignatures: dependency({ signature: Free }),
      files: dependency({
        file: Free,
        payloadIncluded: Type.Boolean(),
        payloadPath: Type.String(),
        payloadSkipped: Type.String(),
      }),
      macs: dependency({ mac: Free }),
      networks: dependency({ network: Free, macPolicy: Free, macOverrides: Type.Array(Free) }),
      tunnels: dependency({ tunnel: Free }),
      dictionaries: dependency({ dictionary: Free }),
    }),
  },
  { title: 'TaskExportPlan' },
);
export type TaskExportPlan = Static<typeof TaskExportPlan>;

export const importKinds = [
  'agents',
  'applications',
  'certificates',
  'dictionaries',
  'files',
  'macs',
  'networks',
  'tunnels',
] as const;
export type ImportKind = (typeof importKinds)[number];

export const ImportPlan = Type.Object(
  {
    importId: Type.String(),
    expiresAt: Timestamp,
    schema: Type.String(),
    task: Free,
    items: Type.Array(
      Type.Object({
        kind: OneOf(importKinds),
        sourceId: Type.Integer(),
        name: Type.String(),
        fingerprint: Type.String(),
        action: OneOf(['reuse', 'create', 'map', 'missing'], {
          description:
            'reuse: an equal record is here; create: it will be made; map: you must name one; missing: the archive lacks it',
        }),
        targetId: Type.Optional(Type.Integer()),
        candidates: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() })),
      }),
    ),
    warnings: Type.Array(Type.String()),
    problems: Type.Array(Type.String()),
  },
  { title: 'TaskImportPlan' },
);
export type ImportPlan = Static<typeof ImportPlan>;

const mapped = Type.Optional(
  Type.Record(Type.String({ pattern: '^[1-9][0-9]{0,15}$' }), Id, { description: 'Id there → id here' }),
);

export const ImportBody = Type.Object(
  {
    importId: Type.String({ minLength: 1, maxLength: 64 }),
    mapping: Type.Optional(
      Type.Object(Object.fromEntries(importKinds.map((kind) => [kind, mapped])) as Record<ImportKind, typeof mapped>, {
        additionalProperties: false,
      }),
    ),
    comment: Type.Optional(Type.String({ maxLength: 4096 })),
    projectID: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'] })),
  },
  { additionalProperties: false },
);
export type ImportBody = Static<typeof ImportBody>;

export const ImportResult = Data(
  Type.Object({ id: Id, created: Type.Record(Type.String(), Type.Array(Id), { description: 'New records by kind' }) }),
);
