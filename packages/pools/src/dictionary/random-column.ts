import { findAddress, formatAddress, type IpVersion } from '../addresses/address.ts';
import { findMac, formatMac, localSpace } from '../macs/mac.ts';
import { findAlphabet } from './alphabet.ts';
import { findFormat, formatDirectives } from './format.ts';
import { findInteger } from './range-column.ts';
import type { Section } from './section.ts';
import { digitsOf, type Sequence } from './sequence.ts';

type Reader = (section: Section) => Sequence | undefined;

const readers: Readonly<Record<string, Reader>> = {
  integer: readIntegers,
  float: readFloats,
  string: (section) => readTexts(section, section.text('charset') ?? 'alnum'),
  hex: (section) => readTexts(section, 'hex'),
  bytes: readBytes,
  uuid: () => ({ size: 2n ** 122n, at: formatUuid }),
  ipv4: (section) => readAddresses(section, 4),
  ipv6: (section) => readAddresses(section, 6),
  mac: readMacs,
};

/**
 * All values of a random column as a numbered sequence: a random draw is a random number, and a draw without
 * repetition a permutation of the numbers.
 */
export function readRandomColumn(section: Section): Sequence | undefined {
  const kind = section.choice('kind', Object.keys(readers));
  if (kind === undefined) {
    if (section.raw('kind') === undefined) section.error('kind', 'KIND_MISSING', 'a random column needs a kind');
    return undefined;
  }
  return readers[kind]?.(section);
}

/** 0 … 2147483647 without `min` and `max`. */
function readIntegers(section: Section): Sequence | undefined {
  const formatText = section.text('format') ?? '%d';
  const format = findFormat(formatText, formatDirectives.integer);
  if (format === undefined) section.error('format', 'FORMAT_INVALID', `"${formatText}" does not print an integer`);
  const bounds = readBounds(section, { find: findInteger, min: 0n, max: 2_147_483_647n });
  if (bounds === undefined || format === undefined) return undefined;
  return { size: bounds.max - bounds.min + 1n, at: (index) => format(bounds.min + index) };
}

/** From `min` (0) up to, but without, `max` (1), in 2^53 steps. */
function readFloats(section: Section): Sequence | undefined {
  const [min, max] = [Number(section.text('min') ?? 0), Number(section.text('max') ?? 1)];
  const formatText = section.text('format') ?? '%s';
  const format = findFormat(formatText, formatDirectives.float);
  if (format === undefined) return section.error('format', 'FORMAT_INVALID', `"${formatText}" does not print a float`);
  if (!Number.isFinite(min) || !Number.isFinite(max) || min > max) {
    return section.error('max', 'RANGE_BOUND', 'min and max must be numbers, min not above max');
  }
  return { size: 2n ** 53n, at: (index) => format(min + (Number(index) / 2 ** 53) * (max - min)) };
}

function readTexts(section: Section, charset: string): Sequence | undefined {
  const length = section.integer('length', 1, 8192) ?? 16;
  const alphabet = findAlphabet(charset);
  if (alphabet === undefined) return section.error('charset', 'CHARSET_INVALID', `"${charset}" holds no characters`);
  return {
    size: BigInt(alphabet.length) ** BigInt(length),
    at: (index) =>
      digitsOf(index, alphabet.length, length)
        .map((digit) => alphabet[digit])
        .join(''),
  };
}

/** One character, U+0000 to U+00FF, per byte: `encode` and the sender take it as latin1. */
function readBytes(section: Section): Sequence | undefined {
  const length = section.integer('length', 1, 8192) ?? 16;
  return {
    size: 256n ** BigInt(length),
    at: (index) =>
      digitsOf(index, 256, length)
        .map((byte) => String.fromCharCode(byte))
        .join(''),
  };
}

/** A unicast address without `min` and `max`. */
function readAddresses(section: Section, version: IpVersion): Sequence | undefined {
  const find = (text: string): bigint | undefined => {
    const address = findAddress(text.trim());
    return address?.version === version ? address.value : undefined;
  };
  const unicast = version === 4 ? { min: 1n << 24n, max: 0xdfffffffn } : { min: 1n << 125n, max: (1n << 126n) - 1n };
  const bounds = readBounds(section, { find, ...unicast });
  if (bounds === undefined) return undefined;
  return { size: bounds.max - bounds.min + 1n, at: (index) => formatAddress(version, bounds.min + index) };
}

/** Locally administered unicast without `min` and `max`. */
function readMacs(section: Section): Sequence | undefined {
  if (section.raw('min') === undefined && section.raw('max') === undefined) {
    return { size: localSpace.size, at: (index) => formatMac(localSpace.at(Number(index))) };
  }
  const find = (text: string): bigint | undefined => {
    const mac = findMac(text);
    return mac === undefined ? undefined : BigInt(mac);
  };
  const bounds = readBounds(section, { find, min: 0n, max: 2n ** 48n - 1n });
  if (bounds === undefined) return undefined;
  return { size: bounds.max - bounds.min + 1n, at: (index) => formatMac(Number(bounds.min + index)) };
}

interface Bounds {
  readonly min: bigint;
  readonly max: bigint;
}

function readBounds(
  section: Section,
  fallback: Bounds & { find(text: string): bigint | undefined },
): Bounds | undefined {
  const read = (name: 'min' | 'max'): bigint | undefined => {
    const text = section.text(name);
    const value = text === undefined ? fallback[name] : fallback.find(text);
    return value ?? section.error(name, 'RANGE_BOUND', `${name} does not fit the kind`);
  };
  const [min, max] = [read('min'), read('max')];
  if (min === undefined || max === undefined) return undefined;
  return min <= max ? { min, max } : section.error('max', 'RANGE_REVERSED', 'max is below min');
}

/** The 122 free bits of a random (version 4) UUID. */
export function formatUuid(bits: bigint): string {
  const hex = bits.toString(16).padStart(31, '0');
  const variant = (8 + Number.parseInt(hex[0] ?? '0', 16)).toString(16);
  return `${hex.slice(1, 9)}-${hex.slice(9, 13)}-4${hex.slice(13, 16)}-${variant}${hex.slice(16, 19)}-${hex.slice(19)}`;
}
