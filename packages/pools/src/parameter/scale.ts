import { findAddress, formatAddress, type IpVersion } from '../addresses/address.ts';
import { findMac, formatMac, macLimit } from '../macs/mac.ts';

/** A type's values as whole numbers, so that they can be counted and drawn from a range. */
export interface Scale {
  find(text: string): bigint | undefined;
  print(value: bigint): string;
  /** Bounds of the type itself. */
  readonly lowest?: bigint;
  readonly highest?: bigint;
}

/** `sample` (start or min) sets the spelling: "007" keeps three digits, an ISO time stays one. */
export function scaleOf(type: string, sample: string): Scale {
  const bits = /^u(8|16|32)/.exec(type)?.[1];
  if (bits !== undefined) return { ...decimalScale(''), lowest: 0n, highest: (1n << BigInt(bits)) - 1n };
  if (type === 'ipv4') return addressScale(4);
  if (type === 'ipv6') return addressScale(6);
  if (type === 'mac') return macScale;
  if (type === 'hex') return hexScale(sample.length);
  if (type === 'uuid') return uuidScale;
  if (type === 'timestamp') return timestampScale(sample);
  return decimalScale(sample);
}

function decimalScale(sample: string): Scale {
  const width = /^0\d+$/.test(sample) ? sample.length : 0;
  return {
    find: (text) => (/^-?\d{1,40}$/.test(text.trim()) ? BigInt(text.trim()) : undefined),
    print: (value) => String(value).padStart(width, '0'),
  };
}

function addressScale(version: IpVersion): Scale {
  return {
    find: (text) => {
      const address = findAddress(text.trim());
      return address?.version === version ? address.value : undefined;
    },
    print: (value) => formatAddress(version, value),
    lowest: 0n,
    highest: (1n << (version === 4 ? 32n : 128n)) - 1n,
  };
}

const macScale: Scale = {
  find: (text) => {
    const mac = findMac(text);
    return mac === undefined ? undefined : BigInt(mac);
  },
  print: (value) => formatMac(Number(value)),
  lowest: 0n,
  highest: BigInt(macLimit) - 1n,
};

function hexScale(width: number): Scale {
  return {
    find: (text) => (/^[0-9a-f]{1,128}$/i.test(text) ? BigInt(`0x${text}`) : undefined),
    print: (value) => {
      const digits = value.toString(16).padStart(width, '0');
      return digits.length % 2 === 0 ? digits : `0${digits}`;
    },
    lowest: 0n,
  };
}

const uuidScale: Scale = {
  find: (text) => {
    const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
    return isUuid ? BigInt(`0x${text.replaceAll('-', '')}`) : undefined;
  },
  print: (value) =>
    value
      .toString(16)
      .padStart(32, '0')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  lowest: 0n,
  highest: (1n << 128n) - 1n,
};

/** Seconds since 1970, spelled as digits or as RFC 3339. */
function timestampScale(sample: string): Scale {
  const isText = sample.includes('-');
  return {
    find: (text) => {
      if (/^\d{1,12}$/.test(text.trim())) return BigInt(text.trim());
      const epochMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
      return Number.isNaN(epochMs) ? undefined : BigInt(Math.floor(epochMs / 1000));
    },
    print: (value) => (isText ? new Date(Number(value) * 1000).toISOString() : String(value)),
    lowest: 0n,
    highest: 253_402_300_799n,
  };
}
