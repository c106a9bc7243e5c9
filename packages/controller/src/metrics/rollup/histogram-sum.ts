import { Histogram } from '@rushhour/protocol';
import { ByteWriter } from '../ingest/byte-stream.ts';

const sharedWriter = new ByteWriter();
const minimumBucket = Histogram.bucketCount;
const maximumBucket = Histogram.bucketCount + 1;

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
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** Throws when the bytes are no histogram; what was added until then stays. */
  add(bytes: Uint8Array): this {
    // The innermost loop of everything that is read: numbers are decoded in place.
    const counts = this.#counts;
    let bucket = -1;
    let value = 0;
    let scale = 1;
    let isCount = false;
    let isSum = true;
    let first = -1;
    let last = -1;
    let min = -1;
    let max = -1;
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
      } else if (isCount && bucket >= minimumBucket) {
        if (bucket === minimumBucket) min = extremeOf(first, value);
        else max = extremeOf(last, value);
        isCount = false;
      } else if (isCount) {
        counts[bucket] = (counts[bucket] as number) + value;
        this.#count += value;
        isCount = false;
      } else {
        bucket += value + 1;
        if (bucket > maximumBucket) throw new RangeError(`histogram bucket ${bucket} does not exist`);
        if (bucket < minimumBucket) {
          if (first < 0) first = bucket;
          last = bucket;
        }
        isCount = true;
      }
      value = 0;
      scale = 1;
    }
    if (last >= 0) this.#widen([first, last], [min, max]);
    if (scale !== 1 || isCount || isSum) throw new RangeError('histogram bytes are cut off');
    if (!Number.isSafeInteger(this.#count)) throw new RangeError('histogram counts too much');
    return this;
  }

  /** Histograms of earlier versions have no extremes (-1): the middle of their bucket stands for them. */
  #widen([first, last]: readonly [number, number], [min, max]: readonly [number, number]): void {
    this.#first = Math.min(this.#first, first);
    this.#last = Math.max(this.#last, last);
    this.#min = Math.min(this.#min, min < 0 ? Math.floor(Histogram.middleOf(first)) : min);
    this.#max = Math.max(this.#max, max < 0 ? Math.floor(Histogram.middleOf(last)) : max);
  }

  addAll(other: HistogramSum): this {
    for (let bucket = other.#first; bucket <= other.#last; bucket += 1) {
      this.#counts[bucket] = (this.#counts[bucket] as number) + (other.#counts[bucket] as number);
    }
    this.#sum += other.#sum;
    this.#count += other.#count;
    this.#first = Math.min(this.#first, other.#first);
    this.#last = Math.max(this.#last, other.#last);
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
    return this;
  }

  clear(): this {
    if (this.#last >= 0) this.#counts.fill(0, this.#first, this.#last + 1);
    this.#sum = 0;
    this.#count = 0;
    this.#first = Histogram.bucketCount;
    this.#last = -1;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
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
    return this.#count === 0 ? Number.NaN : this.#min;
  }

  get max(): number {
    return this.#count === 0 ? Number.NaN : this.#max;
  }

  /** The smallest value that at least `fraction` (0..1) of all values do not exceed. */
  quantile(fraction: number): number {
    const wanted = Math.max(1, Math.ceil(fraction * this.#count));
    let seen = 0;
    for (let bucket = this.#first; bucket <= this.#last; bucket += 1) {
      seen += this.#counts[bucket] as number;
      if (seen >= wanted) return Math.min(this.#max, Math.max(this.#min, Histogram.middleOf(bucket)));
    }
    return Number.NaN;
  }

  /** Counts of so many buckets together, without those that are empty. */
  countsBy(size: number): number[] {
    const counts: number[] = [];
    for (let bucket = this.#first; bucket <= this.#last; bucket += 1) {
      const count = this.#counts[bucket] as number;
      const band = Math.floor(bucket / size);
      if (count > 0) counts[band] = (counts[band] ?? 0) + count;
    }
    return counts;
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
    if (this.#last >= 0) {
      writer.varint(minimumBucket - previous - 1);
      writer.varint(this.#min - Histogram.lowestOf(this.#first));
      writer.varint(0);
      writer.varint(this.#max - Histogram.lowestOf(this.#last));
    }
    return writer.toBytes();
  }
}

/** A minimum or maximum from its bucket and the distance from the lowest value there. */
const extremeOf = (bucket: number, distance: number): number => {
  const extreme = bucket < 0 ? Number.NaN : Histogram.lowestOf(bucket) + distance;
  if (!(extreme < Histogram.lowestOf(bucket + 1)))
    throw new RangeError('histogram extremes are outside of its buckets');
  return extreme;
};

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
