import { copyOf } from '../../bytes/memory.ts';
import { writeMapped } from '../../ip/address.ts';
import { MessageWriter } from '../message-writer.ts';

export const ripPort = 520;
export const infinity = 16;
export const ripCommand = { request: 1, response: 2 } as const;
const headerBytes = 4;
const entryBytes = 20;
const maxEntries = 25;
const ipFamily = 2;
const authFamily = 0xffff;
const authType = { simple: 2, digest: 3 } as const;
const digestBytes = 16;

export interface RipEntry {
  /** Words of the address (see ip/address.ts). */
  readonly address: Int32Array;
  /** Bits of the prefix. */
  readonly length: number;
  readonly metric: number;
  readonly tag: number;
  /** Undefined: the sender. */
  readonly nextHop: Int32Array | undefined;
}

/** How packets prove who has sent them (RFC 2453, RFC 4822). */
export type RipAuthentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'simple'; readonly key: Uint8Array }
  /** `digest` of a packet, followed by the key. */
  | { readonly kind: 'digest'; readonly keyId: number; digest(packet: Uint8Array): Uint8Array };

export interface RipMessage {
  readonly command: number;
  readonly entries: readonly RipEntry[];
  /** A request for everything. */
  readonly isWhole: boolean;
}

/** Routes that fit 512 bytes beside what authenticates them. */
const entriesPerPacket = ({ kind }: RipAuthentication): number => maxEntries - { none: 0, simple: 1, digest: 2 }[kind];

export interface OutgoingRip {
  readonly command: number;
  /** None in a request: all that the other side has. */
  readonly entries: readonly RipEntry[];
  /** Of digests: only grows. */
  readonly sequence: number;
}

/** What a version of RIP puts into its packets. */
export interface RipFormat {
  /** Routes that fit one packet. */
  readonly entriesPerPacket: number;
  encode(message: OutgoingRip): Uint8Array;
  /** Reads a packet and checks who has sent it; a text says what is wrong. Entries that make no sense are left out. */
  parse(bytes: Uint8Array): RipMessage | string;
}

/** Versions 1 and 2 (RFC 1058, RFC 2453). */
export const ripFormat = (version: 1 | 2, authentication: RipAuthentication, networkLength: number): RipFormat => ({
  entriesPerPacket: entriesPerPacket(authentication),
  encode: (message) => encodeRip(message, version, authentication),
  parse: (bytes) => parseRip(bytes, authentication, maskOfLength(networkLength)),
});

const maskOfLength = (length: number): number => (length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0);

const encodeRip = (
  { command, entries, sequence }: OutgoingRip,
  version: 1 | 2,
  authentication: RipAuthentication,
): Uint8Array => {
  const writer = new MessageWriter(headerBytes + entryBytes * (maxEntries + 1));
  const isWhole = command === ripCommand.request && entries.length === 0;
  writer.u8(command).u8(version).u16(0);
  if (authentication.kind === 'simple') {
    writer.u16(authFamily).u16(authType.simple).copy(authentication.key);
    writer.zeros(digestBytes - authentication.key.length);
  } else if (authentication.kind === 'digest') {
    const length = headerBytes + entryBytes * (entries.length + (isWhole ? 2 : 1));
    writer.u16(authFamily).u16(authType.digest).u16(length).u8(authentication.keyId).u8(digestBytes);
    writer.u32(sequence).zeros(8);
  }
  if (isWhole) writer.zeros(entryBytes - 4).u32(infinity);
  for (const { address, length, metric, tag, nextHop } of entries) {
    const isV2 = version === 2;
    writer
      .u16(ipFamily)
      .u16(isV2 ? tag : 0)
      .u32(address[3] as number);
    writer
      .u32(isV2 ? maskOfLength(length) : 0)
      .u32((isV2 && nextHop?.[3]) || 0)
      .u32(metric);
  }
  if (authentication.kind === 'digest') {
    writer.u16(authFamily).u16(1);
    writer.copy(authentication.digest(writer.take()));
  }
  return writer.take();
};

