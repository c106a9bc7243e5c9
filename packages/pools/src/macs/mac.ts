import { hexDigit, hexOfByte as hexOf } from '../values/hex.ts';

/** A MAC address is a plain number: 48 bits are exact, and arithmetic on it stays cheap. */
export type Mac = number;

export const macLimit = 2 ** 48;

/** Reads 02:1a:4c:00:00:01, 02-1A-4C-00-00-01, 021a.4c00.0001, 021a4c000001 and 2:1a:4c:0:0:1. */
export function findMac(text: string): Mac | undefined {
  const common = findCommonMac(text);
  if (common !== undefined) return common;
  const digits = findOctets(text);
  return digits?.length === 12 ? Number.parseInt(digits, 16) : undefined;
}

/** Six pairs of digits with the same separator, the most common spelling, read without a RegExp. */
function findCommonMac(text: string): Mac | undefined {
  const separator = text.charCodeAt(2);
  if (text.length !== 17 || (separator !== 0x3a && separator !== 0x2d)) return undefined;
  let mac = 0;
  for (let i = 0; i < 17; i += 3) {
    const high = hexDigit(text.charCodeAt(i));
    const low = hexDigit(text.charCodeAt(i + 1));
    if (high < 0 || low < 0 || (i < 15 && text.charCodeAt(i + 2) !== separator)) return undefined;
    mac = mac * 256 + high * 16 + low;
  }
  return mac;
}

export function parseMac(text: string): Mac {
  const mac = findMac(text);
  if (mac === undefined) throw new RangeError(`"${text}" is not a MAC address`);
  return mac;
}

/** Lower case, colons. */
export function formatMac(mac: Mac): string {
  const high = Math.floor(mac / 2 ** 32);
  const low = mac >>> 0;
  return `${hexOf[high >>> 8]}:${hexOf[high & 255]}:${hexOf[low >>> 24]}:${hexOf[(low >>> 16) & 255]}:${hexOf[(low >>> 8) & 255]}:${hexOf[low & 255]}`;
}

/** Any common spelling in the canonical one. */
export function normaliseMac(text: string): string {
  return formatMac(parseMac(text));
}

/** Includes broadcast. */
export function isMulticastMac(mac: Mac): boolean {
  return (Math.floor(mac / 2 ** 40) & 1) === 1;
}

export function isLocalMac(mac: Mac): boolean {
  return (Math.floor(mac / 2 ** 40) & 2) === 2;
}

/** Leading octets of a MAC: all addresses from `first` on whose remaining `freeBits` vary. */
export interface MacPrefix {
  readonly first: Mac;
  readonly freeBits: number;
}

/** One to five octets, in any spelling of a MAC: "02:1a:4c", "02-1A", "021a4c". */
export function findMacPrefix(text: string): MacPrefix | undefined {
  const digits = findOctets(text.trim().replace(/[:.-]$/, ''));
  if (digits === undefined || digits.length < 2 || digits.length > 10) return undefined;
  return { first: Number.parseInt(digits.padEnd(12, '0'), 16), freeBits: 48 - digits.length * 4 };
}

function findOctets(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  if (/^(?:[0-9a-f]{2}){1,6}$/.test(trimmed)) return trimmed;
  if (/^[0-9a-f]{4}(?:\.[0-9a-f]{4}){1,2}$/.test(trimmed)) return trimmed.replaceAll('.', '');
  if (!/^[0-9a-f]{1,2}(?:([:-])[0-9a-f]{1,2}(?:\1[0-9a-f]{1,2}){0,4})?$/.test(trimmed)) return undefined;
  return trimmed
    .split(/[:-]/)
    .map((octet) => octet.padStart(2, '0'))
    .join('');
}

/** A numbered space of MAC addresses. */
interface MacSpace {
  readonly size: bigint;
  at(position: number): Mac;
  find(mac: Mac): number | undefined;
}

/** Every locally administered unicast address: the two low bits of the first octet are fixed. */
export const localSpace: MacSpace = {
  size: 2n ** 46n,
  at: (position) => (Math.floor(position / 2 ** 40) * 4 + 2) * 2 ** 40 + (position % 2 ** 40),
  find: (mac) => {
    const octet = Math.floor(mac / 2 ** 40);
    return (octet & 3) === 2 ? (octet >> 2) * 2 ** 40 + (mac % 2 ** 40) : undefined;
  },
};

export function prefixSpace({ first, freeBits }: MacPrefix): MacSpace {
  return {
    size: 1n << BigInt(freeBits),
    at: (position) => first + position,
    find: (mac) => (mac >= first && mac < first + 2 ** freeBits ? mac - first : undefined),
  };
}
