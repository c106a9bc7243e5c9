import { hexOfBytes, type Memory } from '../../bytes/memory.ts';
import { type MstPart, maxMstBytes, readMstPart, writeMstPart } from './mst-part.ts';
import { bridgeIdBytes, portRoleCode, roleOfFlags, roleShift, type TreeMessage, writeHex } from './tree-message.ts';

/** The group that bridges send to, and the LLC header of their messages (IEEE 802.1D). */
export const bridgeGroupMac: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 0);
const llc = [0x42, 0x42, 0x03] as const;

export const bpduKind = { config: 0, rapid: 2, topologyChange: 0x80 } as const;
const rapidVersion = 2;
const multipleVersion = 3;
const configBytes = 35;
const noticeBytes = 4;
/** Times are in units of 1/256 s. */
const timeUnit = 256;

/** Times of a spanning tree, in seconds. */
export interface TreeTimes {
  readonly messageAge: number;
  readonly maxAge: number;
  readonly hello: number;
  readonly forwardDelay: number;
}

export interface Bpdu {
  readonly kind: number;
  readonly version: number;
  readonly times: TreeTimes;
  /** Of the tree that all bridges share; configuration messages of STP come from designated ports. */
  readonly message: TreeMessage;
  /** What bridges of MSTP add. */
  readonly mst?: MstPart | undefined;
}

const noMessage: TreeMessage = {
  ...{ flags: 0, role: portRoleCode.unknown, remainingHops: 0 },
  vector: { root: '', cost: 0, regionalRoot: '', internalCost: 0, bridge: '', port: 0 },
};
const noTimes: TreeTimes = { messageAge: 0, maxAge: 0, hello: 0, forwardDelay: 0 };

/** Reads a message with its LLC header; undefined if it is none. */
export const readBpdu = (memory: Memory, start: number, end: number): Bpdu | undefined => {
  const { view, bytes } = memory;
  const at = start + llc.length;
  if (end - at < noticeBytes || llc.some((byte, i) => bytes[start + i] !== byte)) return undefined;
  if (view.getUint16(at) !== 0) return undefined;
  const [version, kind] = [view.getUint8(at + 2), view.getUint8(at + 3)];
  if (kind === bpduKind.topologyChange) return { kind, version, message: noMessage, times: noTimes };
  if ((kind !== bpduKind.config && kind !== bpduKind.rapid) || end - at < configBytes) return undefined;
  const flags = view.getUint8(at + 4);
  const time = (offset: number) => view.getUint16(at + offset) / timeUnit;
  const times = { messageAge: time(27), maxAge: time(29), hello: time(31), forwardDelay: time(33) };
  // A message that is as old as it may be says nothing any more (IEEE 802.1D, 9.3.4).
  if (kind === bpduKind.config && times.messageAge >= times.maxAge) return undefined;
  const bridge = hexOfBytes(bytes, at + 17, at + 17 + bridgeIdBytes);
  const vector = {
    root: hexOfBytes(bytes, at + 5, at + 5 + bridgeIdBytes),
    cost: view.getUint32(at + 13),
    ...{ regionalRoot: bridge, internalCost: 0, bridge },
    port: view.getUint16(at + 25),
  };
  const role = kind === bpduKind.config ? portRoleCode.designated : roleOfFlags(flags);
  const hasMst = kind === bpduKind.rapid && version >= multipleVersion;
  return {
    ...{ kind, version, times },
    message: { flags, role, vector, remainingHops: 0 },
    mst: hasMst ? readMstPart(memory, { at: at + configBytes, end, port: vector.port }) : undefined,
  };
};

/** Writes a message with its LLC header; returns its end. */
export const writeBpdu = (memory: Memory, start: number, bpdu: Omit<Bpdu, 'version'>): number => {
  const { view, bytes } = memory;
  const at = start + llc.length;
  const isRapid = bpdu.kind === bpduKind.rapid;
  bytes.set(llc, start);
  view.setUint16(at, 0);
  view.setUint8(at + 2, isRapid ? (bpdu.mst === undefined ? rapidVersion : multipleVersion) : 0);
  view.setUint8(at + 3, bpdu.kind);
  if (bpdu.kind === bpduKind.topologyChange) return at + noticeBytes;
  const { message, times } = bpdu;
  const { vector, role, flags } = message;
  view.setUint8(at + 4, flags | (isRapid ? role << roleShift : 0));
  writeHex(bytes, at + 5, vector.root);
  view.setUint32(at + 13, vector.cost);
  // Bridges without regions take the root of the region for the bridge that speaks.
  writeHex(bytes, at + 17, vector.regionalRoot);
  view.setUint16(at + 25, vector.port);
  const all = [times.messageAge, times.maxAge, times.hello, times.forwardDelay];
  for (const [i, time] of all.entries()) view.setUint16(at + 27 + 2 * i, Math.round(time * timeUnit));
  if (!isRapid) return at + configBytes;
  view.setUint8(at + configBytes, 0);
  return bpdu.mst === undefined ? at + configBytes + 1 : writeMstPart(memory, at + configBytes, bpdu.mst);
};

/** Room for any message. */
export const maxBpduBytes: number = llc.length + configBytes + maxMstBytes;
