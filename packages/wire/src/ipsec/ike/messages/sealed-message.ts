import type { PacketCipher, PacketRange } from '../crypto.ts';
import {
  type HeaderFields,
  type IkeHeader,
  type IkePayload,
  IkeSyntaxError,
  ikeHeaderBytes,
  payloadBytes,
  payloadsLength,
  readPayloads,
  readUint16,
  viewOf,
  writeHeader,
  writePayloads,
  writeUint16,
} from './message.ts';
import { payloadType } from './numbers.ts';

const genericHeader = 4;
const fragmentHeader = 4;

/** Largest message that is sent in one piece where the peer takes fragments. */
const maxMessageBytes = 1200;
const maxFragments = 64;

interface Sealing {
  readonly cipher: PacketCipher;
  readonly fields: HeaderFields;
}

/** One encrypted message, or as many fragments as needed. */
export const sealMessages = (
  { cipher, fields }: Sealing,
  payloads: readonly IkePayload[],
  canFragment: boolean,
): Uint8Array[] => {
  const length = payloadsLength(payloads);
  const first = payloads[0]?.type ?? payloadType.none;
  const overhead = ikeHeaderBytes + genericHeader + cipher.ivBytes + cipher.icvBytes + cipher.blockBytes;
  if (!canFragment || length + overhead <= maxMessageBytes) {
    const write = (message: Uint8Array, at: number) => writePayloads(message, at, payloads);
    return [sealPiece({ cipher, fields }, { length, write, first, type: payloadType.encrypted })];
  }
  const text = payloadBytes(payloads);
  const room = maxMessageBytes - overhead - fragmentHeader;
  const total = Math.ceil(length / room);
  return Array.from({ length: total }, (_, index) => {
    const part = text.subarray(index * room, (index + 1) * room);
    return sealPiece(
      { cipher, fields },
      {
        length: part.length,
        write: (message, at) => message.set(part, at),
        first: index === 0 ? first : payloadType.none,
        type: payloadType.encryptedFragment,
        fragment: { number: index + 1, total },
      },
    );
  });
};

interface Piece {
  /** Of the text, which `write` puts into the message. */
  readonly length: number;
  write(message: Uint8Array, at: number): void;
  readonly first: number;
  readonly type: number;
  readonly fragment?: { readonly number: number; readonly total: number };
}

const sealPiece = ({ cipher, fields }: Sealing, piece: Piece): Uint8Array => {
  const { length, first, type, fragment } = piece;
  const ivAt = ikeHeaderBytes + genericHeader + (fragment === undefined ? 0 : fragmentHeader);
  const textAt = ivAt + cipher.ivBytes;
  const padding = (cipher.blockBytes - ((length + 1) % cipher.blockBytes)) % cipher.blockBytes;
  const textEnd = textAt + length + padding + 1;
  const message = new Uint8Array(textEnd + cipher.icvBytes);
  writeHeader(message, type, fields);
  message[ikeHeaderBytes] = first;
  writeUint16(message, ikeHeaderBytes + 2, message.length - ikeHeaderBytes);
  if (fragment !== undefined) {
    writeUint16(message, ikeHeaderBytes + genericHeader, fragment.number);
    writeUint16(message, ikeHeaderBytes + genericHeader + 2, fragment.total);
  }
  piece.write(message, textAt);
  message[textEnd - 1] = padding;
  cipher.seal(message, { start: 0, ivAt, textEnd, high: -1 });
  return message;
};

/** Decrypts [ivAt, end) in place; undefined, with the text undefined too, if the check fails. */
const openPiece = (cipher: PacketCipher, message: Uint8Array, ivAt: number): Uint8Array | undefined => {
  const textAt = ivAt + cipher.ivBytes;
  const textEnd = message.length - cipher.icvBytes;
  if (textEnd - textAt < 1 || (textEnd - textAt) % cipher.blockBytes !== 0) return undefined;
  const range: PacketRange = { start: 0, ivAt, textEnd, high: -1 };
  if (!cipher.open(message, range)) return undefined;
  const padding = message[textEnd - 1] as number;
  if (textEnd - 1 - padding < textAt) throw new IkeSyntaxError('padding is longer than the text');
  return message.subarray(textAt, textEnd - 1 - padding);
};

