import { copyOf } from '../../bytes/memory.ts';
import { bfdBytes } from '../bfd/packet.ts';
import { MessageWriter } from '../message-writer.ts';

/** Channel types of the associated channel (RFC 6428, section 3.1; RFC 6435, section 4.1). */
export const tpChannel = { continuity: 0x22, connectivity: 0x23, lock: 0x26 } as const;

/** Where frames go whose neighbour has no address (RFC 7213, section 2.2). */
export const tpGroupMac: readonly number[] = [0x01, 0x00, 0x5e, 0x90, 0x00, 0x00];

/** The label that says that no packet of a user follows (RFC 5586, section 4). */
const channelLabel = 13;
const bottom = 0x100;
const labelBytes = 4;
const channelNibble = 1;
const lspMepType = 1;
const mepBytes = 12;
const lockVersion = 1;
const lockRefreshSec = 1;
const firstHop = 255;

/** An end of a label switched path (RFC 6370, section 5.2). */
export interface TpEnd {
  readonly globalId: number;
  readonly node: number;
  readonly tunnel: number;
  readonly lsp: number;
}

export interface TpMessage {
  readonly label: number;
  readonly channel: number;
  /** A control packet of BFD; empty in other messages. */
  readonly bfd: Uint8Array;
  /** Who has sent it, where the message says so. */
  readonly source: TpEnd | undefined;
}

const writeEnd = (writer: MessageWriter, { globalId, node, tunnel, lsp }: TpEnd): void => {
  writer.u16(lspMepType).u16(mepBytes).u32(globalId).u32(node).u16(tunnel).u16(lsp);
};

const begin = (label: number, channel: number): MessageWriter => {
  const writer = new MessageWriter(64);
  writer.u32((label << 12) | firstHop);
  writer.u32((channelLabel << 12) | bottom | 1);
  return writer
    .u8(channelNibble << 4)
    .u8(0)
    .u16(channel);
};

/** A message of continuity, or of connectivity with its source, behind its labels. */
export const writeTpBfd = (label: number, bfd: Uint8Array, source: TpEnd | undefined): Uint8Array => {
  const writer = begin(label, source === undefined ? tpChannel.continuity : tpChannel.connectivity).copy(bfd);
  if (source !== undefined) writeEnd(writer, source);
  return writer.take();
};

/** Tells the other end that the path was taken out of service (RFC 6435). */
export const writeTpLock = (label: number, source: TpEnd): Uint8Array => {
  const writer = begin(label, tpChannel.lock).u32((lockVersion << 28) | lockRefreshSec);
  writeEnd(writer, source);
  return writer.take();
};

const readEnd = (view: DataView, at: number): TpEnd | undefined => {
  if (at + 4 + mepBytes > view.byteLength) return undefined;
  if (view.getUint16(at) !== lspMepType || view.getUint16(at + 2) !== mepBytes) return undefined;
  return {
    globalId: view.getUint32(at + 4),
    node: view.getUint32(at + 8),
    tunnel: view.getUint16(at + 12),
    lsp: view.getUint16(at + 14),
  };
};

/** Reads what follows the type of a frame; undefined: no message of the transport profile, or broken. */
export const parseTp = (bytes: Uint8Array): TpMessage | undefined => {
  const own = copyOf(bytes, 0, bytes.length);
  const view = new DataView(own.buffer);
  const body = 2 * labelBytes + 4;
  if (own.length < body + 4) return undefined;
  const [outer, inner] = [view.getUint32(0), view.getUint32(4)];
  if ((outer & bottom) !== 0 || (inner & bottom) === 0 || inner >>> 12 !== channelLabel) return undefined;
  if (view.getUint8(8) !== channelNibble << 4) return undefined;
  const channel = view.getUint16(10);
  const common = { label: outer >>> 12, channel };
  if (channel === tpChannel.lock) {
    const source = readEnd(view, body + 4);
    return source === undefined ? undefined : { ...common, bfd: new Uint8Array(0), source };
  }
  const length = view.getUint8(body + 3);
  if (length < bfdBytes || body + length > own.length) return undefined;
  const bfd = copyOf(own, body, body + length);
  if (channel === tpChannel.continuity) return { ...common, bfd, source: undefined };
  if (channel !== tpChannel.connectivity) return undefined;
  const source = readEnd(view, body + length);
  return source === undefined ? undefined : { ...common, bfd, source };
};
