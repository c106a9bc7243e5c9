import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import { contains, hasTags, inTexts, patternOf } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { isDumpContent, isDumpPart } from '../runs/run-dumps.ts';

const equals = (column: string) => (value: unknown) => sql`${sql.ref(`t.${column}`)} = ${value}`;
const notBelow = (column: string) => (value: unknown) => sql`${sql.ref(`t.${column}`)} >= ${value}`;
const isTrue = (condition: ReturnType<typeof sql>) => (value: unknown) =>
  sql`(case when ${condition} then 1 else 0 end) = ${value}`;

/** Lists and booleans are given as the database takes them: JSON texts, 0 and 1. */
export interface FileFilters {
  category: string;
  tag: string;
  source: string;
  mime: string;
  hash: string;
  sizeMin: number;
  sizeMax: number;
  createdFrom: string;
  createdTo: string;
  syncReady: number;
  issuerID: number;
  unused: number;
}

const hashes = ['md5', 'sha1', 'sha256', 'sha3_384', 'original_sha256'];

export const files = createTable<'files', unknown, FileFilters>('files', {
  search: ['name', 'tags', 'mime'],
  hasTrigrams: true,
  filters: {
    category: (categories, engine) => inTexts('t.category', categories, engine),
    tag: (tags, engine) => hasTags('t.tags', tags, engine),
    source: equals('source'),
    mime: equals('mime'),
    hash: (hash) =>
      sql`(${sql.join(
        hashes.map((name) => equals(name)(hash)),
        sql` or `,
      )})`,
    sizeMin: notBelow('size'),
    sizeMax: (size) => sql`${sql.ref('t.size')} <= ${size}`,
    createdFrom: notBelow('createdAt'),
    createdTo: (time) => sql`${sql.ref('t.createdAt')} < ${time}`,
    syncReady: isTrue(sql`${sql.ref('t.state')} = 'ready'`),
    issuerID: equals('issuerID'),
    unused: isTrue(sql`not exists (select 1 from "links" where "toKind" = 'file' and "toID" = ${sql.ref('t.id')})`),
  },
});
export type FileRow = NonNullable<Awaited<ReturnType<typeof files.find>>>;

// Malware has separate storage: equal content there does not count as the same content.
const referring = statement((db, p: { sha256: string }) =>
  db
    .selectFrom('files')
    .select(['id', 'category'])
    .where('sha256', '=', p.sha256)
    .where('category', '<>', 'malware')
    .orderBy('id'),
);
const sealedBy = statement((db, p: { sha256: string }) =>
  db.selectFrom('malware').select('id').where('sealedSha256', '=', p.sha256).limit(1),
);
const partOwner = statement((db, p: { part: string }, engine) =>
  db
    .selectFrom('files')
    .select('id')
    .where('state', '=', 'uploading')
    .where(
      engine === 'sqlite'
        ? sql<boolean>`json_extract(${sql.ref('upload')}, '$.part') = ${p.part}`
        : sql<boolean>`${sql.ref('upload')}::json ->> 'part' = ${p.part}`,
    ),
);
const byState = statement((db, p: { state: string }) =>
  db.selectFrom('files').select(['id', 'expiresAt']).where('state', '=', p.state).orderBy('id'),
);
const madeFrom = statement((db, p: { sha256s: string }, engine) =>
  db
    .selectFrom('files')
    .select(['id', 'original_sha256'])
    .where(inTexts('original_sha256', p.sha256s, engine))
    .whereRef('sha256', '<>', 'original_sha256')
    .where('category', '<>', 'malware')
    .orderBy('id'),
);

/** Files with this content, oldest first; without those of the malware collection. */
export const filesWith = (executor: Executor, sha256: string) => referring.all(executor, { sha256 });
/** Whether a file, a sealed sample or a packet capture has this content. */
export const isContentUsed = async (executor: Executor, sha256: string) =>
  (await filesWith(executor, sha256)).length > 0 ||
  (await sealedBy.first(executor, { sha256 })) !== undefined ||
  (await isDumpContent(executor, sha256));
