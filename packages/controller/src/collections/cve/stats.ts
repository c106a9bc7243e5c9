import type { CveStatsQuery } from '@rushhour/contract';
import { cveFacets } from '../../store/cve-facets.ts';
import { lastImportOf } from '../../store/cve-imports.ts';
import type { Store } from '../../store/index.ts';

const nothing = {
  attempts: 0,
  blocked: 0,
  modified: 0,
  passed: 0,
  inconclusive: 0,
  error: 0,
  detected: 0,
  blockRate: null,
  ci95: null,
};

export const cveStats = async (store: Store, { from: _, to: __, groupBy: ___, ...filter }: CveStatsQuery) => ({
  data: {
    catalogue: await cveFacets(store.read, filter),
    runs: nothing,
    groups: [],
    lastImportAt: await lastImportOf(store.read),
  },
});
