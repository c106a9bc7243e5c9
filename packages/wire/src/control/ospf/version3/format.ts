import { parseAddress } from '../../../ip/address.ts';
import type { OspfFormat, PacketEnds, ReceivedOspf } from '../format.ts';
import {
  hasTrailer,
  SequenceCheck,
  sequenceOf,
  trailerBytesOf,
  type Version3Digest,
  withTrailer,
} from './authentication.ts';
import { areaOptions, lsaType, optionsOf, readLsaHeader } from './lsa.ts';
import { ownInterfaceId, type Version3Options } from './options.ts';
import { ownLsas } from './own-lsas.ts';
import {
  parseOspf,
  readDescription,
  readHello,
  readRequest,
  writeDescription,
  writeHello,
  writeOspf,
  writeRequest,
} from './packet.ts';

const groups = { all: parseAddress('ff02::5'), designated: parseAddress('ff02::6') } as const;
/** Headers of IPv6 and OSPF. */
const overheadBytes = 40 + 16;

/** Packets with trailers: what is not authentic or was sent before is discarded. */
const authenticated = (instanceId: number, source: Int32Array, authentication: Version3Digest) => {
  const check = new SequenceCheck();
  const parse = (bytes: Uint8Array, ends: PacketEnds): ReceivedOspf | undefined => {
    const packet = parseOspf(bytes, instanceId, ends, true);
    const sequence = packet && sequenceOf(bytes, packet.end, authentication, ends.source);
    const isNew = sequence !== undefined && check.accepts(packet?.routerId ?? 0, packet?.type ?? 0, sequence);
    return isNew ? packet : undefined;
  };
  const encode: OspfFormat['encode'] = (header, write, { destination, sequence }) => {
    const packet = writeOspf(header, instanceId, { ends: { source, destination }, write, hasTrailer: true });
    return withTrailer(packet, authentication, { source, sequence });
  };
  return { parse, encode, forget: (routerId: number) => check.forget(routerId) };
};

/** OSPF for IPv6 (RFC 5340). */
export const ospfVersion3 = (options: Version3Options): OspfFormat => {
  const { routerId: name, areaKind, instanceId, linkLocal: source, authentication } = options;
  const bits = optionsOf(areaKind);
  const linkBits = bits | (authentication.kind === 'none' ? 0 : hasTrailer);
  return {
    groups,
    overheadBytes: overheadBytes + trailerBytesOf(authentication),
    descriptionBytes: 12,
    name,
    nameOf: (routerId) => routerId,
    encode: (header, write, { destination }) => writeOspf(header, instanceId, { ends: { source, destination }, write }),
    parse: (bytes, ends) => parseOspf(bytes, instanceId, ends),
    forget() {},
    ...(authentication.kind === 'digest' && authenticated(instanceId, source, authentication)),
    writeHello: (hello) => writeHello({ ...hello, interfaceId: ownInterfaceId, options: linkBits }),
    readHello,
    isHelloAccepted: (hello) => (hello.options & areaOptions) === (bits & areaOptions),
    writeDescription: (description) => writeDescription(description, linkBits),
    readDescription,
    writeRequest,
    readRequest,
    readLsaHeader,
    ownLsas: (state) => ownLsas(options, state),
    changesOwn: ({ type }) => type === lsaType.link,
  };
};
