import type { CveSignature, CveSummary } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import { inList, jsonRows } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import type { CveContent, CveDetails } from '../tables/security.ts';

export const cveSignatures = createTable('cveSignatures');
export type SignatureRow = NonNullable<Awaited<ReturnType<typeof cveSignatures.find>>>;

/** A signature before it has an id and an author. */
export type NewSignature = Omit<
  CveSignature,
  'id' | 'issuer' | 'issuerID' | 'createdAt' | 'updatedAt' | 'raw' | 'usedBy'
>;

const ranks: Record<string, number> = { unknown: 0, info: 1, low: 2, medium: 3, high: 4, critical: 5 };

const detailsOf = (signature: NewSignature): CveDetails => ({
  description: signature.description,
  cveIDs: signature.cveIDs,
  cweIDs: signature.cweIDs,
  cvssVersion: signature.cvssVersion,
  cvssVector: signature.cvssVector,
  epssPercentile: signature.epssPercentile,
  publishedAt: signature.publishedAt,
  cpe: signature.cpe,
  techniques: signature.techniques,
  tags: signature.tags,
  remediation: signature.remediation,
  references: signature.references,
  sourceFileID: signature.sourceFileID,
  sourceSha256: signature.sourceSha256,
  licence: signature.licence,
  warnings: signature.warnings,
});

const contentOf = (signature: NewSignature): CveContent => ({
  requests: signature.requests,
  responses: signature.responses,
  variables: signature.variables,
  payloads: signature.payloads,
  combine: signature.combine,
  maxAttempts: signature.maxAttempts,
  expect: signature.expect,
});

const columnsOf = (signature: NewSignature) => ({
  name: signature.name,
  severity: signature.severity,
  severityRank: ranks[signature.severity] ?? 0,
  cvssScore: signature.cvssScore,
  epssScore: signature.epssScore,
  kev: signature.kev,
  year: signature.year,
  vendor: signature.vendor,
  product: signature.product,
  protocol: signature.protocol,
  direction: signature.direction,
  category: signature.category,
  safety: signature.safety,
  enabled: signature.enabled,
  source: signature.source,
  sourceRef: signature.sourceRef,
  fingerprint: signature.fingerprint,
});

const labelsOf = (signatureID: number, { cveIDs, cweIDs, techniques, tags }: NewSignature) => {
  const rows = (kind: string, values: readonly string[]) =>
    [...new Set(values)].map((value) => ({ signatureID, kind, value }));
  const words = tags === '' ? [] : tags.split(',');
  return [...rows('cve', cveIDs), ...rows('cwe', cweIDs), ...rows('technique', techniques), ...rows('tag', words)];
};

const haystackOf = (signature: NewSignature) =>
  [
    signature.name,
    ...signature.cveIDs,
    ...signature.cweIDs,
    signature.vendor,
    signature.product,
    signature.tags,
    signature.sourceRef,
    signature.description,
  ]
    .join('\n')
    .toLowerCase();

const ofSignature = (table: 'cveDetails' | 'cveLabels' | 'cveTexts') =>
  statement((db, p: { ids: string }, engine) => db.deleteFrom(table).where(inList('signatureID', p.ids, engine)));
const removals = [ofSignature('cveDetails'), ofSignature('cveLabels'), ofSignature('cveTexts')];
const removeIndexed = statement((db, p: { ids: string }) => ({
  compile: () =>
    sql<never>`delete from ${sql.table('cveSearch')} where rowid in (select value from json_each(${p.ids}))`.compile(
      db,
    ),
}));

const insertDetails = statement(
  (db, p: { id: number; details: string; content: string; raw: string; sourceHash: string }) =>
    db.insertInto('cveDetails').values({
      ...{ signatureID: p.id, details: p.details, content: p.content },
      ...{ raw: p.raw, sourceHash: p.sourceHash },
    }),
);
const insertSource = statement((db, p: { sha256: string; raw: string }) =>
  db
    .insertInto('cveSources')
    .values({ sha256: p.sha256, raw: p.raw })
    .onConflict((found) => found.column('sha256').doNothing()),
);
const removeUnusedSources = statement((db) =>
  db
    .deleteFrom('cveSources')
    .where(
      sql<boolean>`not exists (select 1 from "cveDetails" d where d."sourceHash" = ${sql.ref('cveSources.sha256')})`,
    ),
);
const insertText = statement((db, p: { id: number; haystack: string }) =>
  db.insertInto('cveTexts').values({ signatureID: p.id, haystack: p.haystack }),
);
const insertIndexed = statement((db, p: { id: number; haystack: string }) => ({
  compile: () =>
    sql<never>`insert into ${sql.table('cveSearch')} (rowid, haystack) values (${p.id}, ${p.haystack})`.compile(db),
}));
const insertLabels = statement((db, p: { rows: string }, engine) => {
  const columns = sql.join(['signatureID', 'kind', 'value'].map((name) => sql.ref(name)));
  const rows = jsonRows(p.rows, 'r', { signatureID: 'bigint', kind: 'text', value: 'text' }, engine);
  return {
    compile: () =>
      sql<never>`insert into ${sql.table('cveLabels')} (${columns}) select ${columns} from ${rows}`.compile(db),
  };
});

