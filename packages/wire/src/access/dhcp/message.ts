import type { Memory } from '../../bytes/memory.ts';
import { copyMac } from '../../ethernet/ethernet.ts';

export const dhcpPort = { server: 67, client: 68 } as const;
export const dhcpType = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
  forceRenew: 9,
} as const;
export const dhcpOption = {
  pad: 0,
  netmask: 1,
  router: 3,
  dnsServers: 6,
  hostName: 12,
  domain: 15,
  requestedAddress: 50,
  leaseTime: 51,
  overload: 52,
  messageType: 53,
  serverId: 54,
  parameters: 55,
  message: 56,
  maxSize: 57,
  renewalTime: 58,
  rebindingTime: 59,
  vendorClass: 60,
  clientId: 61,
  rapidCommit: 80,
  relayAgent: 82,
  end: 255,
} as const;
/** Parts of option 82 (RFC 3046). */
export const relaySubOption = { circuitId: 1, remoteId: 2 } as const;

const cookie = 0x63825363;
const optionsAt = 240;
const fileAt = 108;
const serverNameAt = 44;
const broadcastFlag = 0x8000;
/** Messages are padded to the least that BOOTP relays accept. */
const minMessage = 300;
/** What a message needs at most, options included. */
export const maxDhcpBytes = 1024;

/** A DHCP message (RFC 2131), parsed into one object that is used again. */
export class DhcpMessage {
  isReply = false;
  type = 0;
  xid = 0;
  secs = 0;
  isBroadcast = false;
  clientAddress = 0;
  yourAddress = 0;
  relayAddress = 0;
  /** Where the hardware address of the client stands. */
  macAt = 0;
  readonly #at = new Int32Array(256);
  readonly #lengths = new Uint8Array(256);
  /** The message in which an option was last seen: nothing has to be cleared between two messages. */
  readonly #seenIn = new Float64Array(256);
  #number = 0;

  /** False if it is not a message of DHCP for Ethernet. */
  parse(memory: Memory, start: number, end: number): boolean {
    const { view } = memory;
    if (end - start < optionsAt || view.getInt32(start + 236) !== cookie) return false;
    const operation = view.getUint8(start);
    if ((operation !== 1 && operation !== 2) || view.getUint16(start + 1) !== 0x0106) return false;
    this.isReply = operation === 2;
    this.xid = view.getInt32(start + 4);
    this.secs = view.getUint16(start + 8);
    this.isBroadcast = (view.getUint16(start + 10) & broadcastFlag) !== 0;
    this.clientAddress = view.getInt32(start + 12);
    this.yourAddress = view.getInt32(start + 16);
    this.relayAddress = view.getInt32(start + 24);
    this.macAt = start + 28;
    this.#number++;
    if (!this.#readOptions(memory, start + optionsAt, end) || !this.#readOverloaded(memory, start)) return false;
    const type = this.find(dhcpOption.messageType);
    if (type < 0 || this.lengthOf(dhcpOption.messageType) !== 1) return false;
    this.type = view.getUint8(type);
    return true;
  }

  /** Where the value of an option starts, or -1. */
  find(code: number): number {
    return this.#seenIn[code] === this.#number ? (this.#at[code] as number) : -1;
  }

  lengthOf(code: number): number {
    return this.#lengths[code] as number;
  }

  /** A number of 32 bits, such as an address; `missing` if there is none. */
  word({ view }: Memory, code: number, missing = 0): number {
    const at = this.find(code);
    return at < 0 || this.lengthOf(code) < 4 ? missing : view.getInt32(at);
  }

  #readOptions({ view }: Memory, start: number, end: number): boolean {
    for (let at = start; at < end; ) {
      const code = view.getUint8(at);
      if (code === dhcpOption.end) return true;
      if (code === dhcpOption.pad) {
        at++;
        continue;
      }
      if (at + 2 > end) return false;
      const length = view.getUint8(at + 1);
      if (at + 2 + length > end) return false;
      if (this.#seenIn[code] !== this.#number) {
        this.#seenIn[code] = this.#number;
        this.#at[code] = at + 2;
        this.#lengths[code] = length;
      }
      at += 2 + length;
    }
    return true;
  }

