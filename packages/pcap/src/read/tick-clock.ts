const TWO_32 = 2 ** 32;
// Long division below works on 16-bit limbs and stays exact while ticks × 65536 < 2^53.
const EXACT_TICKS = 2 ** 37;

/** Turns 64-bit pcapng ticks into seconds and nanoseconds without a BigInt for every packet. */
export class TickClock {
  seconds = 0;
  nanoseconds = 0;
  readonly #ticksPerSecond: bigint;
  readonly #offsetSeconds: number;
  readonly #isExact: boolean;
  readonly #ticks: number;

  /** @param resolution the if_tsresol byte: 10^-n, or 2^-n with the top bit set */
  constructor(resolution: number, offsetSeconds: number) {
    const exponent = BigInt(resolution & 0x7f);
    this.#ticksPerSecond = (resolution & 0x80) === 0 ? 10n ** exponent : 2n ** exponent;
    this.#offsetSeconds = offsetSeconds;
    this.#isExact = this.#ticksPerSecond <= BigInt(EXACT_TICKS);
    this.#ticks = Number(this.#ticksPerSecond);
  }

  set(high: number, low: number): void {
    if (this.#isExact) this.#divide(high, low);
    else this.#divideBig(high, low);
    this.seconds += this.#offsetSeconds;
  }

  #divide(high: number, low: number): void {
    const ticks = this.#ticks;
    const upper = (high % ticks) * 65536 + (low >>> 16);
    const lower = (upper % ticks) * 65536 + (low & 0xffff);
    this.seconds = Math.floor(high / ticks) * TWO_32 + Math.floor(upper / ticks) * 65536 + Math.floor(lower / ticks);
    this.nanoseconds = nanosecondsOf(lower % ticks, ticks);
  }

  #divideBig(high: number, low: number): void {
    const ticks = BigInt(high) * BigInt(TWO_32) + BigInt(low);
    this.seconds = Number(ticks / this.#ticksPerSecond);
    this.nanoseconds = Number(((ticks % this.#ticksPerSecond) * 1_000_000_000n) / this.#ticksPerSecond);
  }
}

/** Decimal resolutions divide exactly either way; binary ones may be off by the last nanosecond. */
function nanosecondsOf(rest: number, ticksPerSecond: number): number {
  if (1e9 % ticksPerSecond === 0) return rest * (1e9 / ticksPerSecond);
  if (ticksPerSecond % 1e9 === 0) return Math.floor(rest / (ticksPerSecond / 1e9));
  return Math.floor((rest / ticksPerSecond) * 1e9);
}
