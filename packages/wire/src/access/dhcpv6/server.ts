import { KeyTable } from '../../bytes/key-table.ts';
import { copyOf, createMemory, type Memory } from '../../bytes/memory.ts';
import { TimerWheel } from '../../bytes/timer-wheel.ts';
import { copyAddress } from '../../ip/address.ts';
import { NumberPool } from '../address-pool.ts';
import type { FrameRoute } from '../frames.ts';
import { addressWords, addToAddress, offsetBetween, PacketWriter6, writeLinkLocal } from '../ipv6/packets.ts';
import { PeerLines } from '../lines.ts';
import {
  Dhcpv6Message,
  Dhcpv6Writer,
  dhcpv6Option,
  dhcpv6Port,
  dhcpv6Status,
  dhcpv6Type,
  type Lease6,
  maxDhcpv6Bytes,
  optionLength6,
  RelayMessage,
  relayHeaderBytes,
} from './message.ts';
import { keyOption, signMessage, unsignedOption } from './reconfigure.ts';
import { type ReconfigurePeer, ReconfigurePeers } from './reconfigure-peers.ts';
import type { Dhcpv6Sender, Dhcpv6ServerHost, Dhcpv6ServerOptions } from './server-options.ts';

const keyWords = 3;
const none = -1;
/** Seconds for which an advertised address is kept for its client. */
const advertisedSec = 10;
const maxLeaseTicks = 2 ** 30;
/** More prefixes than sessions are of no use. */
const maxPrefixes = 2 ** 24;
const maxRelayBytes = 300;
const maxClientIdBytes = 130;

/** A DHCPv6 server (RFC 8415) with one pool of addresses and one of prefixes. */
export class Dhcpv6Server {
  readonly counters = { received: 0, sent: 0, invalid: 0, exhausted: 0, declined: 0, reconfigured: 0 };
  /** Leases that clients have confirmed. */
  active = 0;
  readonly #pool: NumberPool;
  readonly #prefixes: NumberPool;
  readonly #options: Dhcpv6ServerOptions;
  readonly #host: Dhcpv6ServerHost;
  readonly #packets: PacketWriter6;
  readonly #table: KeyTable;
  /** Offset in the pool of each lease; -1: none. */
  readonly #addressOf: Int32Array;
  readonly #prefixOf: Int32Array;
  /** Lease of each offset in the pool. */
  readonly #leaseAt: Int32Array;
  readonly #isBound: Uint8Array;
  readonly #lines: PeerLines;
  readonly #wheel: TimerWheel;
  readonly #message = new Dhcpv6Message();
  readonly #relay = new RelayMessage();
  readonly #writer = new Dhcpv6Writer();
  readonly #inner: Memory = createMemory(maxDhcpv6Bytes);
  readonly #key = new Int32Array(keyWords);
  readonly #words = new Int32Array(addressWords);
  readonly #prefixWords = new Int32Array(addressWords);
  readonly #own = new Int32Array(addressWords);
  readonly #serverId: Uint8Array;
  /** Clients that may be asked to renew. */
  readonly #peers: ReconfigurePeers | undefined;
  #nowSec = 0;
  /** The message at hand has come by a relay. */
  #isRelayed = false;

