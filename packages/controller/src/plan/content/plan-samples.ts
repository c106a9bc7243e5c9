import { hash } from 'node:crypto';
import { type ConfigurationEntry, entriesOf } from '@rushhour/contract';
import type { FileReference } from '@rushhour/protocol';
import type { Executor } from '../../store/engine/database.ts';
import type { PlannedSealedFile } from './attempts.ts';

export const compressions = ['none', 'gzip', 'deflate', 'br'] as const;
export type Compression = (typeof compressions)[number];

/** A sample as agents get it: sealed with a key of this task. */
export interface SampleCopy {
  /** Of the bytes before they were sealed. */
  readonly plainSha256: string;
  /** Of the sealed bytes. */
  readonly sha256: string;
  readonly size: number;
  readonly key: string;
  readonly nonce: string;
  readonly tag: string;
}

export interface PlanSample {
  readonly id: number;
  readonly name: string;
  readonly mime: string;
  readonly type: string;
  readonly family: string;
  readonly isBuiltin: boolean;
  readonly inert: boolean;
  readonly kind: string;
  readonly container: readonly string[];
  readonly depth: number;
  readonly encoding: string;
  readonly copies: ReadonlyMap<Compression, SampleCopy>;
}

export interface SampleWish {
  readonly ids: readonly number[];
  /** Also the test files that every installation has. */
  readonly hasBuiltin: boolean;
  readonly compressions: readonly Compression[];
  /** Keys are bound to it: another task has others. */
  readonly scope: string;
}

/** Reads samples and seals them anew for a task; those without content are left out. */
export type PlanSamples = (read: Executor, wish: SampleWish) => Promise<ReadonlyMap<number, PlanSample>>;

const transferPlugin = 17;
const hostPlugin = 19;

interface TransferValues {
  readonly malwareFiles?: readonly number[];
  readonly payload?: { readonly delivery?: readonly { readonly compression?: Compression }[] };
}

/** What of samples a definition needs; undefined when it needs none. `fileIds` are all it names, samples or not. */
export const sampleWish = (
  configuration: readonly ConfigurationEntry[],
  fileIds: readonly number[],
): SampleWish | undefined => {
  const entries = entriesOf([...configuration]);
  const transfers = entries
    .filter(({ pluginId }) => pluginId === transferPlugin)
    .map(({ values }) => values as unknown as TransferValues);
  const hasBuiltin = entries.some(({ pluginId }) => pluginId === hostPlugin);
  if (transfers.length === 0 && !hasBuiltin) return undefined;
  const wished = transfers.flatMap(({ payload }) => payload?.delivery ?? [{}]);
  return {
    ids: [...new Set([...transfers.flatMap(({ malwareFiles = [] }) => malwareFiles), ...fileIds])],
    hasBuiltin,
    compressions: [...new Set(wished.map(({ compression = 'none' }) => compression)), 'none'],
    scope: hash('sha256', JSON.stringify(configuration)),
  };
};

/** How the configuration of an engine names the copy. */
export const sealedFileOf = ({ plainSha256, sha256, size, key, nonce, tag }: SampleCopy): PlannedSealedFile => ({
  ...{ sha256: plainSha256, size, key, nonce, tag },
  path: { $file: sha256, as: 'path' } satisfies FileReference,
});
