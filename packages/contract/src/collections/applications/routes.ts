import { type Static, Type } from 'typebox';
import { createBody } from '../../bodies.ts';
import { allRoute, crudRoutes } from '../../crud.ts';
import { Data, IdParams, Ids, ListQuery, ManyIds } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id, Name } from '../../scalars.ts';
import { Component, optional, StrictComponent, StrictObject } from '../../schema.ts';
import { Analysis, AnalyzeBody } from './analysis.ts';
import { Application, ApplicationDraft, applicationMembers } from './application.ts';
import { ImportDocument, ImportFields, ImportReport } from './archive.ts';

/** Ten thousand mappings, or 10 MiB of a capture in base64. */
const bodyLimit = 16 * 1_048_576;

const NewApplication = Type.Object({
  name: Name,
  pcapFileId: optional.described(Id, 'The capture; not needed for a clone'),
  cloneFromId: optional.described(Id, 'Start from this application'),
  ...applicationMembers,
});
export type NewApplication = Static<typeof NewApplication>;

const TrimBody = StrictComponent('ApplicationTrim', {
  keepSessions: optional.array(Type.Integer({ minimum: 0, maximum: 2 ** 31 }), {
    minItems: 1,
    maxItems: 10_000,
    uniqueItems: true,
    description: 'Sessions to keep; all packets unless said',
  }),
  fromMs: Type.Optional(Type.Number({ minimum: 0, description: 'After the first packet' })),
  toMs: Type.Optional(Type.Number({ minimum: 0 })),
  packets: optional.text(4096, 'Numbers such as 1-500,600'),
  dropRetransmissions: optional.flag(),
  anonymise: Type.Optional(StrictObject({ ips: optional.flag(), macs: optional.flag() })),
  name: optional.string({ minLength: 1, maxLength: 255, description: 'Of the new file' }),
  dropMappings: optional.flag('Give up mappings whose step is not left; refused unless said'),
});
export type TrimBody = Static<typeof TrimBody>;

const Trimmed = Component('ApplicationTrimmed', {
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
});

const shared = { path: '/applications', noun: 'application', item: Application, permissions: 'applications' } as const;

const crud = crudRoutes({
  ...shared,
  draft: ApplicationDraft,
  query: ListQuery(['id', 'name', 'createdAt', 'updatedAt'], {
    tag: optional.text(64, 'Has this tag'),
    protocol: optional.oneOf(['tcp', 'udp'], { description: 'Has a session of this protocol' }),
    mode: optional.oneOf(['stateful', 'packet']),
    pcapFileId: Type.Optional(Id),
    source: optional.oneOf(['user', 'builtin'], { description: 'Own applications, or those of the library' }),
  }),
});

export const applications = collection({
  tag: 'applications',
  title: 'Applications',
  routes: {
    ...crud,
    list: { ...crud.list, summary: 'List applications, without their parameters and sessions' },
    all: { ...allRoute(shared), summary: 'All applications, without their parameters and sessions' },
    create: {
      ...crud.create,
      summary: 'Create an application from a capture, or clone one',
      body: createBody(NewApplication, Application),
      bodyLimit,
      errors: [404, 409],
    },
    update: { ...crud.update, bodyLimit },
    removeMany: {
      ...crud.removeMany,
      query: Type.Object({
        deleteTrimmed: optional.flag('Also delete trimmed captures that nobody else uses'),
      }),
      body: ManyIds,
      reply: Ids,
    },
    analyze: route('POST /applications/analyze', {
      summary: 'Extract, check, find values, suggest parameters and render steps; nothing is saved',
      access: 'applications.read',
      body: AnalyzeBody,
      bodyLimit,
      reply: Data(Analysis),
      errors: [404],
    }),
    trim: route('POST /applications/:id/trim', {
      summary: 'Make a smaller capture and play it instead',
      access: 'applications.write',
      params: IdParams,
      body: TrimBody,
      reply: Data(Trimmed),
      errors: [404, 409],
    }),
    export: route('GET /applications/:id/export', {
      summary: 'A portable archive: application.json, the capture, and a manifest with fingerprints',
      access: 'applications.read',
      params: IdParams,
      query: Type.Object({
        includePcap: optional.flag('With the capture; true for zip, false for json unless said'),
        format: optional.oneOf(['zip', 'json'], { default: 'zip' }),
      }),
      conditional: 'etag',
      download: ['application/zip', 'application/json'],
      errors: [404],
    }),
    import: route('POST /applications/import', {
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
