import type { CveStatsQuery } from '@rushhour/contract';
import { cveFacets } from '../../store/security/cve-facets.ts';
import { lastImportOf } from '../../store/security/cve-imports.ts';
import type { Store } from '../../store/store.ts';
import { cveOutcomes } from './results.ts';

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
