import { copyOf, hexOfBytes, type Memory } from '../../bytes/memory.ts';
import { regionBytes } from './region.ts';
import { bridgeIdBytes, roleOfFlags, roleShift, type TreeMessage, writeHex } from './tree-message.ts';

/** What bridges of MSTP add to a message of RSTP (IEEE 802.1Q, 14.4). */
export interface MstPart {
  readonly region: Uint8Array;
  /** Of the tree that all bridges share, within the region. */
  readonly internalCost: number;
  readonly bridge: string;
  readonly remainingHops: number;
  /** Trees of the region, by their number. */
  readonly messages: ReadonlyMap<number, TreeMessage>;
}

const maxInstances = 64;
/** Version 1 has a length of 0; then comes that of version 3. */
const headBytes = 3;
const costAt = headBytes + regionBytes;
const bridgeAt = costAt + 4;
const hopsAt = bridgeAt + bridgeIdBytes;
const messagesAt = hopsAt + 1;
const fixedBytes = messagesAt - headBytes;
const messageBytes = 16;
export const maxMstBytes: number = messagesAt + maxInstances * messageBytes;
const instanceMask = 0xfff;
const priorityMask = 0xf000;
const macDigits = 12;

interface PartRange {
  readonly at: number;
  readonly end: number;
  /** The port that speaks, in the tree that all bridges share. */
  readonly port: number;
}

/** Reads the part from the length of version 1 on; undefined if it is none: then the message is one of RSTP. */
export const readMstPart = (memory: Memory, { at, end, port }: PartRange): MstPart | undefined => {
  const { view, bytes } = memory;
  if (end - at < messagesAt || view.getUint8(at) !== 0) return undefined;
  const length = view.getUint16(at + 1);
  const instances = (length - fixedBytes) / messageBytes;
  if (!Number.isInteger(instances) || instances < 0 || instances > maxInstances) return undefined;
  if (at + headBytes + length > end) return undefined;
  const bridge = hexOfBytes(bytes, at + bridgeAt, at + bridgeAt + bridgeIdBytes);
  const messages = new Map<number, TreeMessage>();
  for (let i = 0; i < instances; i++)
    readInstance(memory, at + messagesAt + i * messageBytes, { messages, bridge, port });
  return {
    region: copyOf(bytes, at + headBytes, at + costAt),
    internalCost: view.getUint32(at + costAt),
    ...{ bridge, messages },
    remainingHops: view.getUint8(at + hopsAt),
  };
};

interface Sender {
  readonly messages: Map<number, TreeMessage>;
  readonly bridge: string;
  readonly port: number;
}

const readInstance = ({ view, bytes }: Memory, at: number, { messages, bridge, port }: Sender): void => {
  const flags = view.getUint8(at);
  const instance = view.getUint16(at + 1) & instanceMask;
  const bridgePriority = ((view.getUint8(at + 13) << 8) & priorityMask) | instance;
  const portPriority = (view.getUint8(at + 14) << 8) & priorityMask;
  messages.set(instance, {
    flags,
    role: roleOfFlags(flags),
    vector: {
      ...{ root: '', cost: 0 },
      regionalRoot: hexOfBytes(bytes, at + 1, at + 1 + bridgeIdBytes),
      internalCost: view.getUint32(at + 9),
      bridge: bridgePriority.toString(16).padStart(4, '0') + bridge.slice(-macDigits),
      port: portPriority | (port & instanceMask),
    },
    remainingHops: view.getUint8(at + 15),
  });
};

/** Writes the part from the length of version 1 on; returns its end. */
export const writeMstPart = ({ view, bytes }: Memory, at: number, part: MstPart): number => {
  view.setUint8(at, 0);
  view.setUint16(at + 1, fixedBytes + part.messages.size * messageBytes);
  bytes.set(part.region, at + headBytes);
  view.setUint32(at + costAt, part.internalCost);
  writeHex(bytes, at + bridgeAt, part.bridge);
  view.setUint8(at + hopsAt, part.remainingHops);
  let to = at + messagesAt;
  for (const { flags, role, vector, remainingHops } of part.messages.values()) {
    view.setUint8(to, flags | (role << roleShift));
    writeHex(bytes, to + 1, vector.regionalRoot);
    view.setUint32(to + 9, vector.internalCost);
    view.setUint8(to + 13, (Number.parseInt(vector.bridge.slice(0, 4), 16) & priorityMask) >> 8);
    view.setUint8(to + 14, (vector.port & priorityMask) >> 8);
    view.setUint8(to + 15, remainingHops);
    to += messageBytes;
  }
  return to;
};
