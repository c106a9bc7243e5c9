import { checksumOf, isSumValid, sumBytes } from '../../bytes/checksum.ts';
import { Memory } from '../../bytes/memory.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { MessageWriter } from '../message-writer.ts';
import {
  type BootstrapMessage,
  type CandidateMessage,
  readBootstrap,
  readCandidate,
  writeBootstrap,
  writeCandidate,
} from './bootstrap-message.ts';
import { type EncodedGroup, type EncodedSource, PimReader, writeGroup, writeSource, writeUnicast } from './encoding.ts';
import { type HelloMessage, readHello, writeHello } from './hello.ts';

export const pimProtocol = 103;

export const pimType = {
  hello: 0,
  register: 1,
  registerStop: 2,
  joinPrune: 3,
  bootstrap: 4,
  assert: 5,
  candidate: 8,
} as const;

const version = 2;
const headerBytes = 4;
/** Of a register only the header is covered by the checksum, not the packet inside. */
const registerBytes = 8;
const registerFlag = { border: 0x80000000, isNull: 0x40000000 } as const;

/** A group of a join or prune message. */
export interface GroupChanges {
  readonly group: EncodedGroup;
  readonly joined: readonly EncodedSource[];
  readonly pruned: readonly EncodedSource[];
}

export interface JoinPruneMessage {
  readonly kind: 'joinPrune';
  /** The neighbour that is asked. */
  readonly upstream: Uint8Array;
  readonly holdSec: number;
  readonly groups: readonly GroupChanges[];
}

export interface RegisterMessage {
  readonly kind: 'register';
  readonly isBorder: boolean;
  /** Only the header of a packet is inside. */
  readonly isNull: boolean;
  readonly packet: Uint8Array;
}

export interface RegisterStopMessage {
  readonly kind: 'registerStop';
  readonly group: EncodedGroup;
  readonly source: Uint8Array;
}

export interface AssertMessage {
  readonly kind: 'assert';
  readonly group: EncodedGroup;
  readonly source: Uint8Array;
  readonly isRendezvousTree: boolean;
  readonly preference: number;
  readonly metric: number;
}

export type PimMessage =
  | HelloMessage
  | JoinPruneMessage
  | RegisterMessage
  | RegisterStopMessage
  | AssertMessage
  | BootstrapMessage
  | CandidateMessage;

/** Source and destination of a packet, 8 words; the checksum covers them with IPv6. */
export interface PimEnds {
  readonly addresses: Int32Array;
  readonly isV6: boolean;
}

const sumOf = (memory: Memory, length: number, { addresses, isV6 }: PimEnds): number =>
  sumBytes(memory, 0, length) + (isV6 ? pseudoHeaderSum(addresses, 0, pimProtocol) + length : 0);

const writeJoinPrune = (writer: MessageWriter, { upstream, holdSec, groups }: JoinPruneMessage): void => {
  writeUnicast(writer, upstream).u8(0).u8(groups.length).u16(holdSec);
  for (const { group, joined, pruned } of groups) {
    writeGroup(writer, group).u16(joined.length).u16(pruned.length);
    for (const source of [...joined, ...pruned]) writeSource(writer, source);
  }
};

const writeRegister = (writer: MessageWriter, { isBorder, isNull, packet }: RegisterMessage): void => {
  writer.u32((isBorder ? registerFlag.border : 0) + (isNull ? registerFlag.isNull : 0)).copy(packet);
};

type Kind = PimMessage['kind'];
type Writers = { readonly [K in Kind]: (writer: MessageWriter, message: PimMessage & { readonly kind: K }) => void };

const writers: Writers = {
  hello: writeHello,
  register: writeRegister,
  registerStop: (writer, { group, source }) => writeUnicast(writeGroup(writer, group), source),
  joinPrune: writeJoinPrune,
  bootstrap: writeBootstrap,
  assert: (writer, { group, source, isRendezvousTree, preference, metric }) =>
    writeUnicast(writeGroup(writer, group), source)
      .u32((isRendezvousTree ? 0x80000000 : 0) + preference)
      .u32(metric),
  candidate: writeCandidate,
};

/** Writes a message with its checksum. */
export const writePim = (message: PimMessage, ends: PimEnds): Uint8Array => {
  const writer = new MessageWriter(256);
  const noForward = message.kind === 'bootstrap' && message.isNoForward ? 0x80 : 0;
  writer
    .u8((version << 4) | pimType[message.kind])
    .u8(noForward)
    .u16(0);
  (writers[message.kind] as (writer: MessageWriter, message: PimMessage) => void)(writer, message);
  const bytes = writer.take();
  const memory = new Memory(bytes);
  const covered = message.kind === 'register' ? registerBytes : bytes.length;
  memory.view.setUint16(2, checksumOf(sumOf(memory, covered, ends)));
  return bytes;
};

const readJoinPrune = (reader: PimReader): JoinPruneMessage => {
  const upstream = reader.unicast();
  reader.number(1);
  const count = reader.number(1);
  const holdSec = reader.number(2);
  const groups = Array.from({ length: count }, () => {
    const group = reader.group();
    const joins = reader.number(2);
    const prunes = reader.number(2);
    const joined = Array.from({ length: joins }, () => reader.source());
    return { group, joined, pruned: Array.from({ length: prunes }, () => reader.source()) };
  });
  return { kind: 'joinPrune', upstream, holdSec, groups };
};

const readRegister = (reader: PimReader): RegisterMessage => {
  const flags = reader.number(4);
  const packet = reader.take(reader.left);
  const has = (flag: number) => (flags & flag) !== 0;
  return { kind: 'register', isBorder: has(registerFlag.border), isNull: has(registerFlag.isNull), packet };
};

const readAssert = (reader: PimReader): AssertMessage => {
  const group = reader.group();
  const source = reader.unicast();
  const preference = reader.number(4);
  return {
    kind: 'assert',
    group,
    source,
    isRendezvousTree: preference >= 0x80000000,
    preference: preference % 0x80000000,
    metric: reader.number(4),
  };
};

type Read = (reader: PimReader, flags: number) => PimMessage;

const readers: Readonly<Record<number, Read>> = {
  [pimType.hello]: readHello,
  [pimType.register]: readRegister,
  [pimType.registerStop]: (reader) => ({ kind: 'registerStop', group: reader.group(), source: reader.unicast() }),
  [pimType.joinPrune]: readJoinPrune,
  [pimType.bootstrap]: (reader, flags) => readBootstrap(reader, (flags & 0x80) !== 0),
  [pimType.assert]: readAssert,
  [pimType.candidate]: readCandidate,
};

/** A register may have a checksum over all of it as well (RFC 7761, section 4.9). */
const isChecksumRight = (bytes: Uint8Array, ends: PimEnds): boolean => {
  const memory = new Memory(bytes);
  const isRegister = ((bytes[0] as number) & 15) === pimType.register && bytes.length >= registerBytes;
  if (isRegister && isSumValid(sumOf(memory, registerBytes, ends))) return true;
  return isSumValid(sumOf(memory, bytes.length, ends));
};

/** Reads a message; undefined: broken, or of a type that is not known. */
export const findPimMessage = (bytes: Uint8Array, ends: PimEnds): PimMessage | undefined => {
  if (bytes.length < headerBytes || (bytes[0] as number) >>> 4 !== version) return undefined;
  const read = readers[(bytes[0] as number) & 15];
  if (read === undefined || !isChecksumRight(bytes, ends)) return undefined;
  try {
    return read(new PimReader(bytes, headerBytes, ends.isV6 ? 16 : 4), bytes[1] as number);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};
