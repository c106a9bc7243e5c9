const subBucketBits = 5;
const subBuckets = 1 << subBucketBits;
const bucketCount = (32 - subBucketBits + 1) * subBuckets;
const sumBytes = Float64Array.BYTES_PER_ELEMENT;
const countBytes = bucketCount * Uint32Array.BYTES_PER_ELEMENT;
const maxValue = 4294967295;

// Extremes: which of two pairs is written at present, then both pairs. The minimum is stored as its distance from the
// largest value, so that zeroed memory holds no extremes.
const extremeWords = 6;
const pairAt = (pair: number): number => 2 + pair * 2;

/** Encoded behind all buckets: minimum and maximum, as distances from the lowest value of their buckets. */
const minimumBucket = bucketCount;
const maximumBucket = bucketCount + 1;

/** Size of a histogram in bytes, for shared memory. */
export const histogramBytes = sumBytes + countBytes + extremeWords * Uint32Array.BYTES_PER_ELEMENT;

const bucketOf = (value: number): number => {
  if (value < subBuckets) return value;
  const exponent = 31 - Math.clz32(value);
  return (exponent - subBucketBits + 1) * subBuckets + ((value >>> (exponent - subBucketBits)) & (subBuckets - 1));
};

const lowestOf = (bucket: number): number => {
  if (bucket < subBuckets) return bucket;
  const exponent = Math.floor(bucket / subBuckets) - 1 + subBucketBits;
  return 2 ** exponent + (bucket % subBuckets) * 2 ** (exponent - subBucketBits);
};

const middleOf = (bucket: number): number => {
  if (bucket < subBuckets) return bucket;
  return (lowestOf(bucket) + lowestOf(bucket + 1)) / 2;
};

/**
 * Histogram of integers from 0 to 2³²−1 with 32 buckets per octave: quantiles are accurate to 1.6 %,
 * minimum and maximum are exact. Merging is addition, so it is exact; quantiles are computed only from merged counts.
 * Durations are in microseconds.
 */
export class Histogram {
  /** For code that merges encoded histograms itself. */
  static readonly bucketCount = bucketCount;
  /** The representative value of a bucket. */
  static readonly middleOf = middleOf;
  static readonly lowestOf = lowestOf;
  readonly buffer: ArrayBufferLike;
  readonly #sum: Float64Array;
  readonly #counts: Uint32Array;
  readonly #extremes: Uint32Array;

  constructor(buffer: ArrayBufferLike = new ArrayBuffer(histogramBytes)) {
    this.buffer = buffer;
    this.#sum = new Float64Array(buffer, 0, 1);
    this.#counts = new Uint32Array(buffer, sumBytes, bucketCount);
    this.#extremes = new Uint32Array(buffer, sumBytes + countBytes, extremeWords);
  }

  record(value: number): void {
    const whole = value > 0 ? (value < maxValue ? (value + 0.5) >>> 0 : maxValue) : 0;
    const bucket = bucketOf(whole);
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum[0] = (this.#sum[0] as number) + whole;
    this.#widen(whole, whole);
  }