/** The mask of an address by its class, as of version 1. */
const classMask = (address: number): number =>
  address >>> 31 === 0 ? 0xff000000 : address >>> 30 === 2 ? 0xffff0000 : 0xffffff00;

const isMask = (mask: number): boolean => {
  const inverse = ~mask >>> 0;
  return (inverse & (inverse + 1)) === 0;
};

const parseRip = (bytes: Uint8Array, authentication: RipAuthentication, interfaceMask: number): RipMessage | string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < headerBytes || (bytes.length - headerBytes) % entryBytes !== 0) return 'length makes no sense';
  const [command, version] = [view.getUint8(0), view.getUint8(1)];
  if (version < 1 || version > 2) return `version ${version} is unknown`;
  if (command !== ripCommand.request && command !== ripCommand.response) return 'command is unknown';
  const end = authenticate(bytes, view, version === 1 ? { kind: 'none' } : authentication);
  if (typeof end === 'string') return end;
  if (version === 1 && authentication.kind !== 'none') return 'authentication is missing';
  return { command, ...entriesOf(view, { end, command, version, interfaceMask }) };
};

interface Content {
  readonly end: number;
  readonly command: number;
  readonly version: number;
  readonly interfaceMask: number;
}

const mappedWords = (address: number): Int32Array => {
  const words = new Int32Array(4);
  writeMapped(words, 0, address);
  return words;
};

const entriesOf = (view: DataView, { end, command, version, interfaceMask }: Content) => {
  const entries: RipEntry[] = [];
  let isWhole = false;
  for (let at = headerBytes; at < end; at += entryBytes) {
    const family = view.getUint16(at);
    const metric = view.getUint32(at + 16);
    if (family === 0 && command === ripCommand.request && metric === infinity) isWhole = true;
    if (family !== ipFamily || metric < 1 || metric > infinity) continue;
    const address = view.getUint32(at + 4);
    const mask = version === 2 ? view.getUint32(at + 8) : maskOf(address, interfaceMask);
    if (!isMask(mask) || (address & ~mask) !== 0 || address >>> 28 >= 14) continue;
    const [tag, nextHop] = version === 2 ? [view.getUint16(at + 2), view.getUint32(at + 12)] : [0, 0];
    const hop = nextHop === 0 ? undefined : mappedWords(nextHop);
    entries.push({ address: mappedWords(address), length: Math.clz32(~mask), metric, tag, nextHop: hop });
  }
  return { entries, isWhole };
};

/** Version 1 has no masks: that of the class, of the interface where it fits, or of a host. */
const maskOf = (address: number, interfaceMask: number): number => {
  if (address === 0) return 0;
  const byClass = classMask(address) >>> 0;
  if ((address & ~byClass) === 0) return byClass;
  return (address & ~interfaceMask) === 0 ? interfaceMask : 0xffffffff;
};

/** Where the routes end; a text if the packet does not prove its sender. */
const authenticate = (bytes: Uint8Array, view: DataView, authentication: RipAuthentication): number | string => {
  const has = bytes.length >= headerBytes + entryBytes && view.getUint16(headerBytes) === authFamily;
  if (authentication.kind === 'none') {
    if (has) return 'authentication is not expected';
    return bytes.length;
  }
  const type = has ? view.getUint16(headerBytes + 2) : 0;
  if (type !== authType[authentication.kind]) return 'authentication is missing';
  const given = bytes.subarray(headerBytes + 4, headerBytes + entryBytes);
  if (authentication.kind === 'simple') {
    if (given.some((byte, index) => byte !== (authentication.key[index] ?? 0))) return 'password is wrong';
    return bytes.length;
  }
  const end = view.getUint16(headerBytes + 4);
  if (end !== bytes.length - entryBytes || view.getUint8(headerBytes + 6) !== authentication.keyId)
    return 'key is unknown';
  const digest = authentication.digest(copyOf(bytes, 0, end + 4));
  if (digest.some((byte, index) => byte !== bytes[end + 4 + index])) return 'digest is wrong';
  return end;
};
