import type { Executor } from '../../store/engine/database.ts';
import { catalogue, type SampleRow } from '../../store/security/malware.ts';
import type { PlanSample, PlanSamples, SampleCopy } from '../content/plan-samples.ts';
import type { TaskCopies } from './sample-copies.ts';

const findBuiltin = async (read: Executor) =>
  (await catalogue.page(read, { key: 'id', order: 'asc', limit: 1000, offset: 0, filters: { source: 'builtin' } }))
    .rows;

const sampleOf = (row: SampleRow, copies: PlanSample['copies']): PlanSample => {
  const { id, name, mime, type, family, source, inert, kind, container, depth, encoding } = row;
  return {
    ...{ id, name, mime, type, family, inert, kind, container, depth, encoding },
    isBuiltin: source === 'builtin',
    copies,
  };
};

/** Samples for plans, each sealed with a key of the task. */
export const planSamples =
  ({ copyOf }: TaskCopies): PlanSamples =>
  async (read, { ids, hasBuiltin, compressions, scope }) => {
    const named = await catalogue.findMany(read, ids);
    const builtin = hasBuiltin ? await findBuiltin(read) : [];
    const found = new Map<number, PlanSample>();
    for (const row of [...named, ...builtin]) {
      if (row.sealedSha256 === '') continue;
      const copies = new Map<(typeof compressions)[number], SampleCopy>();
      for (const compression of new Set(compressions))
        copies.set(compression, await copyOf(row, { scope, compression }));
      found.set(row.id, sampleOf(row, copies));
    }
    return found;
  };
