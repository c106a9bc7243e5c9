import { parseAddress } from '../../../ip/address.ts';
import type { OspfFormat } from '../format.ts';
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

/** OSPF for IPv6 (RFC 5340). */
export const ospfVersion3 = (options: Version3Options): OspfFormat => {
  const { routerId: name, areaKind, instanceId, linkLocal: source } = options;
  const bits = optionsOf(areaKind);
  return {
    groups,
    overheadBytes,
    descriptionBytes: 12,
    name,
    nameOf: (routerId) => routerId,
    encode: (header, write, { destination }) => writeOspf(header, instanceId, { ends: { source, destination }, write }),
    parse: (bytes, ends) => parseOspf(bytes, instanceId, ends),
    writeHello: (hello) => writeHello({ ...hello, interfaceId: ownInterfaceId, options: bits }),
    readHello,
    isHelloAccepted: (hello) => (hello.options & areaOptions) === (bits & areaOptions),
    writeDescription: (description) => writeDescription(description, bits),
    readDescription,
    writeRequest,
    readRequest,
    readLsaHeader,
    ownLsas: (state) => ownLsas(options, state),
    changesOwn: ({ type }) => type === lsaType.link,
  };
};
