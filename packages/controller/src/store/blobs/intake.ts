import { addAbortSignal, type Readable } from 'node:stream';
import { BlobError } from './blob-error.ts';

/** A multiple of the sealing chunk, so that only the last slab can end inside a chunk. */
const slabBytes = 512 * 1024;
const slabCount = 8;

/** Called with the next bytes in order; they may be overwritten once it resolves. Calls overlap. */
export type Consume = (bytes: Uint8Array) => Promise<unknown>;

/** Slabs of rings that are done. Shared memory is freed long after its last use, so it is used again. */
const idleRings: Uint8Array[][] = [];
const maxIdleRings = 4;

/**
 * A ring of slabs in shared memory: disk and hashing threads read them where they lie, and the producer stops when all
 * are taken. Memory is the ring, whatever the length of the content; a short content needs only one slab.
 */
const createRing = (consume: Consume) => {
  const slabs = idleRings.pop() ?? [];
  const busy: Promise<unknown>[] = [];
  let next = 0;
  return {
    /** Waits for the oldest slab; rejects with the failure of what was consumed from it. */
    take: async (): Promise<Uint8Array> => {
      await busy[next];
      slabs[next] ??= new Uint8Array(new SharedArrayBuffer(slabBytes));
      return slabs[next] as Uint8Array;
    },
    pass: (bytes: Uint8Array) => {
      const consumed = consume(bytes);
      consumed.catch(() => {});
      busy[next] = consumed;
      next = (next + 1) % slabCount;
    },
    /** Where something failed, a slab may still be read: such a ring is not used again. */
    finish: async () => {
      await Promise.all(busy);
      if (idleRings.length < maxIdleRings) idleRings.push(slabs);
    },
    settle: () => Promise.allSettled(busy),
  };
};

export interface IntakeOptions {
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** When the stream breaks off, what came of the last slab is consumed before the failure is thrown. */
  readonly keepsTail?: boolean;
}

// A request refused half-way must stay open for the response, so only its owner destroys the source.
const iterate = (source: Readable): AsyncIterable<Uint8Array> => source.iterator({ destroyOnReturn: false });

/** Takes a stream to its end through `consume` and answers its length. Stops reading at the first byte past `maxBytes`. */
export const takeStream = async (source: Readable, consume: Consume, options: IntakeOptions = {}): Promise<number> => {
  const { maxBytes = Number.POSITIVE_INFINITY, signal } = options;
  if (signal) addAbortSignal(signal, source);
  const ring = createRing(consume);
  let slab = await ring.take();
  let total = 0;
  let filled = 0;
  try {
    for await (const chunk of iterate(source)) {
      total += chunk.length;
      if (total > maxBytes)
        throw new BlobError('TOO_LARGE', `content is larger than ${maxBytes} bytes`, { limit: maxBytes });
      for (let taken = 0; taken < chunk.length; ) {
        const piece = chunk.subarray(taken, taken + slab.length - filled);
        slab.set(piece, filled);
        taken += piece.length;
        filled += piece.length;
        if (filled < slab.length) continue;
        ring.pass(slab);
        slab = await ring.take();
        filled = 0;
      }
    }
    if (filled > 0) ring.pass(slab.subarray(0, filled));
    await ring.finish();
    return total;
  } catch (error) {
    if (options.keepsTail && filled > 0) ring.pass(slab.subarray(0, filled));
    throw error;
  } finally {
    await ring.settle();
  }
};

export type ReadInto = (target: Uint8Array, position: number) => Promise<number>;

/** As `takeStream` for content that can be read straight into a slab. */
export const takeFile = async (readInto: ReadInto, consume: Consume, signal?: AbortSignal): Promise<number> => {
  const ring = createRing(consume);
  let total = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const slab = await ring.take();
      const length = await readInto(slab, total);
      if (length === 0) break;
      total += length;
      ring.pass(slab.subarray(0, length));
    }
    await ring.finish();
    return total;
  } finally {
    await ring.settle();
  }
};