const removeParts = async (tx: Change, ids: readonly number[]) => {
  const parameters = { ids: JSON.stringify(ids) };
  for (const removal of removals) await removal.all(tx, parameters);
  if (tx.engine === 'sqlite') await removeIndexed.all(tx, parameters);
};

const insertParts = async (tx: Change, id: number, signature: NewSignature, raw: string) => {
  const details = JSON.stringify(detailsOf(signature));
  const sourceHash = raw === '' ? '' : (signature.sourceSha256 ?? '');
  const own = sourceHash === '' ? raw : '';
  await insertDetails.all(tx, { id, details, content: JSON.stringify(contentOf(signature)), raw: own, sourceHash });
  if (sourceHash !== '') await insertSource.all(tx, { sha256: sourceHash, raw });
  const haystack = haystackOf(signature);
  await insertText.all(tx, { id, haystack });
  if (tx.engine === 'sqlite') await insertIndexed.all(tx, { id, haystack });
  const rows = labelsOf(id, signature);
  if (rows.length > 0) await insertLabels.all(tx, { rows: JSON.stringify(rows) });
};

export const insertSignature = async (tx: Change, signature: NewSignature, raw: string) => {
  const id = await cveSignatures.insert(tx, columnsOf(signature));
  await insertParts(tx, id, signature, raw);
  return id;
};

export const replaceSignature = async (tx: Change, id: number, signature: NewSignature, raw: string) => {
  await cveSignatures.update(tx, id, columnsOf(signature));
  await removeParts(tx, [id]);
  await insertParts(tx, id, signature, raw);
};

export const removeSignatures = async (tx: Change, ids: readonly number[]) => {
  const removed = await cveSignatures.remove(tx, ids);
  await removeParts(tx, removed);
  await removeUnusedSources.all(tx, {});
  return removed;
};

const partsOf = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('cveDetails')
    .select(['signatureID', 'details', 'content'])
    .where(inList('signatureID', p.ids, engine)),
);
const detailsBy = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('cveDetails')
    .select(['signatureID', 'details'])
    .where(inList('signatureID', p.ids, engine)),
);
const rawBy = statement((db, p: { id: number }) =>
  db
    .selectFrom('cveDetails as d')
    .leftJoin('cveSources as s', 's.sha256', 'd.sourceHash')
    .select(['d.raw', 's.raw as source'])
    .where('d.signatureID', '=', p.id),
);

const withoutRank = ({ severityRank: _, ...row }: SignatureRow) => row;

/** Rows of a list with what it shows besides. */
export const withDetails = async (executor: Executor, rows: readonly SignatureRow[]): Promise<CveSummary[]> => {
  const found = await detailsBy.all(executor, { ids: JSON.stringify(rows.map(({ id }) => id)) });
  const byId = new Map(found.map(({ signatureID, details }) => [signatureID, details]));
  return rows.map((row) => ({ ...withoutRank(row), ...(JSON.parse(byId.get(row.id) ?? '{}') as CveDetails) }));
};

/** Whole signatures, in the order of their ids; those that are not there are left out. */
export const findSignatures = async (executor: Executor, ids: readonly number[]): Promise<CveSignature[]> => {
  const rows = await cveSignatures.findMany(executor, ids);
  const parts = await partsOf.all(executor, { ids: JSON.stringify(ids) });
  const byId = new Map(parts.map((part) => [part.signatureID, part]));
  return rows.map((row) => {
    const { details = '{}', content = '{}' } = byId.get(row.id) ?? {};
    return {
      ...withoutRank(row),
      ...(JSON.parse(details) as CveDetails),
      ...(JSON.parse(content) as CveContent),
    };
  });
};

export const findSignature = async (executor: Executor, id: number) => (await findSignatures(executor, [id]))[0];

/** The template a signature was made from; empty where there was none. */
export const rawOf = async (executor: Executor, id: number) => {
  const found = await rawBy.first(executor, { id });
  return found?.source ?? found?.raw ?? '';
};

const bySource = statement((db, p: { source: string; sourceRef: string }) =>
  db
    .selectFrom('cveSignatures')
    .select(['id', 'fingerprint'])
    .where('source', '=', p.source)
    .where('sourceRef', '=', p.sourceRef)
    .orderBy('id', 'desc')
    .limit(1),
);

/** The newest signature made from this template. */
export const findBySource = (executor: Executor, source: string, sourceRef: string) =>
  bySource.first(executor, { source, sourceRef });

const byCve = statement((db, p: { cve: string }) =>
  db.selectFrom('cveLabels').select('signatureID').where('kind', '=', 'cve').where('value', '=', p.cve),
);

/** Ids of the signatures of one CVE. */
export const idsOfCve = async (executor: Executor, cve: string) =>
  (await byCve.all(executor, { cve })).map(({ signatureID }) => signatureID);

const cveValues = statement((db, _: object) =>
  db.selectFrom('cveLabels').select('value').distinct().where('kind', '=', 'cve'),
);

/** Every CVE that has a signature. */
export const knownCves = async (executor: Executor) =>
  new Set((await cveValues.all(executor, {})).map(({ value }) => value));
