import type { MessageWriter } from '../../message-writer.ts';
import type { AreaKind } from '../format.ts';
import { type LsaHeader, lsaHeaderOf } from '../lsa.ts';

/** Types with the bits of their scope (RFC 5340, section A.4.2.1). */
export const lsaType = {
  router: 0x2001,
  network: 0x2002,
  external: 0x4005,
  nssa: 0x2007,
  link: 0x0008,
  intraAreaPrefix: 0x2009,
} as const;
export const linkType = { pointToPoint: 1, transit: 2 } as const;
/** Bit of router LSAs: routes from outside are announced. */
export const asBoundary = 2;

const optionBits = { v6: 1, externals: 2, nssa: 8, router: 0x10 } as const;

/** Options of hellos, descriptions and LSAs. */
export const optionsOf = (kind: AreaKind): number =>
  optionBits.v6 |
  optionBits.router |
  (kind === 'normal' ? optionBits.externals : 0) |
  (kind === 'nssa' ? optionBits.nssa : 0);

/** Both sides of a link must say the same about these. */
export const areaOptions = optionBits.externals | optionBits.nssa;

export const readLsaHeader = (view: DataView, at: number): LsaHeader => lsaHeaderOf(view, at, view.getUint16(at + 2));

export const lsaOf = (type: number, id: number, router: number) => ({ type, typeField: type, id, router });

export interface RouterLink {
  readonly type: number;
  readonly metric: number;
  readonly interfaceId: number;
  readonly neighbourInterfaceId: number;
  readonly neighbour: number;
}

export const writeRouterBody =
  (flags: number, options: number, links: readonly RouterLink[]) => (writer: MessageWriter) => {
    writer.u8(flags).u24(options);
    for (const { type, metric, interfaceId, neighbourInterfaceId, neighbour } of links)
      writer.u8(type).u8(0).u16(metric).u32(interfaceId).u32(neighbourInterfaceId).u32(neighbour);
  };

export const writeNetworkBody = (options: number, routers: readonly number[]) => (writer: MessageWriter) => {
  writer.u32(options);
  for (const router of routers) writer.u32(router);
};

export interface Prefix {
  /** Words of the address (see ip/address.ts). */
  readonly words: Int32Array;
  readonly bits: number;
  /** An address of the router itself (bit LA). */
  readonly isOwn?: boolean;
}

const wordsOf = (bits: number): number => (bits + 31) >> 5;

const writeWords = (writer: MessageWriter, { words, bits }: Prefix): void => {
  for (let word = 0; word < wordsOf(bits); word++) writer.u32(words[word] as number);
};

interface LinkBody {
  readonly priority: number;
  readonly options: number;
  readonly linkLocal: Int32Array;
  readonly prefixes: readonly Prefix[];
}

export const writeLinkBody =
  ({ priority, options, linkLocal, prefixes }: LinkBody) =>
  (writer: MessageWriter) => {
    writer.u8(priority).u24(options);
    for (const word of linkLocal) writer.u32(word);
    writer.u32(prefixes.length);
    for (const prefix of prefixes) {
      writer.u8(prefix.bits).u8(0).u16(0);
      writeWords(writer, prefix);
    }
  };

/** Prefixes of a link LSA with its header; those that do not fit end the list. */
export const readLinkPrefixes = (lsa: Uint8Array): Prefix[] => {
  const view = new DataView(lsa.buffer, lsa.byteOffset, lsa.byteLength);
  const start = 20 + 24;
  if (lsa.length < start) return [];
  const prefixes: Prefix[] = [];
  let at = start;
  for (let left = view.getUint32(start - 4); left > 0 && at + 4 <= lsa.length; left--) {
    const bits = view.getUint8(at);
    const count = wordsOf(bits);
    if (bits > 128 || at + 4 + count * 4 > lsa.length) break;
    const words = new Int32Array(4);
    for (let word = 0; word < count; word++) words[word] = view.getInt32(at + 4 + word * 4);
    prefixes.push({ words, bits });
    at += 4 + count * 4;
  }
  return prefixes;
};

/** Prefixes of a router or network, which `to` refers to. */
export const writePrefixesBody =
  (
    to: { readonly type: number; readonly id: number; readonly router: number },
    metric: number,
    prefixes: readonly Prefix[],
  ) =>
  (writer: MessageWriter) => {
    writer.u16(prefixes.length).u16(to.type).u32(to.id).u32(to.router);
    for (const prefix of prefixes) {
      writer
        .u8(prefix.bits)
        .u8(prefix.isOwn === true ? 2 : 0)
        .u16(metric);
      writeWords(writer, prefix);
    }
  };

interface External {
  readonly prefix: Prefix;
  readonly isType2: boolean;
  readonly metric: number;
  /** Of NSSA routes that border routers pass on. */
  readonly forwarding: Int32Array | undefined;
}

const propagates = 8;

export const writeExternalBody =
  ({ prefix, isType2, metric, forwarding }: External) =>
  (writer: MessageWriter) => {
    const hasForwarding = forwarding !== undefined;
    writer.u8((isType2 ? 4 : 0) | (hasForwarding ? 2 : 0)).u24(metric);
    writer
      .u8(prefix.bits)
      .u8(hasForwarding ? propagates : 0)
      .u16(0);
    writeWords(writer, prefix);
    for (const word of forwarding ?? []) writer.u32(word);
  };