  /** Options may go on in the fields for file and server name. */
  #readOverloaded(memory: Memory, start: number): boolean {
    const at = this.find(dhcpOption.overload);
    const fields = at < 0 || this.lengthOf(dhcpOption.overload) !== 1 ? 0 : memory.view.getUint8(at);
    if ((fields & 1) !== 0 && !this.#readOptions(memory, start + fileAt, start + 236)) return false;
    return (fields & 2) === 0 || this.#readOptions(memory, start + serverNameAt, start + fileAt);
  }
}

export interface DhcpHeader {
  readonly isReply: boolean;
  readonly type: number;
  readonly xid: number;
  readonly secs?: number;
  readonly isBroadcast: boolean;
  readonly clientAddress?: number;
  readonly yourAddress?: number;
  readonly relayAddress?: number;
  /** Hops it has passed: a relay counts itself. */
  readonly hops?: number;
  readonly mac: Uint8Array;
}

/** Writes a message in place: header first, then options, then the end. */
export class DhcpWriter {
  #memory: Memory | undefined;
  #start = 0;
  #at = 0;

  begin(memory: Memory, start: number, header: DhcpHeader): this {
    const { view, bytes } = memory;
    bytes.fill(0, start, start + optionsAt);
    view.setInt32(start, ((header.isReply ? 2 : 1) << 24) | 0x010600 | (header.hops ?? 0));
    view.setInt32(start + 4, header.xid);
    view.setUint16(start + 8, header.secs ?? 0);
    view.setUint16(start + 10, header.isBroadcast ? broadcastFlag : 0);
    view.setInt32(start + 12, header.clientAddress ?? 0);
    view.setInt32(start + 16, header.yourAddress ?? 0);
    view.setInt32(start + 24, header.relayAddress ?? 0);
    copyMac(header.mac, 0, bytes, start + 28);
    view.setInt32(start + 236, cookie);
    this.#memory = memory;
    this.#start = start;
    this.#at = start + optionsAt;
    return this.byte(dhcpOption.messageType, header.type);
  }

  byte(code: number, value: number): this {
    this.#memory?.view.setUint8(this.#open(code, 1), value);
    return this;
  }

  word(code: number, value: number): this {
    this.#memory?.view.setInt32(this.#open(code, 4), value);
    return this;
  }

  words(code: number, values: readonly number[]): this {
    const at = this.#open(code, values.length * 4);
    for (const [index, value] of values.entries()) this.#memory?.view.setInt32(at + index * 4, value);
    return this;
  }

  /** The bytes, and before them one of their kind where an option has it. */
  bytes(code: number, value: Uint8Array, kind?: number): this {
    const extra = kind === undefined ? 0 : 1;
    const at = this.#open(code, value.length + extra);
    if (kind !== undefined) this.#memory?.view.setUint8(at, kind);
    this.#memory?.bytes.set(value, at + extra);
    return this;
  }

  empty(code: number): this {
    this.#open(code, 0);
    return this;
  }

  /** Option 82 with circuit and remote identifier; empty ones are left out. */
  relay(circuitId: Uint8Array, remoteId: Uint8Array): this {
    const part = ({ length }: Uint8Array) => (length === 0 ? 0 : length + 2);
    let at = this.#open(dhcpOption.relayAgent, part(circuitId) + part(remoteId));
    for (const [code, value] of [
      [relaySubOption.circuitId, circuitId],
      [relaySubOption.remoteId, remoteId],
    ] as const) {
      if (value.length === 0) continue;
      this.#memory?.view.setUint16(at, (code << 8) | value.length);
      this.#memory?.bytes.set(value, at + 2);
      at += value.length + 2;
    }
    return this;
  }

  /** Ends the message, padded, and returns its end. */
  end(): number {
    const { bytes } = this.#memory as Memory;
    bytes[this.#at++] = dhcpOption.end;
    const end = Math.max(this.#at, this.#start + minMessage);
    bytes.fill(0, this.#at, end);
    return end;
  }

  #open(code: number, length: number): number {
    if (length > 255) throw new RangeError(`option ${code} of DHCP has ${length} bytes; 255 is the maximum`);
    this.#memory?.view.setUint16(this.#at, (code << 8) | length);
    const at = this.#at + 2;
    this.#at = at + length;
    return at;
  }
}
