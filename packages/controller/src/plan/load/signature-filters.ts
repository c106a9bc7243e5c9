import { type ConfigurationEntry, type CveFilter, CveSmartFilter, maxSignatures } from '@rushhour/contract';
import { createSchemaCheck } from '../../schema-check.ts';
import type { Executor } from '../../store/engine/database.ts';
import { listAttackResults } from '../../store/security/attack-results.ts';
import { matchingIds } from '../../store/security/cve-search.ts';

const resultsAtOnce = 5000;
const check = createSchemaCheck(CveSmartFilter, 'coercing');

interface Params {
  readonly signatureIds?: readonly number[];
  readonly filter?: Record<string, unknown>;
  readonly retest?: { readonly fromTaskId: number; readonly outcomes?: readonly string[] };
  readonly allowIntrusive?: boolean;
}

type Holder = Pick<ConfigurationEntry, 'values'> & { readonly subplugins?: unknown };

/**
 * Replaces signature filters by the ids they match now; storing the definition freezes them. A filter that is not valid
 * stays, and the plan refuses it.
 */
export const resolveSignatureFilters = async <Definition extends { readonly configuration: readonly unknown[] }>(
  read: Executor,
  definition: Definition,
): Promise<Definition> => {
  const configuration = await Promise.all(
    (definition.configuration as Holder[]).map(async (entry) => {
      const suite = entry.subplugins as { subplugins?: Holder[] } | undefined;
      const children = suite?.subplugins && (await Promise.all(suite.subplugins.map((child) => resolved(read, child))));
      return { ...(await resolved(read, entry)), ...(children && { subplugins: { ...suite, subplugins: children } }) };
    }),
  );
  return { ...definition, configuration };
};

const resolved = async <T extends Holder>(read: Executor, holder: T): Promise<T> => {
  const params = holder.values?.['cveReplayParams'] as Params | undefined;
  if (params === undefined || (params.filter === undefined && params.retest === undefined)) return holder;
  const { filter, retest, ...rest } = params;
  const found = await idsOf(read, params);
  if (found === undefined) return holder;
  const signatureIds = [...new Set([...(params.signatureIds ?? []), ...found])];
  const resolvedFrom = JSON.stringify({ filter, retest });
  return { ...holder, values: { ...holder.values, cveReplayParams: { ...rest, signatureIds, resolvedFrom } } };
};

/** Undefined when the filter cannot be read. Only what may be run is found: harmless signatures, unless all are allowed. */
const idsOf = async (read: Executor, { filter, retest, allowIntrusive = false }: Params) => {
  const ids = retest ? await retested(read, retest) : [];
  if (filter === undefined) return ids;
  const filters = structuredClone(filter);
  if (check(filters).length > 0) return undefined;
  const safe = allowIntrusive ? {} : { safety: ['benign' as const] };
  // One more than there may be: the plan refuses them, where a shorter list would look complete.
  const limit = maxSignatures + 1;
  return [...ids, ...(await matchingIds(read, { ...(filters as CveFilter), enabled: true, ...safe }, limit))];
};

/** Signatures whose attempts ended so in the newest run of the task. */
const retested = async (
  read: Executor,
  { fromTaskId, outcomes = ['passed', 'inconclusive'] }: NonNullable<Params['retest']>,
) => {
  const filters = { taskID: fromTaskId, kind: 'cve' };
  const found = new Set<number>();
  let newest: number | undefined;
  for (let offset = 0; ; offset += resultsAtOnce) {
    const { rows } = await listAttackResults(read, { filters, limit: resultsAtOnce, offset });
    newest ??= rows[0]?.runID;
    for (const { runID, outcome, refID } of rows) {
      if (runID === newest && outcomes.includes(outcome) && refID > 0) found.add(refID);
    }
    if (rows.length < resultsAtOnce || rows.at(-1)?.runID !== newest) return [...found];
  }
};
