import type { Memory } from '../../bytes/memory.ts';
import { readAddress6, writeAddress6 } from '../../ip/address.ts';

export const dhcpv6Port = { client: 546, server: 547 } as const;
export const dhcpv6Type = {
  solicit: 1,
  advertise: 2,
  request: 3,
  confirm: 4,
  renew: 5,
  rebind: 6,
  reply: 7,
  release: 8,
  decline: 9,
  reconfigure: 10,
  informationRequest: 11,
  relayForward: 12,
  relayReply: 13,
} as const;
export const dhcpv6Option = {
  clientId: 1,
  serverId: 2,
  iaNa: 3,
  iaAddress: 5,
  request: 6,
  preference: 7,
  elapsedTime: 8,
  relayMessage: 9,
  authentication: 11,
  status: 13,
  rapidCommit: 14,
  interfaceId: 18,
  reconfigureMessage: 19,
  reconfigureAccept: 20,
  dnsServers: 23,
  domainList: 24,
  iaPd: 25,
  iaPrefix: 26,
  remoteId: 37,
} as const;
export const dhcpv6Status = {
  success: 0,
  unspecified: 1,
  noAddress: 2,
  noBinding: 3,
  notOnLink: 4,
  noPrefix: 6,
} as const;

/** Header of a message of clients and servers: type and transaction. */
const headerBytes = 4;
/** Header of a message of relays: type, hops, link address and peer address. */
export const relayHeaderBytes = 34;
const iaHeaderBytes = 12;
const iaAddressBytes = 24;
const iaPrefixBytes = 25;
/** What a message needs at most, without what a relay adds. */
export const maxDhcpv6Bytes = 700;

/** Where the value of an option in [start, end) starts, or -1. The list of options must be well formed. */
export const findOption6 = (view: DataView, start: number, end: number, code: number): number => {
  for (let at = start; at + 4 <= end; at += 4 + view.getUint16(at + 2)) if (view.getUint16(at) === code) return at + 4;
  return -1;
};

/** Length of the option whose value starts at `at`. */
export const optionLength6 = (view: DataView, at: number): number => view.getUint16(at - 2);

const isWellFormed = (view: DataView, start: number, end: number): boolean => {
  let at = start;
  while (at + 4 <= end) at += 4 + view.getUint16(at + 2);
  return at === end;
};

/** Status of an option list: success where there is none. */
const statusIn = (view: DataView, start: number, end: number): number => {
  const at = findOption6(view, start, end, dhcpv6Option.status);
  return at < 0 || optionLength6(view, at) < 2 ? dhcpv6Status.success : view.getUint16(at);
};

/** An identity association of a message, with its first address or prefix. */
export class IdentityAssociation {
  isPresent = false;
  iaid = 0;
  renewSec = 0;
  rebindSec = 0;
  status: number = dhcpv6Status.success;
  /** There is an address or a prefix whose valid lifetime is not over. */
  hasLease = false;
  readonly address = new Int32Array(4);
  prefixLength = 0;
  preferredSec = 0;
  validSec = 0;

  /** Reads the option that starts at `at`, -1: there is none. False if it is malformed. */
  read(view: DataView, at: number, isPrefix: boolean): boolean {
    this.isPresent = at >= 0;
    this.hasLease = false;
    this.status = dhcpv6Status.success;
    if (at < 0) return true;
    const end = at + optionLength6(view, at);
    if (end - at < iaHeaderBytes || !isWellFormed(view, at + iaHeaderBytes, end)) return false;
    this.iaid = view.getInt32(at);
    this.renewSec = view.getUint32(at + 4);
    this.rebindSec = view.getUint32(at + 8);
    this.status = statusIn(view, at + iaHeaderBytes, end);
    const code = isPrefix ? dhcpv6Option.iaPrefix : dhcpv6Option.iaAddress;
    const lease = findOption6(view, at + iaHeaderBytes, end, code);
    return lease < 0 || this.#readLease(view, lease, isPrefix);
  }

  #readLease(view: DataView, at: number, isPrefix: boolean): boolean {
    if (optionLength6(view, at) < (isPrefix ? iaPrefixBytes : iaAddressBytes)) return false;
    const times = isPrefix ? at : at + 16;
    this.preferredSec = view.getUint32(times);
    this.validSec = view.getUint32(times + 4);
    this.prefixLength = isPrefix ? view.getUint8(at + 8) : 128;
    readAddress6(view, isPrefix ? at + 9 : at, this.address, 0);
    this.hasLease = this.prefixLength <= 128;
    return true;
  }
}

