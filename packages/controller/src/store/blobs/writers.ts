import type { FileHandle } from 'node:fs/promises';
import { chunkBytes, createSealer, sealedSizeOf } from './seal.ts';

export interface Writer {
  /** Resolves when the bytes are written and may be overwritten. Calls may overlap; writes do not. */
  write(bytes: Uint8Array): Promise<void>;
  /** Writes what can only be known at the end. */
  finish(size: number, sha256: string): Promise<void>;
}

export const writeFully = async (handle: FileHandle, bytes: Uint8Array, position: number) => {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
};

/** Runs one after another; after a failure none runs any more. What reached the disk is therefore always a prefix. */
const inOrder = () => {
  let last: Promise<void> = Promise.resolve();
  return (work: () => Promise<void>) => {
    last = last.then(work);
    return last;
  };
};

export type Change = (bytes: Uint8Array, offset: number) => Uint8Array;

export interface PlainWriterOptions {
  /** Where the content begins in the file. */
  readonly base?: number;
  /** Bytes of content that are there already. */
  readonly offset?: number;
  readonly change?: Change;
}

/** Keeps the content as it is, or with every byte changed in its place. */
export const createPlainWriter = (handle: FileHandle, options: PlainWriterOptions = {}): Writer => {
  const { base = 0, change = (bytes) => bytes } = options;
  const next = inOrder();
  let offset = options.offset ?? 0;
  const append = async (bytes: Uint8Array) => {
    await writeFully(handle, change(bytes, offset), base + offset);
    offset += bytes.length;
  };
  return { write: (bytes) => next(() => append(bytes)), finish: () => next(async () => {}) };
};

export const createSealedWriter = (handle: FileHandle, key: Uint8Array): Writer => {
  const next = inOrder();
  const sealer = createSealer(key);
  let scratch = Buffer.alloc(sealedSizeOf(chunkBytes));
  const append = async (plain: Uint8Array) => {
    if (scratch.length < sealedSizeOf(plain.length)) scratch = Buffer.alloc(sealedSizeOf(plain.length));
    const { bytes, position } = sealer.seal(plain, scratch);
    await writeFully(handle, bytes, position);
  };
  return {
    write: (bytes) => next(() => append(bytes)),
    finish: (size, sha256) => next(() => writeFully(handle, sealer.header(size, sha256), 0)),
  };
};
