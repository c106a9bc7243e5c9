import type { IpVersion } from './address.ts';
import { createDigitSet, type DigitRun, type DigitSet, intersectDigitSets } from './digit-set.ts';

/** A total order over some addresses: `at(rank(value))` is the first of them that is ≥ value. */
export interface AddressOrder {
  rank(value: bigint): bigint;
  at(rank: bigint): bigint;
}

/** The product of one digit set per octet or hextet, ordered by address. Never expanded. */
export interface AddressPattern extends AddressOrder {
  readonly version: IpVersion;
  readonly digits: readonly DigitSet[];
}

/** Without a pattern every address is its own rank. */
export const everyAddress: AddressOrder = { rank: (value) => value, at: (rank) => rank };

const radixOf = { 4: 10, 6: 16 } as const;
const digitBitsOf = { 4: 8n, 6: 16n } as const;

/**
 * Octets separated by dots, or hextets by colons (one `::` stands for zeros). Each is `*` or a comma list of `n` and
 * `a-b`; `*` and `a-b` take a step, `/n`. Everything between two colons is hexadecimal, steps too.
 * `10.0.*.1-50`, `10.0.1,3.0-254/2`, `2001:db8::*:1`.
 */
export function findPattern(text: string): AddressPattern | undefined {
  const version: IpVersion = text.includes(':') ? 6 : 4;
  const parts = version === 4 ? text.trim().split('.') : findHextets(text.trim());
  if (parts?.length !== (version === 4 ? 4 : 8)) return undefined;
  const digits: DigitSet[] = [];
  for (const part of parts) {
    const runs = part.split(',').map((item) => findRun(item.trim(), version));
    if (!runs.every((run) => run !== undefined)) return undefined;
    digits.push(createDigitSet(runs));
  }
  return createPattern(version, digits);
}

export function intersectPatterns(a: AddressPattern, b: AddressPattern): AddressPattern {
  const digits = a.digits.map((digit, i) => intersectDigitSets(digit, b.digits[i] as DigitSet));
  return createPattern(a.version, digits);
}

function createPattern(version: IpVersion, digits: readonly DigitSet[]): AddressPattern {
  const bits = digitBitsOf[version];
  const mask = (1n << bits) - 1n;
  const sizes = digits.map((digit) => BigInt(digit.size));
  const total = sizes.reduce((product, size) => product * size, 1n);
  const rank = (value: bigint): bigint => {
    if (value >= 1n << (bits * BigInt(digits.length))) return total;
    let found = 0n;
    let weight = total;
    if (total === 0n) return 0n;
    for (let i = 0; i < digits.length; i++) {
      const digit = digits[i] as DigitSet;
      const wanted = Number((value >> (bits * BigInt(digits.length - 1 - i))) & mask);
      weight /= sizes[i] as bigint;
      found += BigInt(digit.rank(wanted)) * weight;
      if (!digit.has(wanted)) break;
    }
    return found;
  };
  const at = (rank: bigint): bigint => {
    let value = 0n;
    let rest = rank;
    for (let i = digits.length - 1, shift = 0n; i >= 0; i--, shift += bits) {
      const size = sizes[i] as bigint;
      value |= BigInt((digits[i] as DigitSet).at(Number(rest % size))) << shift;
      rest /= size;
    }
    return value;
  };
  return { version, digits, rank, at };
}

function findHextets(text: string): string[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  if (halves.length === 1) return head;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? undefined : [...head, ...new Array<string>(missing).fill('0'), ...tail];
}

function findRun(text: string, version: IpVersion): DigitRun | undefined {
  const [span = '', stepText, ...more] = text.split('/');
  const highest = version === 4 ? 255 : 0xffff;
  const [firstText = '', lastText = firstText, ...others] =
    span === '*' ? ['0', highest.toString(radixOf[version])] : span.split('-');
  if (more.length > 0 || others.length > 0) return undefined;
  const first = findDigit(firstText.trim(), version);
  const last = findDigit(lastText.trim(), version);
  const step = stepText === undefined ? 1 : findDigit(stepText.trim(), version);
  if (first === undefined || last === undefined || !step || first > last || last > highest) return undefined;
  return { first, last: last - ((last - first) % step), step };
}

function findDigit(text: string, version: IpVersion): number | undefined {
  const isDigit = version === 4 ? /^(?:0|[1-9]\d{0,2})$/ : /^[0-9a-f]{1,4}$/i;
  return isDigit.test(text) ? Number.parseInt(text, radixOf[version]) : undefined;
}
