import type { Memory } from '../../bytes/memory.ts';
import type { PacketCipher, PacketRange } from '../ike/crypto.ts';
import { ReplayWindow } from './replay-window.ts';

export const espHeaderBytes = 8;
const trailerBytes = 2;
const lowRange = 2 ** 32;
const maxLow = lowRange - 1;
const maxExtended = Number.MAX_SAFE_INTEGER;

export interface EspOptions {
  readonly spi: number;
  readonly cipher: PacketCipher;
  readonly hasEsn: boolean;
  /** Packets that may arrive out of order, a multiple of 32; 0: replays are accepted. */
  readonly window?: number;
}

/** Of the packet that is being handled. */
const packetRange: PacketRange = { start: 0, ivAt: 0, textEnd: 0, high: -1 };

const alignmentOf = (cipher: PacketCipher): number => Math.max(4, cipher.blockBytes);

/** Largest payload of which the ESP packet has at most `room` bytes. */
export const espPayloadRoom = (cipher: PacketCipher, room: number): number => {
  const align = alignmentOf(cipher);
  const sealed = room - espHeaderBytes - cipher.ivBytes - cipher.icvBytes;
  return Math.max(0, Math.floor(sealed / align) * align - trailerBytes);
};

/** Sends packets of one SA. */
export class EspOutbound {
  readonly spi: number;
  readonly hasEsn: boolean;
  readonly cipher: PacketCipher;
  readonly counters = { packets: 0, bytes: 0 };
  /** Bytes before the payload. */
  readonly headBytes: number;
  /** Most bytes after the payload. */
  readonly maxTailBytes: number;
  sequence = 0;
  readonly #align: number;

  constructor({ spi, cipher, hasEsn }: EspOptions) {
    this.spi = spi;
    this.cipher = cipher;
    this.hasEsn = hasEsn;
    this.#align = alignmentOf(cipher);
    this.headBytes = espHeaderBytes + cipher.ivBytes;
    this.maxTailBytes = this.#align - 1 + trailerBytes + cipher.icvBytes;
  }

  /** True when no further packet may be sent with these keys. */
  get isExhausted(): boolean {
    return this.sequence >= (this.hasEsn ? maxExtended : maxLow);
  }

  /**
   * Seals the payload [start, end): the packet begins `headBytes` before it, and its end is returned; -1 when the
   * sequence numbers are used up.
   */
  seal({ bytes, view }: Memory, start: number, end: number, nextHeader: number): number {
    if (this.isExhausted) return -1;
    const sequence = ++this.sequence;
    const padding = (this.#align - ((end - start + trailerBytes) % this.#align)) % this.#align;
    for (let i = 0; i < padding; i++) bytes[end + i] = i + 1;
    const textEnd = end + padding + trailerBytes;
    bytes[textEnd - 2] = padding;
    bytes[textEnd - 1] = nextHeader;
    const at = start - this.headBytes;
    view.setInt32(at, this.spi | 0);
    // The lower half; a remainder of a number above 2^31 costs more than a conversion.
    view.setInt32(at + 4, sequence | 0);
    const range = packetRange;
    range.start = at;
    range.ivAt = at + espHeaderBytes;
    range.textEnd = textEnd;
    range.high = this.hasEsn ? Math.floor(sequence / lowRange) : -1;
    this.cipher.seal(bytes, range);
    this.counters.packets++;
    this.counters.bytes += end - start;
    return textEnd + this.cipher.icvBytes;
  }
}

/** Receives packets of one SA. After a successful `open` the payload is [start, end). */
export class EspInbound {
  readonly spi: number;
  readonly hasEsn: boolean;
  readonly cipher: PacketCipher;
  readonly counters = { packets: 0, bytes: 0, replays: 0, forged: 0, invalid: 0 };
  start = 0;
  end = 0;
  nextHeader = 0;
  readonly #window: ReplayWindow;

  constructor({ spi, cipher, hasEsn, window = 64 }: EspOptions) {
    this.spi = spi;
    this.cipher = cipher;
    this.hasEsn = hasEsn;
    this.#window = new ReplayWindow(window);
  }

  get sequence(): number {
    return this.#window.highest;
  }

  /** Checks and decrypts the ESP packet [start, end) in place. */
  open({ bytes, view }: Memory, start: number, end: number): boolean {
    const { cipher, counters } = this;
    const text = start + espHeaderBytes + cipher.ivBytes;
    const textEnd = end - cipher.icvBytes;
    if (textEnd - text < trailerBytes || (textEnd - text) % cipher.blockBytes !== 0) {
      counters.invalid++;
      return false;
    }
    const low = view.getUint32(start + 4);
    const sequence = this.hasEsn ? this.#window.expand(low) : low;
    if (!this.#window.isNew(sequence)) {
      counters.replays++;
      return false;
    }
    const range = packetRange;
    range.start = start;
    range.ivAt = start + espHeaderBytes;
    range.textEnd = textEnd;
    range.high = this.hasEsn ? Math.floor(sequence / lowRange) : -1;
    if (!cipher.open(bytes, range)) {
      counters.forged++;
      return false;
    }
    this.#window.accept(sequence);
    const padding = bytes[textEnd - 2] as number;
    if (textEnd - trailerBytes - padding < text) {
      counters.invalid++;
      return false;
    }
    this.start = text;
    this.end = textEnd - trailerBytes - padding;
    this.nextHeader = bytes[textEnd - 1] as number;
    counters.packets++;
    counters.bytes += this.end - text;
    return true;
  }
}
