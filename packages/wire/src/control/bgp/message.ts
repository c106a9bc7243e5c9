import { copyOf } from '../../bytes/memory.ts';
import { MessageWriter } from '../message-writer.ts';
import type { BgpFamily } from './families.ts';
import { BgpError, bgpError, headerError } from './notification.ts';

export const bgpType = { open: 1, update: 2, notification: 3, keepalive: 4, routeRefresh: 5 } as const;

export const bgpHeaderBytes = 19;
export const maxBgpMessage = 4096;
/** With extended messages (RFC 8654). */
export const maxExtendedMessage = 65_535;
const markerBytes = 16;

const minLengths: Readonly<Record<number, number>> = {
  [bgpType.open]: 29,
  [bgpType.update]: 23,
  [bgpType.notification]: 21,
  [bgpType.keepalive]: 19,
  [bgpType.routeRefresh]: 23,
};

/** Starts a message; `endMessage` fills in its length. Returns where it starts. */
export const beginMessage = (writer: MessageWriter, type: number): number => {
  const at = writer.reserve(bgpHeaderBytes);
  writer.bytes.fill(255, at, at + markerBytes);
  writer.bytes[at + 18] = type;
  return at;
};

export const endMessage = (writer: MessageWriter, start: number): void => {
  writer.view.setUint16(start + markerBytes, writer.length - start);
};

const messageOf = (type: number, write: (writer: MessageWriter) => void): Uint8Array => {
  const writer = new MessageWriter(64);
  const start = beginMessage(writer, type);
  write(writer);
  endMessage(writer, start);
  return writer.take();
};

export const keepaliveMessage = (): Uint8Array => messageOf(bgpType.keepalive, () => {});

export const notificationMessage = ({ code, subcode, data }: BgpError): Uint8Array =>
  messageOf(bgpType.notification, (writer) => writer.u8(code).u8(subcode).copy(data));

export const refreshMessage = ({ afi, safi }: BgpFamily): Uint8Array =>
  messageOf(bgpType.routeRefresh, (writer) => writer.u16(afi).u8(0).u8(safi));

/** Takes a message body [start, end); `type` is one of `bgpType`. */
export type MessageHandler = (type: number, bytes: Uint8Array, start: number, end: number) => void;

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Cuts a byte stream into messages. */
export class MessageReader {
  /** Raised once both sides have offered extended messages; OPEN and KEEPALIVE stay below 4096 bytes. */
  maxLength = maxBgpMessage;
  #rest = new Uint8Array(0);

  /** Calls `handler` for each complete message. Throws a `BgpError` where the stream breaks the protocol. */
  read(bytes: Uint8Array, handler: MessageHandler): void {
    let input = bytes;
    if (this.#rest.length > 0) {
      input = new Uint8Array(this.#rest.length + bytes.length);
      input.set(this.#rest);
      input.set(bytes, this.#rest.length);
      this.#rest = new Uint8Array(0);
    }
    let at = 0;
    while (input.length - at >= bgpHeaderBytes) {
      const length = this.#lengthAt(input, at);
      if (at + length > input.length) break;
      handler(input[at + 18] as number, input, at + bgpHeaderBytes, at + length);
      at += length;
    }
    if (at < input.length) this.#rest = copyOf(input, at);
  }

  #lengthAt(bytes: Uint8Array, at: number): number {
    for (let i = 0; i < markerBytes; i++)
      if (bytes[at + i] !== 255) throw new BgpError(bgpError.header, headerError.notSynchronized);
    const length = view(bytes).getUint16(at + markerBytes);
    const type = bytes[at + 18] as number;
    const min = minLengths[type];
    if (min === undefined) throw new BgpError(bgpError.header, headerError.badType, Uint8Array.of(type));
    const isShortType = type === bgpType.open || type === bgpType.keepalive;
    const max = type === bgpType.keepalive ? bgpHeaderBytes : isShortType ? maxBgpMessage : this.maxLength;
    if (length < min || length > max)
      throw new BgpError(bgpError.header, headerError.badLength, copyOf(bytes, at + markerBytes, at + markerBytes + 2));
    return length;
  }
}