/** A message of a client or server (RFC 8415), parsed into one object that is used again. */
export class Dhcpv6Message {
  type = 0;
  transaction = 0;
  /** Where the client identifier starts; -1: there is none. */
  clientIdAt = -1;
  clientIdLength = 0;
  serverIdAt = -1;
  serverIdLength = 0;
  hasRapidCommit = false;
  status: number = dhcpv6Status.success;
  readonly address = new IdentityAssociation();
  readonly prefix = new IdentityAssociation();
  #start = 0;
  #end = 0;

  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < headerBytes || !isWellFormed(view, start + headerBytes, end)) return false;
    this.type = view.getUint8(start);
    this.transaction = view.getInt32(start) & 0xffffff;
    this.#start = start + headerBytes;
    this.#end = end;
    this.clientIdAt = this.find(view, dhcpv6Option.clientId);
    this.clientIdLength = this.clientIdAt < 0 ? 0 : optionLength6(view, this.clientIdAt);
    this.serverIdAt = this.find(view, dhcpv6Option.serverId);
    this.serverIdLength = this.serverIdAt < 0 ? 0 : optionLength6(view, this.serverIdAt);
    this.hasRapidCommit = this.find(view, dhcpv6Option.rapidCommit) >= 0;
    this.status = statusIn(view, this.#start, end);
    return (
      this.address.read(view, this.find(view, dhcpv6Option.iaNa), false) &&
      this.prefix.read(view, this.find(view, dhcpv6Option.iaPd), true)
    );
  }

  find(view: DataView, code: number): number {
    return findOption6(view, this.#start, this.#end, code);
  }
}

/** A message of a relay, with the message it carries. */
export class RelayMessage {
  type = 0;
  hops = 0;
  /** Where link address and peer address stand, one behind the other. */
  addressesAt = 0;
  /** Where the interface identifier starts; -1: there is none. */
  interfaceIdAt = -1;
  innerAt = 0;
  innerEnd = 0;

  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < relayHeaderBytes || !isWellFormed(view, start + relayHeaderBytes, end)) return false;
    this.type = view.getUint8(start);
    if (this.type !== dhcpv6Type.relayForward && this.type !== dhcpv6Type.relayReply) return false;
    this.hops = view.getUint8(start + 1);
    this.addressesAt = start + 2;
    const options = start + relayHeaderBytes;
    this.interfaceIdAt = findOption6(view, options, end, dhcpv6Option.interfaceId);
    this.innerAt = findOption6(view, options, end, dhcpv6Option.relayMessage);
    if (this.innerAt < 0) return false;
    this.innerEnd = this.innerAt + optionLength6(view, this.innerAt);
    return true;
  }
}

export interface Lease6 {
  readonly iaid: number;
  /** Four words of an address or a prefix; undefined: nothing is given or asked for in particular. */
  readonly words?: Int32Array | undefined;
  readonly at?: number;
  /** Length of a prefix. */
  readonly prefixLength?: number;
  readonly preferredSec?: number;
  readonly validSec?: number;
  readonly renewSec?: number;
  readonly rebindSec?: number;
  /** Why nothing is given. */
  readonly status?: number;
}

/** Writes a message in place: type and transaction first, then options. */
export class Dhcpv6Writer {
  #memory: Memory | undefined;
  #at = 0;

  begin(memory: Memory, start: number, type: number, transaction: number): this {
    memory.view.setInt32(start, (type << 24) | (transaction & 0xffffff));
    this.#memory = memory;
    this.#at = start + headerBytes;
    return this;
  }

  /** Begins a message of a relay; the addresses of the link and of the peer follow the header. */
  beginRelay(memory: Memory, start: number, type: number, hops: number): this {
    memory.view.setUint16(start, (type << 8) | hops);
    this.#memory = memory;
    this.#at = start + relayHeaderBytes;
    return this;
  }

  /** The end of what is written. */
  get end(): number {
    return this.#at;
  }

  bytes(code: number, value: Uint8Array): this {
    this.#memory?.bytes.set(value, this.#open(code, value.length));
    return this;
  }

  numbers16(code: number, values: readonly number[]): this {
    const at = this.#open(code, values.length * 2);
    for (const [index, value] of values.entries()) this.#memory?.view.setUint16(at + index * 2, value);
    return this;
  }

  /** An identity association of one address, or of one prefix. */
  association(code: number, lease: Lease6): this {
    const { view } = this.#memory as Memory;
    const isPrefix = code === dhcpv6Option.iaPd;
    const start = this.#open(code, iaHeaderBytes);
    view.setInt32(start, lease.iaid);
    view.setUint32(start + 4, lease.renewSec ?? 0);
    view.setUint32(start + 8, lease.rebindSec ?? 0);
    if (lease.words !== undefined) this.#lease(lease.words, lease, isPrefix);
    if (lease.status !== undefined) this.numbers16(dhcpv6Option.status, [lease.status]);
    view.setUint16(start - 2, this.#at - start);
    return this;
  }

  #lease(
    words: Int32Array,
    { at: from = 0, prefixLength = 0, preferredSec = 0, validSec = 0 }: Lease6,
    isPrefix: boolean,
  ) {
    const { view } = this.#memory as Memory;
    const at = isPrefix
      ? this.#open(dhcpv6Option.iaPrefix, iaPrefixBytes)
      : this.#open(dhcpv6Option.iaAddress, iaAddressBytes);
    const times = isPrefix ? at : at + 16;
    view.setUint32(times, preferredSec);
    view.setUint32(times + 4, validSec);
    if (isPrefix) view.setUint8(at + 8, prefixLength);
    writeAddress6(view, isPrefix ? at + 9 : at, words, from);
  }

  #open(code: number, length: number): number {
    this.#memory?.view.setInt32(this.#at, (code << 16) | length);
    const at = this.#at + 4;
    this.#at = at + length;
    return at;
  }
}
