import type { api, CveStatsQuery, ReplyOf, RequestOf } from '@rushhour/contract';
import { cursorOf, pageRequestOf } from '../../crud.ts';
import { orNotFound } from '../../errors.ts';
import type { Executor } from '../../store/engine/database.ts';
import { type AttackCount, countAttackResults } from '../../store/security/attack-counts.ts';
import { listAttackResults, shownResult } from '../../store/security/attack-results.ts';
import { cveSignatures } from '../../store/security/cve.ts';
import { cveFacets, lastImportOf } from '../../store/security/cve-facets.ts';
import type { Store } from '../../store/store.ts';
import { attackSummary } from '../verdicts/summary.ts';

/** Facets of the catalogue under a filter, and what became of attempts in a span of time. */
export const cveStats = async ({ read }: Store, query: CveStatsQuery) => {
  const { from: _, to: __, groupBy: ___, ...filter } = query;
  const [catalogue, outcomes, lastImportAt] = await Promise.all([
    cveFacets(read, filter),
    cveOutcomes(read, query),
    lastImportOf(read),
  ]);
  return { data: { catalogue, ...outcomes, lastImportAt } };
};

const kind = 'cve';
type ResultQuery = NonNullable<RequestOf<typeof api.cve.routes.results>['query']>;

/** What became of a signature; the summary counts every outcome, whichever is listed. */
export const cveResults = async (
  read: Executor,
  refID: number,
  query: ResultQuery,
): Promise<ReplyOf<typeof api.cve.routes.results>> => {
  await orNotFound(cveSignatures.find(read, refID), 'signature', refID);
  const { filters, ...page } = pageRequestOf(query, 'id');
  const { device, taskID, variant, outcome } = filters;
  const which = { signatureID: refID, device, taskID };
  const [{ rows, total }, counts] = await Promise.all([
    listAttackResults(read, { ...page, filters: { ...which, variant, outcome } }),
    countAttackResults(read, which),
  ]);
  return {
    cursor: cursorOf(page.limit, page.offset, total),
    data: rows.map(shownResult),
    summary: attackSummary(counts),
  };
};

type Grouping = NonNullable<CveStatsQuery['groupBy']>;
const ofResult = ['severity', 'category', 'device', 'month'] as const;
const isOfResult = (groupBy: Grouping): groupBy is (typeof ofResult)[number] => ofResult.some((own) => own === groupBy);

/** What signatures of the counts are called by; those that are gone are called so. */
const keysOf = async (read: Executor, counts: readonly AttackCount[], member: 'protocol' | 'year' | 'product') => {
  const ids = [...new Set(counts.map(({ group }) => Number(group)))];
  const known = new Map((await cveSignatures.findMany(read, ids)).map((row) => [row.id, String(row[member] ?? '')]));
  return (group: string) => known.get(Number(group)) ?? 'deleted';
};

/** Outcomes of all signatures, and by group with the interval of each rate. */
export const cveOutcomes = async (read: Executor, { from, to, groupBy = 'severity' }: CveStatsQuery) => {
  const which = { kind, from: instant(from), to: instant(to) };
  const counts = await countAttackResults(read, which, isOfResult(groupBy) ? groupBy : 'refID');
  const keyOf = isOfResult(groupBy) ? (group: string) => group : await keysOf(read, counts, groupBy);
  const groups = [...Map.groupBy(counts, ({ group }) => keyOf(group))]
    .map(([key, own]) => ({ key, ...attackSummary(own) }))
    .sort((left, right) => right.attempts - left.attempts || (left.key < right.key ? -1 : 1));
  return { runs: attackSummary(counts), groups };
};

/** Times are compared as texts, and those that are stored are in UTC. */
const instant = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
