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
  pmsiTunnel: 22,
  largeCommunities: 32,
} as const;

export const attributeFlag = { optional: 0x80, transitive: 0x40, partial: 0x20, extended: 0x10 } as const;

const asTrans = 23_456;
const asSequence = 2;
const maxSegment = 255;

/** Numbers of an AS path. */
export interface PathSegment {
  /** 1: set, 2: sequence, 3 and 4: the same of a confederation. */
  readonly kind: number;
  readonly numbers: readonly number[];
}

/** An attribute that is passed on as it is. AGGREGATOR has an AS number of four bytes. */
export interface OtherAttribute {
  readonly flags: number;
  readonly type: number;
  readonly value: Uint8Array;
}

/** Path attributes without next hop and routes, which depend on the family. */
export interface PathAttributes {
  /** 0: IGP, 1: EGP, 2: incomplete. */
  readonly origin: number;
  readonly asPath: readonly number[];
  /** Segments behind that sequence. */
  readonly pathTail?: readonly PathSegment[];
  readonly med: number | undefined;
  /** To neighbours of the same AS only. */
  readonly localPreference: number | undefined;
  /** 32 bits each. */
  readonly communities: readonly number[];
  /** 8 bytes each. */
  readonly extendedCommunities: readonly Uint8Array[];
  /** How broadcasts reach a router (RFC 6514, section 5). */
  readonly pmsiTunnel?: Uint8Array | undefined;
  readonly others?: readonly OtherAttribute[];
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

const writeSegment = (writer: MessageWriter, { kind, numbers }: PathSegment, size: 2 | 4): void => {
  writer.u8(kind).u8(numbers.length);
  for (const as of numbers) {
    if (size === 4) writer.u32(as);
    else writer.u16(as > 0xffff ? asTrans : as);
  }
};

const writeAsPath = (writer: MessageWriter, { asPath, pathTail = [] }: PathAttributes, size: 2 | 4): void => {
  for (let from = 0; from < asPath.length; from += maxSegment)
    writeSegment(writer, { kind: asSequence, numbers: asPath.slice(from, from + maxSegment) }, size);
  for (const segment of pathTail) writeSegment(writer, segment, size);
};

const isWidePath = ({ asPath, pathTail = [] }: PathAttributes): boolean =>
  [asPath, ...pathTail.map(({ numbers }) => numbers)].some((numbers) => numbers.some((as) => as > 0xffff));

/** AGGREGATOR to a neighbour that knows AS numbers of two bytes only (RFC 6793, section 4.2.2). */
const writeShortAggregator = (writer: MessageWriter, { flags, type, value }: OtherAttribute): void => {
  const as = new DataView(value.buffer, value.byteOffset, value.byteLength).getUint32(0);
  const isWide = as > 0xffff;
  writeAttribute(writer, flags, type, (w) => w.u16(isWide ? asTrans : as).copy(value.subarray(4)));
  if (isWide) writeAttribute(writer, flags, attributeType.as4Aggregator, (w) => w.copy(value));
};

const aggregatorBytes = 8;

const { optional, transitive } = attributeFlag;

/** Writes the attributes in the order of their types, next hop (IPv4, 4 bytes) included if there is one. */
export const writeAttributes = (
  writer: MessageWriter,
  attributes: PathAttributes,
  { fourByteAs, nextHop4 }: { readonly fourByteAs: boolean; readonly nextHop4: Uint8Array | undefined },
): void => {
  const { origin, med, localPreference, communities, extendedCommunities, pmsiTunnel } = attributes;
  writeAttribute(writer, transitive, attributeType.origin, (w) => w.u8(origin));
  writeAttribute(writer, transitive, attributeType.asPath, (w) => writeAsPath(w, attributes, fourByteAs ? 4 : 2));
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
  if (!fourByteAs && isWidePath(attributes))
    writeAttribute(writer, optional | transitive, attributeType.as4Path, (w) => writeAsPath(w, attributes, 4));
  if (pmsiTunnel !== undefined)
    writeAttribute(writer, optional | transitive, attributeType.pmsiTunnel, (w) => w.copy(pmsiTunnel));
  for (const other of attributes.others ?? []) {
    const isShort = !fourByteAs && other.type === attributeType.aggregator && other.value.length === aggregatorBytes;
    if (isShort) writeShortAggregator(writer, other);
    else writeAttribute(writer, other.flags, other.type, (w) => w.copy(other.value));
  }
};
