import { hexOfBytes, type Memory } from '../../bytes/memory.ts';

/** The group that bridges send to, and the LLC header of their messages (IEEE 802.1D). */
export const bridgeGroupMac: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 0);
const llc = [0x42, 0x42, 0x03] as const;

export const bpduKind = { config: 0, rapid: 2, topologyChange: 0x80 } as const;
export const portRoleCode = { unknown: 0, alternate: 1, root: 2, designated: 3 } as const;
export const bpduFlag = {
  topologyChange: 0x01,
  proposal: 0x02,
  learning: 0x10,
  forwarding: 0x20,
  agreement: 0x40,
  acknowledgement: 0x80,
} as const;
const roleShift = 2;
const rapidVersion = 2;
const bridgeIdBytes = 8;
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

/** What decides between bridges; the smaller one is the better. Bridges are 16 hexadecimal digits: priority and MAC. */
export interface PriorityVector {
  readonly root: string;
  readonly cost: number;
  readonly bridge: string;
  readonly port: number;
}

export interface Bpdu {
  readonly kind: number;
  readonly version: number;
  readonly flags: number;
  /** A code of `portRoleCode`; configuration messages of STP come from designated ports. */
  readonly role: number;
  readonly vector: PriorityVector;
  readonly times: TreeTimes;
}

const noVector: PriorityVector = { root: '', cost: 0, bridge: '', port: 0 };
const noTimes: TreeTimes = { messageAge: 0, maxAge: 0, hello: 0, forwardDelay: 0 };

/** Below 0: the first is the better one. */
export const compareVectors = (a: PriorityVector, b: PriorityVector): number => {
  if (a.root !== b.root) return a.root < b.root ? -1 : 1;
  if (a.cost !== b.cost) return a.cost - b.cost;
  if (a.bridge !== b.bridge) return a.bridge < b.bridge ? -1 : 1;
  return a.port - b.port;
};

/** The id of a bridge from its priority and its MAC. */
export const bridgeIdOf = (priority: number, mac: Uint8Array): string =>
  priority.toString(16).padStart(4, '0') + hexOfBytes(mac);

/** Reads a message with its LLC header; undefined if it is none. */
export const readBpdu = ({ view, bytes }: Memory, start: number, end: number): Bpdu | undefined => {
  const at = start + llc.length;
  if (end - at < noticeBytes || llc.some((byte, i) => bytes[start + i] !== byte)) return undefined;
  if (view.getUint16(at) !== 0) return undefined;
  const [version, kind] = [view.getUint8(at + 2), view.getUint8(at + 3)];
  if (kind === bpduKind.topologyChange)
    return { kind, version, flags: 0, role: portRoleCode.unknown, vector: noVector, times: noTimes };
  if ((kind !== bpduKind.config && kind !== bpduKind.rapid) || end - at < configBytes) return undefined;
  const flags = view.getUint8(at + 4);
  const time = (offset: number) => view.getUint16(at + offset) / timeUnit;
  const times = { messageAge: time(27), maxAge: time(29), hello: time(31), forwardDelay: time(33) };
  // A message that is as old as it may be says nothing any more (IEEE 802.1D, 9.3.4).
  if (kind === bpduKind.config && times.messageAge >= times.maxAge) return undefined;
  return {
    ...{ kind, version, flags, times },
    role: kind === bpduKind.config ? portRoleCode.designated : (flags >> roleShift) & 3,
    vector: {
      root: hexOfBytes(bytes, at + 5, at + 5 + bridgeIdBytes),
      cost: view.getUint32(at + 13),
      bridge: hexOfBytes(bytes, at + 17, at + 17 + bridgeIdBytes),
      port: view.getUint16(at + 25),
    },
  };
};

const writeHex = (bytes: Uint8Array, at: number, hex: string): void => {
  for (let i = 0; i < hex.length / 2; i++) bytes[at + i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
};

/** Writes a message with its LLC header; returns its end. */
export const writeBpdu = ({ view, bytes }: Memory, start: number, bpdu: Omit<Bpdu, 'version'>): number => {
  const at = start + llc.length;
  const isRapid = bpdu.kind === bpduKind.rapid;
  bytes.set(llc, start);
  view.setUint16(at, 0);
  view.setUint8(at + 2, isRapid ? rapidVersion : 0);
  view.setUint8(at + 3, bpdu.kind);
  if (bpdu.kind === bpduKind.topologyChange) return at + noticeBytes;
  const { vector, times, role } = bpdu;
  view.setUint8(at + 4, bpdu.flags | (isRapid ? role << roleShift : 0));
  writeHex(bytes, at + 5, vector.root);
  view.setUint32(at + 13, vector.cost);
  writeHex(bytes, at + 17, vector.bridge);
  view.setUint16(at + 25, vector.port);
  const all = [times.messageAge, times.maxAge, times.hello, times.forwardDelay];
  for (const [i, time] of all.entries()) view.setUint16(at + 27 + 2 * i, Math.round(time * timeUnit));
  if (!isRapid) return at + configBytes;
  view.setUint8(at + configBytes, 0);
  return at + configBytes + 1;
};

/** Room for any message. */
export const maxBpduBytes = 64;
