import { readAddress6 } from '../../ip/address.ts';
import { MessageWriter } from '../message-writer.ts';
import { infinity, type OutgoingRip, type RipEntry, type RipFormat, type RipMessage, ripCommand } from './packet.ts';

export const ripngPort = 521;
const version = 1;
const headerBytes = 4;
const entryBytes = 20;
/** Headers of IPv6 and UDP. */
const lowerBytes = 48;
/** In place of a metric: the entry is the next hop of those that follow. */
const nextHopMark = 255;

/** RIPng, for IPv6 (RFC 2080). Packets are as large as the MTU allows. */
export const ripngFormat = (mtu: number): RipFormat => ({
  entriesPerPacket: Math.floor((mtu - lowerBytes - headerBytes) / entryBytes),
  encode: encodeRipng,
  parse: parseRipng,
});

const encodeRipng = ({ command, entries }: OutgoingRip): Uint8Array => {
  const writer = new MessageWriter(headerBytes + entryBytes * (entries.length + 1));
  writer.u8(command).u8(version).u16(0);
  const isWhole = command === ripCommand.request && entries.length === 0;
  if (isWhole) writer.zeros(entryBytes - 1).u8(infinity);
  for (const { address, length, metric, tag } of entries) {
    for (const word of address) writer.u32(word);
    writer.u16(tag).u8(length).u8(metric);
  }
  return writer.take();
};

const isLinkLocal = (address: Int32Array): boolean => (address[0] as number) >>> 22 === 0x3fa;

const isPrefix = (address: Int32Array, length: number): boolean => {
  if (length > 128 || (address[0] as number) >>> 24 === 0xff || isLinkLocal(address)) return false;
  return address.every((word, i) => {
    const left = Math.max(0, Math.min(length - i * 32, 32));
    return left === 32 || (word & (0xffffffff >>> left)) === 0;
  });
};

const parseRipng = (bytes: Uint8Array): RipMessage | string => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < headerBytes || (bytes.length - headerBytes) % entryBytes !== 0) return 'length makes no sense';
  const command = view.getUint8(0);
  if (view.getUint8(1) !== version) return `version ${view.getUint8(1)} is unknown`;
  if (command !== ripCommand.request && command !== ripCommand.response) return 'command is unknown';
  const entries: RipEntry[] = [];
  let isWhole = false;
  let nextHop: Int32Array | undefined;
  for (let at = headerBytes; at < bytes.length; at += entryBytes) {
    const address = new Int32Array(4);
    readAddress6(view, at, address, 0);
    const [tag, length, metric] = [view.getUint16(at + 16), view.getUint8(at + 18), view.getUint8(at + 19)];
    if (metric === nextHopMark) nextHop = isLinkLocal(address) ? address : undefined;
    else if (metric >= 1 && metric <= infinity && isPrefix(address, length)) {
      if (
        command === ripCommand.request &&
        length === 0 &&
        metric === infinity &&
        bytes.length === headerBytes + entryBytes
      )
        isWhole = true;
      else entries.push({ address, length, metric, tag, nextHop });
    }
  }
  return { command, entries, isWhole };
};
