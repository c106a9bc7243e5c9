import type { Memory } from '../../bytes/memory.ts';

export const pppoeCode = { session: 0x00, padi: 0x09, pado: 0x07, padr: 0x19, pads: 0x65, padt: 0xa7 } as const;
export const pppoeTag = {
  end: 0x0000,
  serviceName: 0x0101,
  acName: 0x0102,
  hostUniq: 0x0103,
  acCookie: 0x0104,
  vendor: 0x0105,
  relaySessionId: 0x0110,
  maxPayload: 0x0120,
  serviceNameError: 0x0201,
  acSystemError: 0x0202,
  genericError: 0x0203,
} as const;

const versionAndType = 0x11;
export const pppoeBytes = 6;
/** PPPoE header and PPP protocol before a packet. */
export const pppoeDataBytes = 8;
/** What a discovery packet needs at most. */
export const maxDiscoveryBytes = 1484;
/** The Broadband Forum, whose tag describes the access line (TR-101). */
const broadbandForum = 0x00000de9;
const lineOption = { circuitId: 1, remoteId: 2, upstream: 0x81, downstream: 0x82, dslType: 0x91 } as const;
const knownTags = 11;

/** A packet of PPPoE (RFC 2516), parsed into one object that is used again. */
export class PppoeMessage {
  code = 0;
  sessionId = 0;
  /** Tags of discovery, or the PPP packet with its protocol. */
  payload = 0;
  end = 0;
  readonly #types = new Uint16Array(knownTags);
  readonly #at = new Int32Array(knownTags);
  readonly #lengths = new Uint16Array(knownTags);
  #count = 0;

  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < pppoeBytes || view.getUint8(start) !== versionAndType) return false;
    this.code = view.getUint8(start + 1);
    this.sessionId = view.getUint16(start + 2);
    this.payload = start + pppoeBytes;
    this.end = this.payload + view.getUint16(start + 4);
    this.#count = 0;
    return this.end <= end;
  }

  /** Reads the tags of a discovery packet; of several with the same type the first counts. */
  parseTags({ view }: Memory): boolean {
    this.#count = 0;
    for (let at = this.payload; at < this.end; ) {
      if (at + 4 > this.end) return false;
      const type = view.getUint16(at);
      const length = view.getUint16(at + 2);
      if (at + 4 + length > this.end) return false;
      if (type === pppoeTag.end) return true;
      if (this.#indexOf(type) < 0 && this.#count < knownTags) {
        this.#types[this.#count] = type;
        this.#at[this.#count] = at + 4;
        this.#lengths[this.#count++] = length;
      }
      at += 4 + length;
    }
    return true;
  }

  has(type: number): boolean {
    return this.#indexOf(type) >= 0;
  }

  /** The value of a tag, valid as long as the packet, or undefined. */
  find({ bytes }: Memory, type: number): Uint8Array | undefined {
    const index = this.#indexOf(type);
    if (index < 0) return undefined;
    const at = this.#at[index] as number;
    return bytes.subarray(at, at + (this.#lengths[index] as number));
  }

  #indexOf(type: number): number {
    for (let i = 0; i < this.#count; i++) if (this.#types[i] === type) return i;
    return -1;
  }
}

/** Line of a subscriber in the tag of the Broadband Forum. Empty texts and rates of 0 are left out. */
export interface LineTag {
  readonly circuitId: Uint8Array;
  readonly remoteId: Uint8Array;
  readonly upstreamKbps: number;
  readonly downstreamKbps: number;
  /** Type of the line (RFC 6320); without it not sent. */
  readonly dslType?: number;
}

/** Writes a discovery packet in place: header, then tags, then the length. */
export class DiscoveryWriter {
  #memory: Memory | undefined;
  #start = 0;
  #at = 0;

  begin(memory: Memory, start: number, code: number, sessionId: number): this {
    memory.view.setUint16(start, (versionAndType << 8) | code);
    memory.view.setUint16(start + 2, sessionId);
    this.#memory = memory;
    this.#start = start;
    this.#at = start + pppoeBytes;
    return this;
  }

  tag(type: number, value: Uint8Array): this {
    const { view, bytes } = this.#memory as Memory;
    if (this.#at + 4 + value.length > this.#start + maxDiscoveryBytes) return this;
    view.setUint16(this.#at, type);
    view.setUint16(this.#at + 2, value.length);
    bytes.set(value, this.#at + 4);
    this.#at += 4 + value.length;
    return this;
  }

  /** Copies a tag of a received packet, if it has it. */
  echo(type: number, value: Uint8Array | undefined): this {
    return value === undefined ? this : this.tag(type, value);
  }

  line({ circuitId, remoteId, upstreamKbps, downstreamKbps, dslType }: LineTag): this {
    const word = (value: number) => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
    const parts: number[] = [...word(broadbandForum)];
    const add = (code: number, value: Uint8Array) => {
      if (value.length > 0) parts.push(code, value.length, ...value);
    };
    add(lineOption.circuitId, circuitId.subarray(0, 63));
    add(lineOption.remoteId, remoteId.subarray(0, 63));
    add(lineOption.upstream, upstreamKbps === 0 ? new Uint8Array(0) : word(upstreamKbps));
    add(lineOption.downstream, downstreamKbps === 0 ? new Uint8Array(0) : word(downstreamKbps));
    add(lineOption.dslType, dslType === undefined ? new Uint8Array(0) : word(dslType));
    return this.tag(pppoeTag.vendor, Uint8Array.from(parts));
  }

  /** Ends the packet and returns its end. */
  end(): number {
    this.#memory?.view.setUint16(this.#start + 4, this.#at - this.#start - pppoeBytes);
    return this.#at;
  }
}

/** Writes the header of a session packet whose PPP packet [at, end) follows it; returns its start. */
export const wrapSession = ({ view }: Memory, at: number, end: number, sessionId: number, protocol: number): number => {
  const start = at - pppoeDataBytes;
  view.setUint16(start, versionAndType << 8);
  view.setUint16(start + 2, sessionId);
  view.setUint16(start + 4, end - at + 2);
  view.setUint16(start + 6, protocol);
  return start;
};
