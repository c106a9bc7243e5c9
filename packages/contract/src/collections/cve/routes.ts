import { type Static, Type } from 'typebox';
import { allRoute, crudRoutes } from '../../crud.ts';
import { Cursor, Data, IdParams, ListQuery, One, Page } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id, NullableTimestamp } from '../../scalars.ts';
import { Component, optional } from '../../schema.ts';
import { AttackResult, AttackSummary, attackOutcomes } from '../attack-result.ts';
import {
  CveExportBody,
  CveImportDocument,
  CveImportFields,
  CveImportReport,
  CveTestBody,
  CveTestReply,
} from './exchange.ts';
import { CveQuery, CveStatsQuery } from './query.ts';
import { CveDraft, CveLight, CveSignature, CveSummary } from './signature.ts';

/** Twenty requests of 1 MiB, or 10 MiB of an archive in base64. */
const bodyLimit = 24 * 1_048_576;

const counts = Type.Record(Type.String(), Type.Integer());
const facet = (name: string) => Type.Array(Type.Object({ [name]: Type.String(), count: Type.Integer() }));

const CveStats = Component('CveStats', {
  catalogue: Type.Object({
    total: Type.Integer(),
    enabled: Type.Integer(),
    bySeverity: counts,
    byProtocol: counts,
    byYear: counts,
    byCwe: Type.Unsafe<{ cwe: string; count: number }[]>({ ...facet('cwe'), description: 'The most frequent 50' }),
    byProduct: Type.Unsafe<{ product: string; count: number }[]>({
      ...facet('product'),
      description: 'The most frequent 50',
    }),
    bySafety: counts,
    kev: Type.Integer(),
  }),
  runs: AttackSummary,
  groups: Type.Array(Type.Object({ key: Type.String(), ...AttackSummary.properties })),
  lastImportAt: NullableTimestamp,
});
export type CveStats = Static<typeof CveStats>;

const shared = { path: '/cve', noun: 'signature', item: CveSignature, permissions: 'cve' } as const;

const crud = crudRoutes({ ...shared, draft: CveDraft, query: CveQuery });

export const cve = collection({
  tag: 'cve',
  title: 'CVE signatures',
  routes: {
    ...crud,
    list: {
      ...crud.list,
      summary: 'Search signatures; they come without requests and responses',
      reply: Page(CveSummary),
    },
    all: allRoute({ ...shared, item: CveLight }),
    get: {
      ...crud.get,
      query: Type.Object({
        include: optional.string({
          pattern: '^(raw|references)(,(raw|references))?$',
          description: '`raw`: the template it was made from; `references`: who uses it',
        }),
      }),
      reply: One(CveSignature),
    },
    create: { ...crud.create, bodyLimit, errors: [] },
    update: { ...crud.update, bodyLimit },
    import: route('POST /cve/import', {
      summary: 'Import templates or metadata; each template gets a line of the report, progress comes as notifications',
      access: 'cve.write',
      body: CveImportDocument,
      upload: CveImportFields,
      bodyLimit,
      reply: CveImportReport,
      errors: [409],
    }),
    export: route('POST /cve/export', {
      summary: 'Export signatures; the header X-Export-Skipped counts what the format cannot say',
      access: 'cve.read',
      body: CveExportBody,
      download: ['application/json', 'application/yaml', 'application/zip'],
      errors: [404],
    }),
    stats: route('GET /cve/stats', {
      summary: 'Facets of the catalogue, and what became of attempts',
      access: 'cve.read',
      query: CveStatsQuery,
      reply: Data(CveStats),
    }),
    test: route('POST /cve/:id/test', {
      summary: 'Show what a signature sends, or try it between two agents',
      access: 'cve.execute',
      params: IdParams,
      body: CveTestBody,
      reply: CveTestReply,
      errors: [404, 409],
    }),
    results: route('GET /cve/:id/results', {
      summary: 'What became of its attempts',
      access: 'cve.read',
      params: IdParams,
      query: ListQuery(['id', 'startedAt'], {
        device: optional.text(128, 'Name of the device under test'),
        taskID: Type.Optional(Id),
        variant: optional.text(256),
        outcome: optional.oneOf(attackOutcomes),
      }),
      reply: Type.Object({ cursor: Cursor, data: Type.Array(AttackResult), summary: AttackSummary }),
      errors: [404],
    }),
  },
});
