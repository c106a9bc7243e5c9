import { type Static, Type } from 'typebox';
import { createBody } from '../bodies.ts';
import { allRoute, crudRoutes } from '../crud.ts';
import { Data, IdParams, Ids, ListQuery, ManyIds, OneOf } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, Name } from '../scalars.ts';
import { Analysis, AnalyzeBody } from './application-analysis.ts';
import { ImportDocument, ImportFields, ImportReport } from './application-archive.ts';
import { Application, ApplicationDraft, applicationMembers } from './application-fields.ts';

/** Ten thousand mappings, or 10 MiB of a capture in base64. */
const bodyLimit = 16 * 1_048_576;

const NewApplication = Type.Object({
  name: Name,
  pcapFileId: Type.Optional(Type.Unsafe<number>({ ...Id, description: 'The capture; not needed for a clone' })),
  cloneFromId: Type.Optional(Type.Unsafe<number>({ ...Id, description: 'Start from this application' })),
  ...applicationMembers,
});
export type NewApplication = Static<typeof NewApplication>;

const TrimBody = Type.Object(
  {
    keepSessions: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 }), {
        minItems: 1,
        maxItems: 10_000,
        uniqueItems: true,
        description: 'Sessions to keep; all packets unless said',
      }),
    ),
    fromMs: Type.Optional(Type.Number({ minimum: 0, description: 'After the first packet' })),
    toMs: Type.Optional(Type.Number({ minimum: 0 })),
    packets: Type.Optional(Type.String({ maxLength: 4096, description: 'Numbers such as 1-500,600' })),
    dropRetransmissions: Type.Optional(Type.Boolean()),
    anonymise: Type.Optional(
      Type.Object(
        { ips: Type.Optional(Type.Boolean()), macs: Type.Optional(Type.Boolean()) },
        { additionalProperties: false },
      ),
    ),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Of the new file' })),
    dropMappings: Type.Optional(
      Type.Boolean({ description: 'Give up mappings whose step is not left; refused unless said' }),
    ),
  },
  { title: 'ApplicationTrim', additionalProperties: false },
);
export type TrimBody = Static<typeof TrimBody>;

const Trimmed = Type.Object(
  {
    trimmedPcapFileId: Id,
    sha256: Type.String(),
    sessionsRemap: Type.Array(Type.Object({ from: Type.Integer(), to: Type.Integer() })),
    orphans: Type.Array(
      Type.Object({
        parameter: Type.String(),
        path: Type.String({ description: 'JSON pointer into the application as it was' }),
        reason: Type.String(),
      }),
      { description: 'Mappings that were given up' },
    ),
  },
  { title: 'ApplicationTrimmed' },
);

const shared = { path: '/applications', noun: 'application', item: Application, read: 'applications.read' } as const;

const crud = crudRoutes({
  ...shared,
  draft: ApplicationDraft,
  query: ListQuery(['id', 'name', 'createdAt', 'updatedAt'], {
    tag: Type.Optional(Type.String({ maxLength: 64, description: 'Has this tag' })),
    protocol: Type.Optional(OneOf(['tcp', 'udp'], { description: 'Has a session of this protocol' })),
    mode: Type.Optional(OneOf(['stateful', 'packet'])),
    pcapFileId: Type.Optional(Id),
  }),
  write: 'applications.write',
});

export const applications = collection({
  tag: 'applications',
  title: 'Applications',
  routes: {
    ...crud,
    list: { ...crud.list, summary: 'List applications, without their parameters and sessions' },
    all: { ...allRoute(shared), summary: 'All applications, without their parameters and sessions' },
    create: route({
      ...crud.create,
      summary: 'Create an application from a capture, or clone one',
      body: createBody(NewApplication, Application),
      bodyLimit,
      errors: [404, 409],
    }),
    update: route({ ...crud.update, bodyLimit }),
    removeMany: route({
      ...crud.removeMany,
      query: Type.Object({
        deleteTrimmed: Type.Optional(
          Type.Boolean({ description: 'Also delete trimmed captures that nobody else uses' }),
        ),
      }),
      body: ManyIds,
      reply: Ids,
    }),
    analyze: route({
      method: 'POST',
      path: '/applications/analyze',
      summary: 'Extract, check, find values, suggest parameters and render steps; nothing is saved',
      access: 'applications.read',
      body: AnalyzeBody,
      bodyLimit,
      reply: Data(Analysis),
      errors: [404],
    }),
    trim: route({
      method: 'POST',
      path: '/applications/:id/trim',
      summary: 'Make a smaller capture and play it instead',
      access: 'applications.write',
      params: IdParams,
      body: TrimBody,
      reply: Data(Trimmed),
      errors: [404, 409],
    }),
    export: route({
      method: 'GET',
      path: '/applications/:id/export',
      summary: 'A portable archive: application.json, the capture, and a manifest with fingerprints',
      access: 'applications.read',
      params: IdParams,
      query: Type.Object({
        includePcap: Type.Optional(
          Type.Boolean({ description: 'With the capture; true for zip, false for json unless said' }),
        ),
        format: Type.Optional(OneOf(['zip', 'json'], { default: 'zip' })),
      }),
      download: ['application/zip', 'application/json'],
      errors: [404],
    }),
    import: route({
      method: 'POST',
      path: '/applications/import',
      summary: 'Import an exported application',
      access: 'applications.write',
      body: ImportDocument,
      upload: ImportFields,
      bodyLimit,
      reply: ImportReport,
      errors: [409],
    }),
  },
});
