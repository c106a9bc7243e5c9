/** Small seeded generator (mulberry32), so that a failing case can be run again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to `limit` - 1. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}

const TELLING_BYTES = [0, 1, 4, 5, 0x0f, 0x11, 0x16, 0x2b, 0x2c, 0x45, 0x60, 0x7f, 0x80, 0x81, 0xc0, 0xfe, 0xff];

/** A copy of the capture with one to eight changes. */
export function mutate(capture: Uint8Array, random: Random): Uint8Array {
  let bytes: Uint8Array = capture.slice();
  const count = 1 + random.below(8);
  for (let change = 0; change < count && bytes.length > 0; change++) bytes = changed(bytes, random);
  return bytes;
}

function changed(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length);
  switch (random.below(8)) {
    case 0:
      return bytes.slice(0, at);
    case 1: {
      const end = Math.min(bytes.length, at + random.below(64));
      return joined(bytes.subarray(0, at), bytes.subarray(end));
    }
    case 2: {
      const end = Math.min(bytes.length, at + random.below(200));
      return joined(bytes.subarray(0, end), bytes.subarray(at));
    }
    case 3:
      bytes.fill(TELLING_BYTES[random.below(TELLING_BYTES.length)] as number, at, at + 1 + random.below(4));
      return bytes;
    case 4:
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
      return bytes;
    default:
      bytes[at] =
        random.below(3) === 0 ? random.below(256) : (TELLING_BYTES[random.below(TELLING_BYTES.length)] as number);
      return bytes;
  }
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const whole = new Uint8Array(left.length + right.length);
  whole.set(left);
  whole.set(right, left.length);
  return whole;
}