export const isPartUsed = async (executor: Executor, part: string) =>
  (await partOwner.first(executor, { part })) !== undefined || (await isDumpPart(executor, part));
const openUploads = statement((db, p: { issuerID: number }) =>
  db
    .selectFrom('files')
    .select(sql<number>`count(*)`.as('count'))
    .where('state', '=', 'uploading')
    .where('issuerID', '=', p.issuerID),
);
/** Unfinished uploads of a user. */
export const countOpenUploads = async (executor: Executor, issuerID: number) =>
  Number((await openUploads.first(executor, { issuerID }))?.count ?? 0);
export const filesInState = (executor: Executor, state: string) => byState.all(executor, { state });
const ofLibrary = statement((db, _: object) =>
  db.selectFrom('files').select('id').where('source', '=', 'builtin').where('category', '=', 'pcap'),
);
/** Captures that came with this or an earlier release. */
export const builtinCaptures = async (executor: Executor) =>
  files.findMany(
    executor,
    (await ofLibrary.all(executor, {})).map(({ id }) => id),
  );
/** Files whose content was made from one of these contents. */
export const filesMadeFrom = (executor: Executor, sha256s: readonly string[]) =>
  madeFrom.all(executor, { sha256s: JSON.stringify(sha256s.filter((sha256) => sha256 !== '')) });

const known = statement((db, p: { sha256s: string }, engine) =>
  db
    .selectFrom('files')
    .select(['id', 'sha256', 'size', 'category'])
    .where(inTexts('sha256', p.sha256s, engine))
    .orderBy('id'),
);
export const filesWithAny = (executor: Executor, sha256s: readonly string[]) =>
  known.all(executor, { sha256s: JSON.stringify(sha256s) });

const totals = statement((db, _: object) =>
  db
    .selectFrom('files')
    .select([
      'category',
      sql<number>`count(*)`.as('count'),
      sql<number>`coalesce(sum(${sql.ref('size')}), 0)`.as('bytes'),
    ])
    .where('state', '<>', 'uploading')
    .groupBy('category'),
);
const unique = statement((db, _: object) =>
  db
    .selectFrom(
      db.selectFrom('files').select(['sha256', 'size']).distinct().where('state', '<>', 'uploading').as('contents'),
    )
    .select(sql<number>`coalesce(sum(${sql.ref('contents.size')}), 0)`.as('bytes')),
);
const tagged = statement((db, p: { pattern: string; category: string }, engine) =>
  db
    .selectFrom('files')
    .select(['tags', sql<number>`count(*)`.as('count')])
    .where('tags', '<>', '')
    .where(contains('tags', p.pattern, engine))
    .where(sql<boolean>`(cast(${p.category} as text) = '' or ${sql.ref('category')} = cast(${p.category} as text))`)
    .groupBy('tags'),
);

export const totalsByCategory = (executor: Executor) => totals.all(executor, {});
export const uniqueBytes = async (executor: Executor) => Number((await unique.first(executor, {}))?.bytes ?? 0);
export const tagSets = (executor: Executor, search: string, category: string) =>
  tagged.all(executor, { pattern: patternOf(search), category });

const setState = statement((db, p: { sha256: string; state: string; problem: string; now: string }) =>
  db
    .updateTable('files')
    .set({ state: p.state, problem: p.problem, updatedAt: p.now })
    .where('sha256', '=', p.sha256)
    .where('state', '=', 'analysing')
    .returning('id'),
);

/** Ends the analysis of a content for all files that have it. */
export const endAnalysis = async (
  tx: Change,
  sha256: string,
  outcome: { state: 'ready' | 'failed'; problem: string },
) => {
  const rows = await setState.all(tx, { sha256, now: tx.now, ...outcome });
  for (const { id } of rows) tx.touch('files', id);
};
