import { copyOf, hexOfBytes } from '../../../bytes/memory.ts';
import { formatMac } from '../../../ethernet/ethernet.ts';
import { textOfAddress } from '../../address-bytes.ts';
import type { MessageWriter } from '../../message-writer.ts';
import { distinguisherBytes, distinguisherText } from '../route-distinguisher.ts';

export const evpnType = { autoDiscovery: 1, macIp: 2, inclusiveMulticast: 3, segment: 4, prefix: 5 } as const;

export const esiBytes = 10;
/** The Ethernet tag of an auto-discovery route of a whole segment. */
export const everyTag = 0xffffffff;
const macBits = 48;

interface Common {
  /** Route distinguisher, 8 bytes. */
  readonly distinguisher: Uint8Array;
}

interface OnSegment extends Common {
  /** 10 bytes; all zero: not on a segment of several routers. */
  readonly esi: Uint8Array;
}

/** Routes of RFC 7432, section 7, and RFC 9136. Addresses have 4 or 16 bytes, labels 24 bits as they are written. */
export type EvpnRoute =
  | (OnSegment & { readonly type: 1; readonly tag: number; readonly label: number })
  | (OnSegment & {
      readonly type: 2;
      readonly tag: number;
      readonly mac: Uint8Array;
      /** Empty: none. */
      readonly address: Uint8Array;
      /** One, or two with a label for routing. */
      readonly labels: readonly number[];
    })
  | (Common & { readonly type: 3; readonly tag: number; readonly address: Uint8Array })
  | (OnSegment & { readonly type: 4; readonly address: Uint8Array })
  | (OnSegment & {
      readonly type: 5;
      readonly tag: number;
      readonly bits: number;
      readonly prefix: Uint8Array;
      readonly gateway: Uint8Array;
      readonly label: number;
    });

type Writers = { readonly [T in EvpnRoute['type']]: (writer: MessageWriter, route: EvpnRoute & { type: T }) => void };

const writers: Writers = {
  1: (writer, { esi, tag, label }) => writer.copy(esi).u32(tag).u24(label),
  2: (writer, { esi, tag, mac, address, labels }) => {
    writer.copy(esi).u32(tag).u8(macBits).copy(mac);
    writer.u8(address.length * 8).copy(address);
    for (const label of labels) writer.u24(label);
  },
  3: (writer, { tag, address }) =>
    writer
      .u32(tag)
      .u8(address.length * 8)
      .copy(address),
  4: (writer, { esi, address }) =>
    writer
      .copy(esi)
      .u8(address.length * 8)
      .copy(address),
  5: (writer, { esi, tag, bits, prefix, gateway, label }) =>
    writer.copy(esi).u32(tag).u8(bits).copy(prefix).copy(gateway).u24(label),
};

/** Writes a route with its type and its length. */
export const writeEvpnRoute = (writer: MessageWriter, route: EvpnRoute): void => {
  const start = writer.length;
  writer.u8(route.type).u8(0).copy(route.distinguisher);
  (writers[route.type] as (writer: MessageWriter, route: EvpnRoute) => void)(writer, route);
  writer.bytes[start + 1] = writer.length - start - 2;
};

/** Walks over the body of a route. */
class BodyReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  take(count: number): Uint8Array {
    if (count > this.left) throw new RangeError('a route is too short');
    this.#at += count;
    return copyOf(this.#bytes, this.#at - count, this.#at);
  }

  number(count: number): number {
    return this.take(count).reduce((value, byte) => value * 256 + byte, 0);
  }

  /** An address behind its length in bits. */
  address(lengths: readonly number[]): Uint8Array {
    const bits = this.number(1);
    if (!lengths.includes(bits)) throw new RangeError('an address has a wrong length');
    return this.take(bits / 8);
  }
}

const versions = [32, 128];

type Readers = { readonly [T in EvpnRoute['type']]: (reader: BodyReader, common: Common) => EvpnRoute & { type: T } };

const readMacIp = (reader: BodyReader, common: Common): EvpnRoute & { type: 2 } => {
  const esi = reader.take(esiBytes);
  const tag = reader.number(4);
  if (reader.number(1) !== macBits) throw new RangeError('a MAC address has a wrong length');
  const mac = reader.take(macBits / 8);
  const address = reader.address([0, ...versions]);
  const labels = reader.left === 6 ? [reader.number(3), reader.number(3)] : [reader.number(3)];
  return { type: 2, ...common, esi, tag, mac, address, labels };
};

