const subBucketBits = 5;
const subBuckets = 1 << subBucketBits;
const bucketCount = (32 - subBucketBits + 1) * subBuckets;
const sumBytes = Float64Array.BYTES_PER_ELEMENT;

/** Size of a histogram in bytes, for shared memory. */
export const histogramBytes = sumBytes + bucketCount * Uint32Array.BYTES_PER_ELEMENT;

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
 * Histogram of integers from 0 to 2³²−1 with 32 buckets per octave: values read back are accurate to 1.6 %.
 * Merging is addition, so it is exact; quantiles are computed only from merged counts. Durations are in microseconds.
 */
export class Histogram {
  /** For code that merges encoded histograms itself. */
  static readonly bucketCount = bucketCount;
  /** The representative value of a bucket. */
  static readonly middleOf = middleOf;
  readonly buffer: ArrayBufferLike;
  readonly #sum: Float64Array;
  readonly #counts: Uint32Array;

  constructor(buffer: ArrayBufferLike = new ArrayBuffer(histogramBytes)) {
    this.buffer = buffer;
    this.#sum = new Float64Array(buffer, 0, 1);
    this.#counts = new Uint32Array(buffer, sumBytes, bucketCount);
  }

  record(value: number): void {
    const whole = value > 0 ? (value < 4294967295 ? (value + 0.5) >>> 0 : 4294967295) : 0;
    const bucket = bucketOf(whole);
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum[0] = (this.#sum[0] as number) + whole;
  }

  merge(other: Histogram): this {
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
    const bucket = this.#counts.findIndex((count) => count > 0);
    return bucket < 0 ? Number.NaN : middleOf(bucket);
  }

  get max(): number {
    const bucket = this.#counts.findLastIndex((count) => count > 0);
    return bucket < 0 ? Number.NaN : middleOf(bucket);
  }

  /** The smallest recorded value that at least `fraction` (0..1) of all values do not exceed. */
  quantile(fraction: number): number {
    const wanted = Math.max(1, Math.ceil(fraction * this.count));
    let seen = 0;
    for (let i = 0; i < bucketCount; i++) {
      seen += this.#counts[i] as number;
      if (seen >= wanted) return middleOf(i);
    }
    return Number.NaN;
  }

  /** Sparse encoding as varints: the sum, then distance from the previous bucket and count of each non-empty bucket. */
  toBytes(): Uint8Array {
    const bytes: number[] = [];
    writeVarint(bytes, this.sum);
    let previous = -1;
    this.#counts.forEach((count, bucket) => {
      if (count === 0) return;
      writeVarint(bytes, bucket - previous - 1);
      writeVarint(bytes, count);
      previous = bucket;
    });
    return Uint8Array.from(bytes);
  }

  static fromBytes(bytes: Uint8Array): Histogram {
    const histogram = new Histogram();
    const reader = { bytes, at: 0 };
    histogram.#sum[0] = readVarint(reader);
    let bucket = -1;
    while (reader.at < bytes.length) {
      bucket += readVarint(reader) + 1;
      if (bucket >= bucketCount) throw new RangeError(`histogram bucket ${bucket} does not exist`);
      histogram.#counts[bucket] = readVarint(reader);
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