/** Fragments of the message that is being received. */
export class FragmentBuffer {
  #messageId = -1;
  #isResponse = false;
  #total = 0;
  #first = 0;
  #pieces = new Map<number, Uint8Array>();

  /** The text once it is whole. A larger total replaces what was received (RFC 7383, 2.6). */
  add(header: IkeHeader, fragment: { number: number; total: number; first: number; text: Uint8Array }) {
    const isResponse = (header.flags & 0x20) !== 0;
    const isNew = header.messageId !== this.#messageId || isResponse !== this.#isResponse;
    if (isNew || fragment.total > this.#total) {
      this.#messageId = header.messageId;
      this.#isResponse = isResponse;
      this.#total = fragment.total;
      this.#pieces = new Map();
    }
    if (fragment.total < this.#total) return undefined;
    if (fragment.number === 1) this.#first = fragment.first;
    this.#pieces.set(fragment.number, fragment.text);
    if (this.#pieces.size < this.#total) return undefined;
    const ordered = Array.from({ length: this.#total }, (_, i) => this.#pieces.get(i + 1) as Uint8Array);
    this.#messageId = -1;
    this.#pieces = new Map();
    const text = new Uint8Array(ordered.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of ordered) {
      text.set(piece, at);
      at += piece.length;
    }
    return { text, first: this.#first };
  }
}

/** The text of an encrypted message and the payloads in it. */
export interface OpenedMessage {
  readonly payloads: readonly IkePayload[];
  readonly text: Uint8Array;
  /** Type of the first payload. */
  readonly first: number;
}

const openedOf = (text: Uint8Array, first: number): OpenedMessage => ({
  payloads: readPayloads(text, 0, first),
  text,
  first,
});

/** What both sides authenticate of an IKE_INTERMEDIATE message (RFC 9242, 3.3.2): as if it was not encrypted. */
export const intermediateOctets = (
  fields: HeaderFields,
  { text, first }: Pick<OpenedMessage, 'text' | 'first'>,
): Uint8Array => {
  const bytes = new Uint8Array(ikeHeaderBytes + genericHeader + text.length);
  writeHeader(bytes, payloadType.encrypted, fields);
  const view = viewOf(bytes);
  view.setUint8(ikeHeaderBytes, first);
  view.setUint16(ikeHeaderBytes + 2, genericHeader + text.length);
  bytes.set(text, ikeHeaderBytes + genericHeader);
  return bytes;
};

/**
 * Payloads of an encrypted message, which is decrypted in place. 'invalid': the integrity check fails; 'partial': fragments are missing. Throws
 * `IkeSyntaxError` for an authentic message with a wrong format.
 */
export const openMessage = (
  cipher: PacketCipher,
  { message, header, fragments }: { message: Uint8Array; header: IkeHeader; fragments: () => FragmentBuffer },
): OpenedMessage | 'invalid' | 'partial' => {
  const type = header.firstPayload;
  if (message.length < ikeHeaderBytes + genericHeader + fragmentHeader) return 'invalid';
  // The encrypted payload is the only one of every message.
  if (readUint16(message, ikeHeaderBytes + 2) !== message.length - ikeHeaderBytes) return 'invalid';
  const first = message[ikeHeaderBytes] as number;
  if (type === payloadType.encrypted) {
    const text = openPiece(cipher, message, ikeHeaderBytes + genericHeader);
    return text === undefined ? 'invalid' : openedOf(text, first);
  }
  if (type !== payloadType.encryptedFragment) return 'invalid';
  const number = readUint16(message, ikeHeaderBytes + genericHeader);
  const total = readUint16(message, ikeHeaderBytes + genericHeader + 2);
  if (number === 0 || number > total || total > maxFragments) return 'invalid';
  const text = openPiece(cipher, message, ikeHeaderBytes + genericHeader + fragmentHeader);
  if (text === undefined) return 'invalid';
  const whole = fragments().add(header, { number, total, first, text });
  return whole === undefined ? 'partial' : openedOf(whole.text, whole.first);
};
