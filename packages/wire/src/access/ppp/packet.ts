import type { Memory } from '../../bytes/memory.ts';

/** Protocol numbers of PPP. */
export const pppProtocol = {
  ipv4: 0x0021,
  ipv6: 0x0057,
  ipcp: 0x8021,
  ip6cp: 0x8057,
  lcp: 0xc021,
  pap: 0xc023,
  chap: 0xc223,
} as const;

/** Codes of LCP; the first seven are common to all control protocols (RFC 1661). */
export const pppCode = {
  vendor: 0,
  configureRequest: 1,
  configureAck: 2,
  configureNak: 3,
  configureReject: 4,
  terminateRequest: 5,
  terminateAck: 6,
  codeReject: 7,
  protocolReject: 8,
  echoRequest: 9,
  echoReply: 10,
  discardRequest: 11,
} as const;

/** The protocol of an IP packet by its version. */
export const ipProtocolOf = ({ view }: Memory, at: number): number =>
  view.getUint8(at) >>> 4 === 6 ? pppProtocol.ipv6 : pppProtocol.ipv4;

export const pppHeaderBytes = 4;

/** Sends packets of PPP sessions. */
export interface PppLink {
  /** Memory of the packet begun last. */
  readonly memory: Memory;
  /** Where a packet of up to `length` bytes is written, or -1 while there is no room. */
  begin(session: number, length: number): number;
  /** Sends the packet [at, end) of a protocol. */
  send(session: number, at: number, end: number, protocol: number): void;
}

/** A control packet, parsed into one object that is used again. */
export class PppPacket {
  code = 0;
  id = 0;
  body = 0;
  end = 0;

  /** Bytes behind the packet (padding) are left out. */
  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < pppHeaderBytes) return false;
    const length = view.getUint16(start + 2);
    if (length < pppHeaderBytes || start + length > end) return false;
    this.code = view.getUint8(start);
    this.id = view.getUint8(start + 1);
    this.body = start + pppHeaderBytes;
    this.end = start + length;
    return true;
  }
}

/** Writes the header of a control packet [at, end). */
export const writePppHeader = ({ view }: Memory, at: number, end: number, code: number, id: number): void => {
  view.setUint16(at, (code << 8) | id);
  view.setUint16(at + 2, end - at);
};

/** Options of an answer, collected while a request is judged. */
export class OptionList {
  readonly bytes: Uint8Array = new Uint8Array(512);
  readonly #view = new DataView(this.bytes.buffer);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Adds the option [at, at + length) as it stands. */
  copy({ bytes }: Memory, at: number, length: number): void {
    if (this.length + length > this.bytes.length) return;
    this.bytes.set(bytes.subarray(at, at + length), this.length);
    this.length += length;
  }

  half(type: number, value: number): void {
    this.#view.setUint16(this.#open(type, 2), value);
  }

  word(type: number, value: number): void {
    this.#view.setInt32(this.#open(type, 4), value);
  }

  words(type: number, high: number, low: number): void {
    const at = this.#open(type, 8);
    this.#view.setInt32(at, high);
    this.#view.setInt32(at + 4, low);
  }

  /** A protocol number and one byte, as the option for CHAP has them. */
  halfAndByte(type: number, half: number, byte: number): void {
    const at = this.#open(type, 3);
    this.#view.setUint16(at, half);
    this.#view.setUint8(at + 2, byte);
  }

  #open(type: number, length: number): number {
    const at = this.length;
    this.bytes[at] = type;
    this.bytes[at + 1] = length + 2;
    this.length = at + length + 2;
    return at + 2;
  }
}
