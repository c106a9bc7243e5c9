import type { MessageWriter } from '../message-writer.ts';

export const attributeType = {
  origin: 1,
  asPath: 2,
  nextHop: 3,
  med: 4,
  localPreference: 5,
  atomicAggregate: 6,
  aggregator: 7,
  communities: 8,
  originatorId: 9,
  clusterList: 10,
  reach: 14,
  unreach: 15,
  extendedCommunities: 16,
  as4Path: 17,
  as4Aggregator: 18,
  largeCommunities: 32,
} as const;

export const attributeFlag = { optional: 0x80, transitive: 0x40, partial: 0x20, extended: 0x10 } as const;

const asTrans = 23_456;
const asSequence = 2;
const maxSegment = 255;

/** Path attributes without next hop and routes, which depend on the family. */
export interface PathAttributes {
  /** 0: IGP, 1: EGP, 2: incomplete. */
  readonly origin: number;
  readonly asPath: readonly number[];
  readonly med: number | undefined;
  /** To neighbours of the same AS only. */
  readonly localPreference: number | undefined;
  /** 32 bits each. */
  readonly communities: readonly number[];
  /** 8 bytes each. */
  readonly extendedCommunities: readonly Uint8Array[];
}

export const writeAttribute = (
  writer: MessageWriter,
  flags: number,
  type: number,
  write: (writer: MessageWriter) => void,
): void => {
  const start = writer.length;
  writer.u8(flags).u8(type).u8(0);
  const body = writer.length;
  write(writer);
  const length = writer.length - body;
  if (length < 256) {
    writer.bytes[start + 2] = length;
    return;
  }
  writer.reserve(1);
  writer.bytes.copyWithin(body + 1, body, body + length);
  writer.bytes[start] = flags | attributeFlag.extended;
  writer.view.setUint16(start + 2, length);
};

const writeAsPath = (writer: MessageWriter, path: readonly number[], size: 2 | 4): void => {
  for (let from = 0; from < path.length; from += maxSegment) {
    const part = path.slice(from, from + maxSegment);
    writer.u8(asSequence).u8(part.length);
    for (const as of part) {
      if (size === 4) writer.u32(as);
      else writer.u16(as > 0xffff ? asTrans : as);
    }
  }
};

const { optional, transitive } = attributeFlag;

/** Writes the attributes in the order of their types, next hop (IPv4, 4 bytes) included if there is one. */
export const writeAttributes = (
  writer: MessageWriter,
  attributes: PathAttributes,
  { fourByteAs, nextHop4 }: { readonly fourByteAs: boolean; readonly nextHop4: Uint8Array | undefined },
): void => {
  const { origin, asPath, med, localPreference, communities, extendedCommunities } = attributes;
  writeAttribute(writer, transitive, attributeType.origin, (w) => w.u8(origin));
  writeAttribute(writer, transitive, attributeType.asPath, (w) => writeAsPath(w, asPath, fourByteAs ? 4 : 2));
  if (nextHop4 !== undefined) writeAttribute(writer, transitive, attributeType.nextHop, (w) => w.copy(nextHop4));
  if (med !== undefined) writeAttribute(writer, optional, attributeType.med, (w) => w.u32(med));
  if (localPreference !== undefined)
    writeAttribute(writer, transitive, attributeType.localPreference, (w) => w.u32(localPreference));
  if (communities.length > 0)
    writeAttribute(writer, optional | transitive, attributeType.communities, (w) => {
      for (const community of communities) w.u32(community);
    });
  if (extendedCommunities.length > 0)
    writeAttribute(writer, optional | transitive, attributeType.extendedCommunities, (w) => {
      for (const community of extendedCommunities) w.copy(community);
    });
  if (!fourByteAs && asPath.some((as) => as > 0xffff))
    writeAttribute(writer, optional | transitive, attributeType.as4Path, (w) => writeAsPath(w, asPath, 4));
};
