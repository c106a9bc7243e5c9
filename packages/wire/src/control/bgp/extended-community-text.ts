import { hexOfBytes } from '../../bytes/memory.ts';
import { formatMac } from '../../ethernet/ethernet.ts';
import { layer2InformationText } from './layer2/community.ts';
import { pairText } from './route-distinguisher.ts';

type TextOf = (bytes: Uint8Array, at: number) => string;

const number32 = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at);

const target: TextOf = (bytes, at) => `RT:${pairText((bytes[at] as number) & 3, bytes, at)}`;
const origin: TextOf = (bytes, at) => `SoO:${pairText((bytes[at] as number) & 3, bytes, at)}`;

/** By type × 256 + subtype, with the abbreviations that routers show. */
const texts: Readonly<Record<number, TextOf>> = {
  2: target,
  258: target,
  514: target,
  3: origin,
  259: origin,
  515: origin,
  780: (bytes, at) => `ET:${bytes[at + 7]}`,
  1536: (bytes, at) => `MM:${number32(bytes, at + 4)}`,
  1537: (bytes, at) => `ESI-label:${number32(bytes, at + 4) & 0xffffff}${bytes[at + 2] === 1 ? ' single-active' : ''}`,
  1538: (bytes, at) => `ES-import:${formatMac(bytes, at + 2)}`,
  1539: (bytes, at) => `Rmac:${formatMac(bytes, at + 2)}`,
  1540: (bytes, at) =>
    `L2:MTU ${number32(bytes, at + 4) >>> 16}${((bytes[at + 3] as number) & 4) === 0 ? '' : ' control word'}`,
  32778: layer2InformationText,
  1542: (bytes, at) => `DF:${(bytes[at + 2] as number) & 31}:${number32(bytes, at + 4) & 0xffff}`,
};

/** An extended community for people. */
export const extendedCommunityText = (bytes: Uint8Array, at: number): string => {
  const textOf = texts[((bytes[at] as number) << 8) | (bytes[at + 1] as number)];
  return textOf === undefined ? hexOfBytes(bytes, at, at + 8) : textOf(bytes, at);
};