  constructor(host: Dhcpv6ServerHost, options: Dhcpv6ServerOptions) {
    const { poolSize, delegatedLength, delegatedFromLength } = options;
    this.#host = host;
    this.#options = options;
    this.#packets = new PacketWriter6(host.frames);
    this.#pool = new NumberPool(poolSize);
    this.#prefixes = new NumberPool(Math.min(2 ** (delegatedLength - delegatedFromLength), maxPrefixes));
    this.#table = new KeyTable({ width: keyWords, seed: 0x3c6ef372, capacity: Math.min(poolSize, 1 << 17) });
    this.#addressOf = new Int32Array(poolSize).fill(none);
    this.#prefixOf = new Int32Array(poolSize).fill(none);
    this.#leaseAt = new Int32Array(poolSize).fill(none);
    this.#isBound = new Uint8Array(poolSize);
    this.#lines = new PeerLines(poolSize);
    this.#wheel = new TimerWheel(0, poolSize);
    this.#serverId = Uint8Array.from([0, 3, 0, 1, ...host.mac]);
    writeLinkLocal(host.mac, this.#own, 0);
    const { reconfigureSec = 0 } = options;
    if (reconfigureSec > 0 && host.random !== undefined)
      this.#peers = new ReconfigurePeers(reconfigureSec, host.random);
  }

  get validSec(): number {
    return this.#options.validSec;
  }

  isActive(lease: number): boolean {
    return this.#isBound[lease] === 1;
  }

  /** Leases that exist, confirmed or not. */
  get used(): number {
    return this.#table.count;
  }

  /** Writes the address of a lease; false if it has none. */
  writeAddress(lease: number, words: Int32Array): boolean {
    const offset = this.#addressOf[lease] as number;
    if (offset === none) return false;
    copyAddress(this.#options.poolStart, 0, words, 0);
    addToAddress(words, 0, offset, 0);
    return true;
  }

  /** The confirmed lease with an address, or -1. */
  leaseOf(words: Int32Array, at: number): number {
    const offset = offsetBetween(this.#options.poolStart, words, at, this.#leaseAt.length);
    const lease = offset < 0 ? none : (this.#leaseAt[offset] as number);
    return lease >= 0 && this.#isBound[lease] === 1 && this.#addressOf[lease] === offset ? lease : none;
  }

  /** Writes the prefix of a lease; false if it has none. */
  writePrefix(lease: number, words: Int32Array): boolean {
    const offset = this.#prefixOf[lease] as number;
    if (offset === none) return false;
    copyAddress(this.#options.delegatedFrom, 0, words, 0);
    addToAddress(words, 0, offset, 128 - this.#options.delegatedLength);
    return true;
  }

  get delegatedLength(): number {
    return this.#options.delegatedLength;
  }

  writeClientMac(lease: number, bytes: Uint8Array, at: number): void {
    this.#lines.writeMac(lease, bytes, at);
  }

  tagsOf(lease: number): number {
    return this.#lines.tagsOf(lease);
  }

  advance(nowMs: number): void {
    const now = Math.floor(nowMs / 1000);
    if (now <= this.#nowSec) return;
    this.#nowSec = now;
    this.#wheel.advance(now, (lease) => this.#free(lease));
    for (const peer of this.#peers?.takeDue(now) ?? []) this.#reconfigure(peer);
  }

  /** Asks a client to renew its lease. */
  #reconfigure({ key, clientId, counter, own, client, route }: ReconfigurePeer): void {
    const at = this.#packets.beginUdp(route.path, maxDhcpv6Bytes);
    if (at < 0) return;
    const { memory } = this.#packets;
    const writer = this.#writer.begin(memory, at, dhcpv6Type.reconfigure, 0);
    writer.bytes(dhcpv6Option.clientId, clientId).bytes(dhcpv6Option.serverId, this.#serverId);
    writer.bytes(dhcpv6Option.reconfigureMessage, Uint8Array.of(dhcpv6Type.renew));
    const { end } = writer.bytes(dhcpv6Option.authentication, unsignedOption(counter));
    signMessage(memory.bytes.subarray(at, end), key);
    this.#packets.setAddresses(own, 0, client, 0);
    this.counters.sent++;
    this.counters.reconfigured++;
    this.#packets.sendUdp(at, end, (dhcpv6Port.server << 16) | dhcpv6Port.client, route);
  }

  /** The lease is over: its line is gone. */
  release(lease: number): void {
    this.#free(lease);
  }

  /** A payload of UDP for the port of servers. */
  receive(memory: Memory, payload: { readonly start: number; readonly end: number }, sender: Dhcpv6Sender): void {
    const { start, end } = payload;
    const { route, source, own = this.#own } = sender;
    const isRelayed = this.#relay.parse(memory, start, end) && this.#relay.type === dhcpv6Type.relayForward;
    this.#isRelayed = isRelayed;
    const [from, to] = isRelayed ? [this.#relay.innerAt, this.#relay.innerEnd] : [start, end];
    if (!this.#message.parse(memory, from, to) || this.#message.clientIdAt < 0) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const length = this.#answer(memory, sender);
    if (length === 0) return;
    const at = this.#packets.beginUdp(route.path, maxDhcpv6Bytes + maxRelayBytes);
    if (at < 0) return;
    const inner = this.#inner.bytes.subarray(0, length);
    let last = at + length;
    if (isRelayed) last = this.#wrap(memory, at, inner);
    else this.#packets.memory.bytes.set(inner, at);
    this.#packets.setAddresses(own, 0, source, 0);
    this.counters.sent++;
    const port = isRelayed ? dhcpv6Port.server : dhcpv6Port.client;
    this.#packets.sendUdp(at, last, (dhcpv6Port.server << 16) | port, route);
  }

  /** An answer goes back as its question came: with the addresses and the interface of the relay. */
  #wrap(request: Memory, at: number, inner: Uint8Array): number {
    const { memory } = this.#packets;
    const { addressesAt, interfaceIdAt, hops } = this.#relay;
    const writer = this.#writer.beginRelay(memory, at, dhcpv6Type.relayReply, hops);
    memory.bytes.set(request.bytes.subarray(addressesAt, addressesAt + relayHeaderBytes - 2), at + 2);
    const idLength = interfaceIdAt < 0 ? 0 : Math.min(optionLength6(request.view, interfaceIdAt), 255);
    const id = request.bytes.subarray(interfaceIdAt, interfaceIdAt + idLength);
    if (interfaceIdAt >= 0) writer.bytes(dhcpv6Option.interfaceId, id);
    return writer.bytes(dhcpv6Option.relayMessage, inner).end;
  }

  /** Writes the answer to the message at hand; returns its length, 0: there is none. */
  #answer(memory: Memory, sender: Dhcpv6Sender): number {
    const message = this.#message;
    if (message.serverIdAt >= 0 && !this.#isForUs(memory)) return 0;
    this.#readKey(memory, sender.line);
    switch (message.type) {
      case dhcpv6Type.solicit: {
        const isRapid = message.hasRapidCommit;
        return this.#give(memory, isRapid ? dhcpv6Type.reply : dhcpv6Type.advertise, { binds: isRapid, sender });
      }
      case dhcpv6Type.request:
      case dhcpv6Type.renew:
      case dhcpv6Type.rebind:
        return this.#give(memory, dhcpv6Type.reply, { binds: true, sender });
      case dhcpv6Type.release:
      case dhcpv6Type.decline:
        return this.#takeBack(memory);
      case dhcpv6Type.informationRequest:
        return this.#begin(memory, dhcpv6Type.reply).#end();
      default:
        return 0;
    }
  }

  #isForUs({ bytes }: Memory): boolean {
    const { serverIdAt, serverIdLength } = this.#message;
    const own = this.#serverId;
    return serverIdLength === own.length && own.every((byte, i) => bytes[serverIdAt + i] === byte);
  }

  #readKey({ bytes }: Memory, line: number): void {
    const { clientIdAt, clientIdLength } = this.#message;
    let [a, b] = [0x811c9dc5, 0x1b873593];
    for (let at = clientIdAt; at < clientIdAt + clientIdLength; at++) {
      const byte = bytes[at] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul((b << 5) ^ (b >>> 27) ^ byte, 0x85ebca6b);
    }
    this.#key[0] = a;
    this.#key[1] = b;
    this.#key[2] = line;
  }

  #give(memory: Memory, type: number, { binds, sender }: { binds: boolean; sender: Dhcpv6Sender }): number {
    const { address, prefix, hasRapidCommit } = this.#message;
    const known = this.#table.find(this.#key, 0);
    const lease = known >= 0 ? known : this.#add();
    this.#begin(memory, type);
    if (type === dhcpv6Type.reply && this.#message.type === dhcpv6Type.solicit && hasRapidCommit)
      this.#writer.bytes(dhcpv6Option.rapidCommit, new Uint8Array(0));
    if (lease >= 0) this.#fill(lease);
    const hasAddress = lease >= 0 && this.writeAddress(lease, this.#words);
    const hasPrefix = lease >= 0 && this.writePrefix(lease, this.#prefixWords);
    if (address.isPresent) {
      const given = hasAddress ? { words: this.#words } : { status: dhcpv6Status.noAddress };
      this.#associate(dhcpv6Option.iaNa, address.iaid, given);
    }
    if (prefix.isPresent) {
      const given = hasPrefix ? { words: this.#prefixWords } : { status: dhcpv6Status.noPrefix };
      this.#associate(dhcpv6Option.iaPd, prefix.iaid, given);
    }
    if (!hasAddress && !hasPrefix) this.counters.exhausted++;
    const isBinding = binds && (hasAddress || hasPrefix);
    if (lease >= 0) this.#keep(lease, sender.route, isBinding);
    if (isBinding) this.#giveKey(lease, memory, sender);
    return this.#end();
  }

  /** A client that agrees to be asked gets a key; one behind a relay cannot be reached directly. */
  #giveKey(lease: number, { bytes, view }: Memory, { route, source, own = this.#own }: Dhcpv6Sender): void {
    const { clientIdAt, clientIdLength } = this.#message;
    const accepts = this.#message.find(view, dhcpv6Option.reconfigureAccept) >= 0;
    if (this.#peers === undefined || !accepts || this.#isRelayed) return;
    const peer = {
      clientId: copyOf(bytes, clientIdAt, clientIdAt + Math.min(clientIdLength, maxClientIdBytes)),
      route: { ...route, destinationMac: route.destinationMac.slice() },
      ...{ own: own.slice(0, addressWords), client: source.slice(0, addressWords) },
    };
    const key = this.#peers.add(lease, peer, this.#nowSec);
    this.#writer.bytes(dhcpv6Option.reconfigureAccept, new Uint8Array(0));
    this.#writer.bytes(dhcpv6Option.authentication, keyOption(key));
  }

  #associate(code: number, iaid: number, given: Pick<Lease6, 'words' | 'status'>): void {
    const { preferredSec, validSec, delegatedLength: prefixLength } = this.#options;
    const times = { preferredSec: Math.min(preferredSec, validSec), validSec };
    const renewSec = Math.floor(times.preferredSec * 0.5);
    const rebindSec = Math.floor(times.preferredSec * 0.8);
    this.#writer.association(code, { iaid, ...given, prefixLength, ...times, renewSec, rebindSec });
  }

  #takeBack(memory: Memory): number {
    const lease = this.#table.find(this.#key, 0);
    this.#begin(memory, dhcpv6Type.reply);
    this.#writer.numbers16(dhcpv6Option.status, [lease < 0 ? dhcpv6Status.noBinding : dhcpv6Status.success]);
    if (lease < 0) return this.#end();
    if (this.#message.type === dhcpv6Type.decline) {
      // The address is another machine's: it stays taken.
      this.#addressOf[lease] = none;
      this.counters.declined++;
    }
    this.#free(lease);
    return this.#end();
  }

  #begin({ bytes }: Memory, type: number): this {
    const { transaction, clientIdAt, clientIdLength } = this.#message;
    const { dnsServers, domains } = this.#options;
    const writer = this.#writer.begin(this.#inner, 0, type, transaction);
    writer.bytes(
      dhcpv6Option.clientId,
      bytes.subarray(clientIdAt, clientIdAt + Math.min(clientIdLength, maxClientIdBytes)),
    );
    writer.bytes(dhcpv6Option.serverId, this.#serverId);
    const servers = new Uint8Array(dnsServers.length * 16);
    const view = new DataView(servers.buffer);
    for (const [i, words] of dnsServers.entries())
      for (let word = 0; word < addressWords; word++) view.setInt32(i * 16 + word * 4, words[word] as number);
    if (servers.length > 0) writer.bytes(dhcpv6Option.dnsServers, servers);
    if (domains.length > 0) writer.bytes(dhcpv6Option.domainList, domains);
    return this;
  }

  #end(): number {
    return this.#writer.end;
  }

  /** A new lease without anything, or -1. */
  #add(): number {
    if (this.#table.count >= this.#options.poolSize) return none;
    const lease = this.#table.add(this.#key, 0);
    this.#addressOf[lease] = none;
    this.#prefixOf[lease] = none;
    this.#isBound[lease] = 0;
    return lease;
  }

  /** Takes from the pools what the client asks for and does not have. */
  #fill(lease: number): void {
    const { address, prefix } = this.#message;
    if (address.isPresent && this.#addressOf[lease] === none) {
      const offset = this.#pool.take();
      this.#addressOf[lease] = offset;
      if (offset !== none) this.#leaseAt[offset] = lease;
    }
    if (prefix.isPresent && this.#prefixOf[lease] === none) this.#prefixOf[lease] = this.#prefixes.take();
  }

  #keep(lease: number, { destinationMac, tags }: FrameRoute, isBinding: boolean): void {
    this.#lines.set(lease, destinationMac, 0, tags);
    if (!isBinding) {
      if (this.#isBound[lease] === 0) this.#wheel.set(lease, this.#nowSec + advertisedSec);
      return;
    }
    if (this.#isBound[lease] === 0) {
      this.#isBound[lease] = 1;
      this.active++;
      this.#host.onLease?.(lease, true);
    }
    this.#wheel.set(lease, this.#nowSec + Math.min(this.#options.validSec, maxLeaseTicks) + 1);
  }

  #free(lease: number): void {
    this.#wheel.clear(lease);
    if (this.#isBound[lease] === 1) {
      this.#isBound[lease] = 0;
      this.active--;
      this.#host.onLease?.(lease, false);
    }
    this.#peers?.remove(lease);
    const [address, prefix] = [this.#addressOf[lease] as number, this.#prefixOf[lease] as number];
    if (address !== none) this.#pool.release(address);
    if (prefix !== none) this.#prefixes.release(prefix);
    this.#table.remove(lease);
  }
}
