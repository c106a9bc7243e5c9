import { Histogram } from '@rushhour/protocol';
import { ByteWriter } from '../ingest/byte-stream.ts';

const sharedWriter = new ByteWriter();

/**
 * Sums histograms in their byte form. Counts are kept as doubles: a long run of many agents has more events of one kind
 * than the 32 bits of a second's histogram can count.
 */
export class HistogramSum {
  readonly #counts = new Float64Array(Histogram.bucketCount);
  #sum = 0;
  #count = 0;
  #first = Histogram.bucketCount;
  #last = -1;

  /** Throws when the bytes are no histogram; what was added until then stays. */
  add(bytes: Uint8Array): this {
    // The innermost loop of everything that is read: numbers are decoded in place.
    const counts = this.#counts;
    let bucket = -1;
    let value = 0;
    let scale = 1;
    let isCount = false;
    let isSum = true;
    for (const byte of bytes) {
      if (byte >= 128) {
        value += (byte - 128) * scale;
        scale *= 128;
        continue;
      }
      value += byte * scale;
      if (isSum) {
        this.#sum += value;
        isSum = false;
      } else if (isCount) {
        counts[bucket] = (counts[bucket] as number) + value;
        this.#count += value;
        isCount = false;
      } else {
        bucket += value + 1;
        if (bucket >= counts.length) throw new RangeError(`histogram bucket ${bucket} does not exist`);
        if (bucket < this.#first) this.#first = bucket;
        if (bucket > this.#last) this.#last = bucket;
        isCount = true;
      }
      value = 0;
      scale = 1;
    }
    if (scale !== 1 || isCount || isSum) throw new RangeError('histogram bytes are cut off');
    if (!Number.isSafeInteger(this.#count)) throw new RangeError('histogram counts too much');
    return this;
  }

  addAll(other: HistogramSum): this {
    for (let bucket = other.#first; bucket <= other.#last; bucket += 1) {
      this.#counts[bucket] = (this.#counts[bucket] as number) + (other.#counts[bucket] as number);
    }
    this.#sum += other.#sum;
    this.#count += other.#count;
    this.#first = Math.min(this.#first, other.#first);
    this.#last = Math.max(this.#last, other.#last);
    return this;
  }

  clear(): this {
    if (this.#last >= 0) this.#counts.fill(0, this.#first, this.#last + 1);
    this.#sum = 0;
    this.#count = 0;
    this.#first = Histogram.bucketCount;
    this.#last = -1;
    return this;
  }

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  /** NaN while empty, like every other statistic here. */
  get avg(): number {
    return this.#sum / this.#count;
  }

  get min(): number {
    return this.#count === 0 ? Number.NaN : Histogram.middleOf(this.#first);
  }

  get max(): number {
    return this.#count === 0 ? Number.NaN : Histogram.middleOf(this.#last);
  }

  /** The smallest value that at least `fraction` (0..1) of all values do not exceed. */
  quantile(fraction: number): number {
    const wanted = Math.max(1, Math.ceil(fraction * this.#count));
    let seen = 0;
    for (let bucket = this.#first; bucket <= this.#last; bucket += 1) {
      seen += this.#counts[bucket] as number;
      if (seen >= wanted) return Histogram.middleOf(bucket);
    }
    return Number.NaN;
  }

  toBytes(): Uint8Array {
    const writer = sharedWriter.restart();
    writer.varint(this.#sum);
    let previous = -1;
    for (let bucket = this.#first; bucket <= this.#last; bucket += 1) {
      const count = this.#counts[bucket] as number;
      if (count === 0) continue;
      writer.varint(bucket - previous - 1);
      writer.varint(count);
      previous = bucket;
    }
    return writer.toBytes();
  }
}

const scratch = new HistogramSum();

export const mergedHistogram = (pieces: Iterable<Uint8Array>): Uint8Array => {
  scratch.clear();
  for (const bytes of pieces) scratch.add(bytes);
  return scratch.toBytes();
};

export const isHistogram = (bytes: Uint8Array): boolean => {
  try {
    scratch.clear().add(bytes);
    return true;
  } catch {
    return false;
  }
};
