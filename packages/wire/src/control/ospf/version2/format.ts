import { parseAddress } from '../../../ip/address.ts';
import type { OspfFormat } from '../format.ts';
import { optionsOf } from './generated-area.ts';
import { readLsaHeader } from './lsa.ts';
import type { Version2Options } from './options.ts';
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

const groups = { all: parseAddress('224.0.0.5'), designated: parseAddress('224.0.0.6') } as const;
/** Headers of IP and OSPF, and the longest digest. */
const overheadBytes = 20 + 24 + 32;

/** OSPF for IPv4 (RFC 2328). */
export const ospfVersion2 = (options: Version2Options): OspfFormat => {
  const { address: name, mask, network, areaKind, authentication } = options;
  const areaOptions = optionsOf(areaKind);
  const externals = areaOptions & 2;
  return {
    groups,
    overheadBytes,
    descriptionBytes: 8,
    name,
    nameOf: (_, source) => (source[3] as number) >>> 0,
    encode: (header, write, { sequence }) => writeOspf(header, authentication, { sequence, write }),
    parse: (bytes) => parseOspf(bytes, authentication),
    forget() {},
    writeHello: (hello) => writeHello({ ...hello, mask, options: areaOptions }),
    readHello,
    isHelloAccepted: (hello) =>
      (network === 'point-to-point' || hello.mask === mask) && (hello.options & 2) === externals,
    writeDescription: (description) => writeDescription(description, areaOptions),
    readDescription,
    writeRequest,
    readRequest,
    readLsaHeader,
    ownLsas: (state) => ownLsas(options, externals, state),
    changesOwn: () => false,
  };
};
