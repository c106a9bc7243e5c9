import type { MessageWriter } from '../../message-writer.ts';
import { distinguisherBytes, distinguisherText } from '../route-distinguisher.ts';

/** Labels of a site for others: that of site `offset` + i is `label` + i. */
export interface LabelBlock {
  readonly distinguisher: Uint8Array;
  readonly site: number;
  readonly offset: number;
  readonly size: number;
  readonly label: number;
  /** Circuits that have failed at the site, in the order of the labels; none are known of sites of VPLS. */
  readonly failed: readonly boolean[];
}

const lengthBytes = 2;
const bottom = 1;
/** A block of VPLS has a size; one of a wire has a vector with a bit for each circuit instead. */
const vplsBytes = distinguisherBytes + 9;
const wireBytes = distinguisherBytes + 7;
const tlvBytes = 3;
const circuitStatus = 1;

/** What identifies a block: its site and where it begins (RFC 4761, section 3.2.2). */
export const blockIdentityBytes = distinguisherBytes + 4;
export const maxVplsBlock = lengthBytes + vplsBytes;
export const maxCircuitBlock = lengthBytes + wireBytes + tlvBytes + 1;

/** A block of VPLS (RFC 4761, section 3.2.2). */
export const writeVplsBlock = (writer: MessageWriter, block: Omit<LabelBlock, 'failed'>): void => {
  writer.u16(vplsBytes).copy(block.distinguisher).u16(block.site).u16(block.offset).u16(block.size);
  writer.u24((block.label << 4) | bottom);
};

/** The end of one wire (RFC 6624, section 3.1): a block of one label. */
export const writeCircuit = (writer: MessageWriter, block: Omit<LabelBlock, 'size'>): void => {
  writer
    .u16(wireBytes + tlvBytes + 1)
    .copy(block.distinguisher)
    .u16(block.site)
    .u16(block.offset);
  writer.u24((block.label << 4) | bottom);
  // The length of the vector counts bits.
  writer
    .u8(circuitStatus)
    .u16(1)
    .u8(block.failed[0] === true ? 0x80 : 0);
};

/** Reads a block [at, last); undefined: it has neither a size nor a vector, or is cut. */
export const findLabelBlock = (bytes: Uint8Array, at: number, last: number): LabelBlock | undefined => {
  const start = at + lengthBytes;
  if (last - start < wireBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, last - start);
  const isVpls = last - start === vplsBytes;
  const labelAt = isVpls ? wireBytes - 1 : wireBytes - 3;
  const failed = isVpls ? [] : circuitsOf(view);
  if (failed === undefined) return undefined;
  return {
    distinguisher: bytes.slice(start, start + distinguisherBytes),
    site: view.getUint16(distinguisherBytes),
    offset: view.getUint16(distinguisherBytes + 2),
    size: isVpls ? view.getUint16(distinguisherBytes + 4) : failed.length,
    label: (view.getUint16(labelAt) << 4) | (view.getUint8(labelAt + 2) >>> 4),
    failed,
  };
};

/** The vector among the TLVs behind the label. */
const circuitsOf = (view: DataView): boolean[] | undefined => {
  for (let at = wireBytes; at + tlvBytes <= view.byteLength; ) {
    const bits = view.getUint16(at + 1);
    const [start, size] = [at + tlvBytes, (bits + 7) >> 3];
    if (start + size > view.byteLength) return undefined;
    if (view.getUint8(at) === circuitStatus)
      return Array.from({ length: bits }, (_, i) => (view.getUint8(start + (i >> 3)) & (0x80 >> (i & 7))) !== 0);
    at = start + size;
  }
  return undefined;
};

/** A block for people: `65000:1 site 3, labels 100-107 for sites 1-8`. */
export const labelBlockText = (bytes: Uint8Array, at: number, last: number): string | undefined => {
  const block = findLabelBlock(bytes, at, last);
  if (block === undefined) return undefined;
  const { site, offset, size, label } = block;
  const range = (first: number) => (size === 1 ? `${first}` : `${first}-${first + size - 1}`);
  const end = `${distinguisherText(bytes, at + lengthBytes)} site ${site}`;
  return size === 1
    ? `${end}, label ${label} for site ${offset}`
    : `${end}, labels ${range(label)} for sites ${range(offset)}`;
};