  merge(other: Histogram): this {
    const [min, max] = [other.min, other.max];
    if (!this.#hasExtremes && this.count > 0) this.#widen(Math.floor(this.min), Math.floor(this.max));
    if (!Number.isNaN(min)) this.#widen(Math.floor(min), Math.floor(max));
    for (let i = 0; i < bucketCount; i++) {
      this.#counts[i] = (this.#counts[i] as number) + (other.#counts[i] as number);
    }
    this.#sum[0] = (this.#sum[0] as number) + (other.#sum[0] as number);
    return this;
  }

  /** The values recorded since `earlier` was copied from this histogram. */
  since(earlier: Histogram): Histogram {
    const difference = new Histogram();
    for (let i = 0; i < bucketCount; i++) {
      difference.#counts[i] = (this.#counts[i] as number) - (earlier.#counts[i] as number);
    }
    difference.#sum[0] = (this.#sum[0] as number) - (earlier.#sum[0] as number);
    return difference;
  }

  /**
   * The values recorded since the last call, given the copy it returned. For one reader only, which may be on another
   * thread than the writer: minimum and maximum start over.
   */
  takeSince(earlier: Histogram): { readonly now: Histogram; readonly values: Histogram } {
    const extremes = this.#extremes;
    const pair = extremes[0] as number;
    extremes[0] = 1 - pair;
    const now = this.copy();
    const values = now.since(earlier);
    const at = pairAt(pair);
    const [min, max] = [maxValue - (extremes[at] as number), extremes[at + 1] as number];
    extremes.fill(0, at, at + 2);
    const first = values.#counts.findIndex((count) => count > 0);
    const last = values.#counts.findLastIndex((count) => count > 0);
    // A value recorded at this very moment may be in the extremes and not yet in the counts, or the reverse.
    if (first >= 0 && bucketOf(min) === first && bucketOf(max) === last) values.#widen(min, max);
    return { now, values };
  }

  copy(): Histogram {
    return new Histogram().merge(this);
  }

  get count(): number {
    let total = 0;
    for (const count of this.#counts) total += count;
    return total;
  }

  get sum(): number {
    return this.#sum[0] as number;
  }

  /** NaN while empty, like all statistics. */
  get avg(): number {
    return this.sum / this.count;
  }

  get min(): number {
    if (this.#hasExtremes) return maxValue - Math.max(this.#extremes[2] as number, this.#extremes[4] as number);
    const bucket = this.#counts.findIndex((count) => count > 0);
    return bucket < 0 ? Number.NaN : middleOf(bucket);
  }

  get max(): number {
    if (this.#hasExtremes) return Math.max(this.#extremes[3] as number, this.#extremes[5] as number);
    const bucket = this.#counts.findLastIndex((count) => count > 0);
    return bucket < 0 ? Number.NaN : middleOf(bucket);
  }

  /** The smallest recorded value that at least `fraction` (0..1) of all values do not exceed. */
  quantile(fraction: number): number {
    const wanted = Math.max(1, Math.ceil(fraction * this.count));
    let seen = 0;
    for (let i = 0; i < bucketCount; i++) {
      seen += this.#counts[i] as number;
      if (seen >= wanted) return Math.min(this.max, Math.max(this.min, middleOf(i)));
    }
    return Number.NaN;
  }

  get #hasExtremes(): boolean {
    const [, , min = 0, max = 0, otherMin = 0, otherMax = 0] = this.#extremes;
    return maxValue - min <= max || maxValue - otherMin <= otherMax;
  }

  #widen(min: number, max: number): void {
    const extremes = this.#extremes;
    const at = pairAt(extremes[0] as number);
    const distance = maxValue - min;
    if (distance > (extremes[at] as number)) extremes[at] = distance;
    if (max > (extremes[at + 1] as number)) extremes[at + 1] = max;
  }

  /**
   * Sparse encoding as varints: the sum, then distance from the previous bucket and count of each non-empty bucket, then
   * minimum and maximum like two more buckets.
   */
  toBytes(): Uint8Array {
    const bytes: number[] = [];
    writeVarint(bytes, this.sum);
    let previous = -1;
    let first: number | undefined;
    this.#counts.forEach((count, bucket) => {
      if (count === 0) return;
      writeVarint(bytes, bucket - previous - 1);
      writeVarint(bytes, count);
      first ??= bucket;
      previous = bucket;
    });
    if (first !== undefined && this.#hasExtremes) {
      writeVarint(bytes, minimumBucket - previous - 1);
      writeVarint(bytes, this.min - lowestOf(first));
      writeVarint(bytes, 0);
      writeVarint(bytes, this.max - lowestOf(previous));
    }
    return Uint8Array.from(bytes);
  }

  static fromBytes(bytes: Uint8Array): Histogram {
    const histogram = new Histogram();
    const reader = { bytes, at: 0 };
    histogram.#sum[0] = readVarint(reader);
    let bucket = -1;
    let minimum: number | undefined;
    while (reader.at < bytes.length) {
      bucket += readVarint(reader) + 1;
      if (bucket > maximumBucket) throw new RangeError(`histogram bucket ${bucket} does not exist`);
      const value = readVarint(reader);
      if (bucket < bucketCount) histogram.#counts[bucket] = value;
      else if (bucket === minimumBucket) minimum = lowestOf(histogram.#counts.findIndex((count) => count > 0)) + value;
      else if (minimum !== undefined) {
        const last = histogram.#counts.findLastIndex((count) => count > 0);
        histogram.#widen(minimum, lowestOf(last) + value);
      }
    }
    return histogram;
  }

  toBase64(): string {
    return btoa(String.fromCharCode(...this.toBytes()));
  }

  static fromBase64(text: string): Histogram {
    return Histogram.fromBytes(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  }
}

const writeVarint = (bytes: number[], value: number): void => {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
};

const readVarint = (reader: { bytes: Uint8Array; at: number }): number => {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined || scale > 2 ** 49) throw new RangeError('encoded histogram is truncated');
    value += (byte % 128) * scale;
    if (byte < 128) return value;
  }
};
