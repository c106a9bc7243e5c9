import { createCipheriv, hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Vault } from '../../security/malware/vault.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { catalogue, findSampleCopy, keepSampleCopy, type SampleRow } from '../../store/security/malware.ts';
import type { Store } from '../../store/store.ts';
import type { Compression, SampleCopy } from '../core/plan-input.ts';

type Kept = Pick<SampleRow, 'id' | 'sealedSha256' | 'dataKey'>;

interface Form {
  /** Identifies the task. */
  readonly scope: string;
  readonly compression: Compression;
}

const packers: Record<Compression, (bytes: Buffer) => Buffer> = {
  none: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
};

const sha256Of = (bytes: Buffer) => hash('sha256', bytes, 'hex');

interface Deps {
  store: Store;
  vault: Vault;
}

const createCopyContext = (deps: Deps) => {
  const known = new Map<string, SampleCopy>();
  return { ...deps, known };
};
type CopyContext = ReturnType<typeof createCopyContext>;

const seal = async ({ store, vault }: CopyContext, sample: Kept, { scope, compression }: Form) => {
  const key = store.secrets.derive('sample for a task', `${scope}\0${compression}\0${sample.sealedSha256}`);
  // The key serves this one message alone, so that its nonce may be fixed.
  const nonce = Buffer.alloc(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const plain = packers[compression](Buffer.concat(await (await vault.open(sample)).toArray()));
  const plainSha256 = sha256Of(plain);
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
  plain.fill(0);
  return { bytes, key, nonce, tag: cipher.getAuthTag(), plainSha256 };
};

const copyOf = async (context: CopyContext, sample: Kept, form: Form): Promise<SampleCopy> => {
  const { known, store } = context;
  const name = `${form.scope} ${form.compression} ${sample.sealedSha256}`;
  const found = known.get(name);
  if (found !== undefined) return found;
  const { bytes, key, nonce, tag, plainSha256 } = await seal(context, sample, form);
  const sha256 = sha256Of(bytes);
  const text = (part: Buffer) => part.toString('base64');
  const copy = { sha256, plainSha256, size: bytes.length, key: text(key), nonce: text(nonce), tag: text(tag) };
  const row = { ...form, sha256, sampleID: sample.id, createdAt: new Date().toISOString() };
  await store.database.transaction((tx) => keepSampleCopy(tx, row));
  known.set(name, copy);
  return copy;
};

const bytesOf = async (context: CopyContext, sha256: string): Promise<Buffer | undefined> => {
  const { store } = context;
  const copy = await findSampleCopy(store.read, sha256);
  if (copy === undefined) return undefined;
  const sample = await catalogue.find(store.read, copy.sampleID);
  if (sample === undefined || sample.sealedSha256 === '') return undefined;
  return (await seal(context, sample, { scope: copy.scope, compression: copy.compression as Compression })).bytes;
};

/**
 * Samples as agents of one task get them: AES-256-GCM over all of it, with a key that no other task has. They are made
 * from key and sample whenever they are asked for and are stored nowhere: the same task always gets the same bytes, so
 * that agents that are prepared one after the other agree.
 */
export const createTaskCopies = (deps: Deps) => {
  const context = createCopyContext(deps);

  return {
    copyOf: (sample: Kept, form: Form) => copyOf(context, sample, form),
    /** Contents as agents may ask for them: what is stored, and these copies. */
    beside: (blobs: Blobs): Pick<Blobs, 'read'> => ({
      read: async (sha256, range = {}) => {
        const isStored = await blobs.exists(sha256).catch(() => true);
        const bytes = isStored ? undefined : await bytesOf(context, sha256);
        if (bytes === undefined) return blobs.read(sha256, range);
        return Readable.from([bytes.subarray(range.start ?? 0, range.end)]);
      },
    }),
  };
};

export type TaskCopies = ReturnType<typeof createTaskCopies>;
