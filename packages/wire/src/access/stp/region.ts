import { hmacMd5 } from '../../bytes/hmac-md5.ts';
import { bytesOfHex } from '../../bytes/memory.ts';

/** Bridges with the same table of VLANs, name and revision form a region of MSTP. */
export interface MstRegion {
  readonly name: string;
  readonly revision: number;
  readonly instances: readonly MstInstance[];
}

/** A tree of its own for some VLANs. */
export interface MstInstance {
  /** From 1 to 4094. */
  readonly id: number;
  readonly vlans: readonly number[];
  readonly priority: number;
}

const vlanCount = 4096;
const nameBytes = 32;
const revisionAt = 1 + nameBytes;
const digestAt = revisionAt + 2;
/** Selector, name, revision and digest of the table (IEEE 802.1Q, 13.8). */
export const regionBytes: number = digestAt + 16;
const digestKey = bytesOfHex('13ac06a62e47fd51f95d2ba243cd0346');

/** The digest of the table: two bytes for each VLAN, the number of its instance. */
const digestOf = (instances: readonly MstInstance[]): Uint8Array => {
  const table = new DataView(new ArrayBuffer(2 * vlanCount));
  for (const { id, vlans } of instances) for (const vlan of vlans) table.setUint16(2 * vlan, id);
  return hmacMd5(digestKey, new Uint8Array(table.buffer));
};

/** What bridges of a region say to recognise each other. */
export const regionIdOf = ({ name, revision, instances }: MstRegion): Uint8Array => {
  const bytes = new Uint8Array(regionBytes);
  bytes.set(new TextEncoder().encode(name).subarray(0, nameBytes), 1);
  new DataView(bytes.buffer).setUint16(revisionAt, revision);
  bytes.set(digestOf(instances), digestAt);
  return bytes;
};
