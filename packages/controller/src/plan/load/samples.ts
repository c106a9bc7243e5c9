import { hash } from 'node:crypto';
import { type ConfigurationEntry, compromisedHostPlugin, entriesOf, malwareTransferPlugin } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { catalogue, type SampleRow } from '../../store/security/malware.ts';
import { validEntriesOf } from '../core/checked-values.ts';
import type { Compression, PlanSample, SampleCopy } from '../core/plan-input.ts';
import type { TaskCopies } from './sample-copies.ts';

interface SampleRequest {
  readonly ids: readonly number[];
  /** Also the test files that every installation has. */
  readonly hasBuiltin: boolean;
  readonly compressions: readonly Compression[];
  /** Keys are bound to it: another task has other keys. */
  readonly scope: string;
}

/** Reads samples and seals them for a task; samples without content are missing from the result. */
export type PlanSamples = (read: Executor, request: SampleRequest) => Promise<ReadonlyMap<number, PlanSample>>;

/** The samples a definition needs; undefined when it needs none. `fileIds` are all files it names, samples or not. */
export const sampleRequest = (
  configuration: readonly ConfigurationEntry[],
  fileIds: readonly number[],
): SampleRequest | undefined => {
  const transfers = validEntriesOf(malwareTransferPlugin, configuration).map(({ values }) => values);
  const hasBuiltin = entriesOf([...configuration]).some(({ pluginId }) => pluginId === compromisedHostPlugin.id);
  if (transfers.length === 0 && !hasBuiltin) return undefined;
  const deliveries = transfers.flatMap(({ payload }) => payload.delivery);
  return {
    ids: [...new Set([...transfers.flatMap(({ malwareFiles }) => malwareFiles), ...fileIds])],
    hasBuiltin,
    compressions: [...new Set(deliveries.map(({ compression }) => compression)), 'none'],
    scope: hash('sha256', JSON.stringify(configuration)),
  };
};

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

/** Seals each sample with a key of the task. */
export const readSamples =
  ({ copyOf }: TaskCopies): PlanSamples =>
  async (read, { ids, hasBuiltin, compressions, scope }) => {
    const named = await catalogue.findMany(read, ids);
    const builtin = hasBuiltin ? await findBuiltin(read) : [];
    const found = new Map<number, PlanSample>();
    for (const row of [...named, ...builtin]) {
      if (row.sealedSha256 === '') continue;
      const copies = new Map<Compression, SampleCopy>();
      for (const compression of new Set(compressions))
        copies.set(compression, await copyOf(row, { scope, compression }));
      found.set(row.id, sampleOf(row, copies));
    }
    return found;
  };