const readPrefix = (reader: BodyReader, common: Common): EvpnRoute & { type: 5 } => {
  const esi = reader.take(esiBytes);
  const tag = reader.number(4);
  const bits = reader.number(1);
  const size = reader.left === 2 * 4 + 3 ? 4 : 16;
  if (bits > size * 8) throw new RangeError('a prefix is too long');
  return {
    type: 5,
    ...common,
    esi,
    tag,
    bits,
    prefix: reader.take(size),
    gateway: reader.take(size),
    label: reader.number(3),
  };
};

const readers: Readers = {
  1: (reader, common) => ({
    type: 1,
    ...common,
    esi: reader.take(esiBytes),
    tag: reader.number(4),
    label: reader.number(3),
  }),
  2: readMacIp,
  3: (reader, common) => ({ type: 3, ...common, tag: reader.number(4), address: reader.address(versions) }),
  4: (reader, common) => ({ type: 4, ...common, esi: reader.take(esiBytes), address: reader.address(versions) }),
  5: readPrefix,
};

/** Reads the route [at, last), which starts with its type; undefined: of another type, or its lengths are wrong. */
export const findEvpnRoute = (bytes: Uint8Array, at: number, last: number): EvpnRoute | undefined => {
  const read = readers[bytes[at] as EvpnRoute['type']];
  if (read === undefined) return undefined;
  try {
    const reader = new BodyReader(bytes, at + 2, last);
    const route = read(reader, { distinguisher: reader.take(distinguisherBytes) });
    return reader.left === 0 ? route : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

const esiText = (esi: Uint8Array): string => hexOfBytes(esi).replaceAll(/(..)(?=.)/g, '$1:');

const partsOf = (route: EvpnRoute): readonly (string | number)[] => {
  switch (route.type) {
    case 1:
      return [route.tag, esiText(route.esi)];
    case 2: {
      const host = [route.tag, macBits, formatMac(route.mac)];
      return route.address.length === 0 ? host : [...host, route.address.length * 8, textOfAddress(route.address)];
    }
    case 3:
      return [route.tag, route.address.length * 8, textOfAddress(route.address)];
    case 4:
      return [esiText(route.esi), route.address.length * 8, textOfAddress(route.address)];
    case 5:
      return [route.tag, route.bits, textOfAddress(route.prefix)];
  }
};

/** What identifies a route, in the notation of routers: `65000:1 [2]:[0]:[48]:[02:00:5e:10:00:01]`. */
export const evpnRouteText = (bytes: Uint8Array, at: number, last: number): string => {
  const route = findEvpnRoute(bytes, at, last);
  if (route === undefined) return `type ${bytes[at]} ${hexOfBytes(bytes, at + 2, last)}`;
  const parts = [route.type, ...partsOf(route)].map((part) => `[${part}]`);
  return `${distinguisherText(route.distinguisher, 0)} ${parts.join(':')}`;
};

const tagAt = distinguisherBytes + esiBytes;
const shortPrefixBytes = 34;

/** Where the bytes that identify a route end, behind the Ethernet tag; from there on it may change. */
const identityEnds: Readonly<Record<number, (bytes: Uint8Array, body: number, last: number) => number>> = {
  [evpnType.macIp]: (bytes, body) => body + tagAt + 12 + (((bytes[body + tagAt + 11] ?? 0) + 7) >> 3),
  [evpnType.prefix]: (_bytes, body, last) => body + tagAt + 5 + (last - body === shortPrefixBytes ? 4 : 16),
};

/** A key of the route [at, last): without labels and gateway, and without the segment where hosts may change it. */
export const evpnIdentity = (bytes: Uint8Array, at: number, last: number): string => {
  const body = at + 2;
  const type = bytes[at] as number;
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, Math.min(to, last)));
  if (type === evpnType.autoDiscovery) return `${type} ${text(body, body + tagAt + 4)}`;
  const end = identityEnds[type]?.(bytes, body, last);
  if (end === undefined || end > last) return `${type} ${text(body, last)}`;
  return `${type} ${text(body, body + distinguisherBytes)}${text(body + tagAt, end)}`;
};
