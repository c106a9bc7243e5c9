import { KeyTable } from '../../bytes/key-table.ts';
import { copyOf, type Memory } from '../../bytes/memory.ts';
import { TimerWheel } from '../../bytes/timer-wheel.ts';
import { copyMac, etherType, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import { NumberPool } from '../address-pool.ts';
import { broadcastMac, type FrameWriter, udp4HeaderBytes } from '../frames.ts';
import { PeerLines } from '../lines.ts';
import type { RadiusClient } from '../radius/client.ts';
import type { RadiusSessionsOptions } from '../radius/sessions.ts';
import { SetupPace } from '../setup-pace.ts';
import { type AdmittedClient, DhcpAdmission, messageToKeep } from './admission.ts';
import { DhcpMessage, DhcpWriter, dhcpOption, dhcpPort, dhcpType, maxDhcpBytes } from './message.ts';

export interface DhcpServerOptions {
  readonly poolStart: number;
  readonly poolSize: number;
  readonly netmask: number;
  readonly router: number;
  readonly leaseSec: number;
  readonly dnsServers: readonly number[];
  readonly domain: Uint8Array;
  /** New clients that get an offer a second; 0: no limit. */
  readonly setupPerSec?: number;
  /** A RADIUS server decides who gets an address. */
  readonly radius?: Omit<RadiusSessionsOptions, 'isPpp'> | undefined;
}

export interface DhcpServerHost {
  readonly frames: FrameWriter;
  /** MAC of the server. */
  readonly mac: Uint8Array;
  /** A lease is confirmed, or over. */
  onLease?(lease: number, isActive: boolean): void;
  readonly radius?: RadiusClient | undefined;
  readonly random?: (() => number) | undefined;
  /** A client has been let in or refused by the RADIUS server. */
  onAdmission?: ((client: AdmittedClient) => void) | undefined;
}

/** An offer that is not accepted is forgotten after this time. */
const offerSec = 30;
/** A declined address is not handed out for this time. */
const declinedSec = 600;
const keyWords = 3;
const anywhere = -1;
const forever = 0xffffffff;
/** The wheel of leases holds about 34 years in seconds. */
const maxLeaseTicks = 2 ** 30;

/** The place a request came from, for the answer. */
export interface RequestOrigin {
  readonly tags: number;
  /** Where the MAC of the sender stands in the memory of the request. */
  readonly macAt: number;
}

/** A DHCP server (RFC 2131) with one pool. Leases lie in typed arrays; one costs about 75 bytes. */
export class DhcpServer {
  readonly counters = { received: 0, sent: 0, invalid: 0, offers: 0, acks: 0, naks: 0, exhausted: 0, declined: 0 };
  /** Leases that clients have confirmed. */
  active = 0;
  readonly admission: DhcpAdmission | undefined;
  readonly #pool: NumberPool;
  readonly #options: DhcpServerOptions;
  readonly #host: DhcpServerHost;
  readonly #table: KeyTable;
  readonly #addressOf: Int32Array;
  readonly #isBound: Uint8Array;
  /** Leases by their address; -1: none. */
  readonly #leaseOf: Int32Array;
  readonly #lines: PeerLines;
  readonly #wheel: TimerWheel;
  readonly #pace: SetupPace;
  /** Leases of clients that a RADIUS server has let in. */
  readonly #admitted = new Map<number, { readonly mac: Uint8Array; readonly tags: number }>();
  readonly #message = new DhcpMessage();
  readonly #writer = new DhcpWriter();
  readonly #key = new Int32Array(keyWords);
  readonly #clientMac = new Uint8Array(macBytes);
  readonly #frameMac = new Uint8Array(macBytes);
  #nowSec = 0;
  /** The address that the client at hand is to have; 0: any. */
  #address = 0;

  constructor(host: DhcpServerHost, options: DhcpServerOptions) {
    this.#host = host;
    this.#options = options;
    this.#pool = new NumberPool(options.poolSize);
    this.#table = new KeyTable({ width: keyWords, seed: 0x3c6ef372, capacity: Math.min(options.poolSize, 1 << 17) });
    this.#addressOf = new Int32Array(options.poolSize);
    this.#isBound = new Uint8Array(options.poolSize);
    this.#leaseOf = new Int32Array(options.poolSize).fill(-1);
    this.#lines = new PeerLines(options.poolSize);
    this.#pace = new SetupPace(options.setupPerSec ?? 0);
    const { radius: client, random = () => 0, onAdmission } = host;
    if (client !== undefined && options.radius !== undefined)
      this.admission = new DhcpAdmission(
        {
          ...{ client, random, onChange: (one) => onAdmission?.(one) },
          replay: (memory, tags) => this.receive(memory, macBytes, memory.bytes.length, { tags, macAt: 0 }),
        },
        options.radius,
      );
    this.#wheel = new TimerWheel(0, options.poolSize * 2);
  }

  /** Addresses that are offered, leased or declined. */
  get used(): number {
    return this.#pool.used;
  }

  get leaseSec(): number {
    return this.#options.leaseSec;
  }

  /** The confirmed lease of an address, or -1. */
  leaseOf(address: number): number {
    const offset = (address - this.#options.poolStart) | 0;
    const lease = offset >= 0 && offset < this.#options.poolSize ? (this.#leaseOf[offset] as number) : -1;
    return lease >= 0 && this.isActive(lease) ? lease : -1;
  }

  isActive(lease: number): boolean {
    return this.#isBound[lease] === 1;
  }

  addressAt(lease: number): number {
    return (this.#options.poolStart + (this.#addressOf[lease] as number)) | 0;
  }

  /** MAC that requests of the client came from: its own, or that of a relay. */
  writeClientMac(lease: number, bytes: Uint8Array, at: number): void {
    this.#lines.writeMac(lease, bytes, at);
  }

  /** VLAN tags of the client. */
  tagsOf(lease: number): number {
    return this.#lines.tagsOf(lease);
  }

  advance(nowMs: number): void {
    this.admission?.advance(nowMs);
    const now = Math.floor(nowMs / 1000);
    if (now <= this.#nowSec) return;
    this.#nowSec = now;
    this.#wheel.advance(now, (id) => {
      if (id < this.#options.poolSize) this.#free(id);
      else this.#pool.release(id - this.#options.poolSize);
    });
  }

  /** A payload of UDP for the port of servers. */
  receive(memory: Memory, start: number, end: number, origin: RequestOrigin): void {
    const message = this.#message;
    if (!message.parse(memory, start, end) || message.isReply) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    this.#readKey(memory, origin.tags);
    copyMac(memory.bytes, message.macAt, this.#clientMac, 0);
    copyMac(memory.bytes, origin.macAt, this.#frameMac, 0);
    const { type } = message;
    this.#address = 0;
    const isAsking = type === dhcpType.discover || type === dhcpType.request;
    if (isAsking && this.admission !== undefined) {
      const keep = () => messageToKeep(memory, origin.macAt, start, end);
      const grant = this.admission.grantOf(this.#clientMac, origin.tags, keep);
      if (grant === undefined) return;
      this.#address = grant.address;
    }
    if (type === dhcpType.discover) this.#onDiscover(memory, origin.tags);
    else if (type === dhcpType.request) this.#onRequest(memory, origin.tags);
    else if (type === dhcpType.release) this.#onRelease();
    else if (type === dhcpType.decline) this.#onDecline(memory);
    else if (type === dhcpType.inform) this.#answer(memory, dhcpType.ack, 0, origin.tags);
  }

  /** A client is known by its identifier, or its MAC, within its VLAN. */
  #readKey(memory: Memory, tags: number): void {
    const id = this.#message.find(dhcpOption.clientId);
    const start = id < 0 ? this.#message.macAt : id;
    const end = start + (id < 0 ? macBytes : this.#message.lengthOf(dhcpOption.clientId));
    let [a, b] = [0x811c9dc5, 0x1b873593];
    for (let at = start; at < end; at++) {
      const byte = memory.bytes[at] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul((b << 5) ^ (b >>> 27) ^ byte, 0x85ebca6b);
    }
    this.#key[0] = a;
    this.#key[1] = b;
    this.#key[2] = vlanIds(tags);
  }

  #onDiscover(memory: Memory, tags: number): void {
    const isNew = this.#table.find(this.#key, 0) < 0;
    if (isNew && !this.#pace.hasRoom(this.#nowSec * 1000)) return;
    if (isNew) this.#pace.take();
    const lease = this.#leaseFor(memory);
    if (lease < 0) {
      this.counters.exhausted++;
      return;
    }
    const isRapid = this.#message.find(dhcpOption.rapidCommit) >= 0;
    if (isRapid) this.#bind(lease, tags);
    else if (this.#isBound[lease] === 0) this.#wheel.set(lease, this.#nowSec + offerSec);
    this.#answer(memory, isRapid ? dhcpType.ack : dhcpType.offer, this.addressAt(lease), tags);
  }

  #onRequest(memory: Memory, tags: number): void {
    const message = this.#message;
    const server = message.word(memory, dhcpOption.serverId);
    const lease = this.#table.find(this.#key, 0);
    if (server !== 0 && server !== this.#options.router) {
      // The client has chosen another server.
      if (lease >= 0 && this.#isBound[lease] === 0) this.#free(lease);
      return;
    }
    const wanted = message.word(memory, dhcpOption.requestedAddress, message.clientAddress);
    const known = lease >= 0 ? lease : this.#claim(wanted);
    if (known < 0 || this.addressAt(known) !== wanted) {
      this.#answer(memory, dhcpType.nak, 0, tags);
      return;
    }
    this.#bind(known, tags);
    this.#answer(memory, dhcpType.ack, wanted, tags);
  }

  #onRelease(): void {
    const lease = this.#table.find(this.#key, 0);
    if (lease >= 0) this.#free(lease, true);
  }

  #onDecline(memory: Memory): void {
    const lease = this.#table.find(this.#key, 0);
    if (lease < 0 || this.#message.word(memory, dhcpOption.requestedAddress) !== this.addressAt(lease)) return;
    const offset = this.#addressOf[lease] as number;
    this.#free(lease);
    this.#pool.takeAt(offset);
    this.#wheel.set(this.#options.poolSize + offset, this.#nowSec + declinedSec);
    this.counters.declined++;
  }

  /** The lease of the client, or a new one of the address it asks for, or of any. */
  #leaseFor(memory: Memory): number {
    const known = this.#table.find(this.#key, 0);
    if (known >= 0) return known;
    if (this.#address !== 0) return this.#claim(this.#address);
    const claimed = this.#claim(this.#message.word(memory, dhcpOption.requestedAddress));
    if (claimed >= 0) return claimed;
    const offset = this.#pool.take();
    return offset < 0 ? -1 : this.#add(offset);
  }

  #claim(address: number): number {
    const offset = (address - this.#options.poolStart) | 0;
    return this.#pool.takeAt(offset) ? this.#add(offset) : -1;
  }

  #add(offset: number): number {
    const lease = this.#table.add(this.#key, 0);
    this.#addressOf[lease] = offset;
    this.#leaseOf[offset] = lease;
    this.#isBound[lease] = 0;
    return lease;
  }

  #bind(lease: number, tags: number): void {
    const leaseSec = this.#leaseSecOf(tags);
    this.#lines.set(lease, this.#frameMac, 0, tags);
    if (this.#isBound[lease] === 0) {
      this.#isBound[lease] = 1;
      this.active++;
      if (this.admission !== undefined) {
        const mac = copyOf(this.#clientMac);
        this.#admitted.set(lease, { mac, tags });
        this.admission.start(mac, tags, this.addressAt(lease));
      }
      this.#host.onLease?.(lease, true);
    }
    // Clients rebind until the last second of a lease.
    if (leaseSec === forever) this.#wheel.clear(lease);
    else this.#wheel.set(lease, this.#nowSec + Math.min(leaseSec, maxLeaseTicks) + 1);
  }

  /** A lease ends with the session that a RADIUS server has granted. */
  #leaseSecOf(tags: number): number {
    const left = this.admission?.leftSec(this.#clientMac, tags) ?? Number.POSITIVE_INFINITY;
    return Math.max(Math.min(this.#options.leaseSec, left), 1);
  }

  #free(lease: number, isReleased = false): void {
    this.#wheel.clear(lease);
    const admitted = this.#admitted.get(lease);
    if (admitted !== undefined) this.admission?.end(admitted.mac, admitted.tags, isReleased);
    this.#admitted.delete(lease);
    if (this.#isBound[lease] === 1) {
      this.#isBound[lease] = 0;
      this.active--;
      this.#host.onLease?.(lease, false);
    }
    const offset = this.#addressOf[lease] as number;
    this.#leaseOf[offset] = -1;
    this.#pool.release(offset);
    this.#table.remove(lease);
  }

  #answer(request: Memory, type: number, address: number, tags: number): void {
    const { frames, mac } = this.#host;
    const message = this.#message;
    const base = frames.begin(0, udp4HeaderBytes + maxDhcpBytes);
    if (base < 0) return;
    const at = base + udp4HeaderBytes;
    const end = this.#write(request, at, { type, address, leaseSec: this.#leaseSecOf(tags) });
    const { relayAddress } = message;
    const isDirect = relayAddress === 0;
    const isBroadcast = isDirect && (message.isBroadcast || type === dhcpType.nak) && message.clientAddress === 0;
    const destination = isDirect ? message.clientAddress || (isBroadcast ? anywhere : address) : relayAddress;
    const packet = frames.wrapUdp4(at, end, {
      source: this.#options.router,
      destination,
      sourcePort: dhcpPort.server,
      destinationPort: isDirect ? dhcpPort.client : dhcpPort.server,
    });
    const unicastMac = isDirect && message.clientAddress === 0 ? this.#clientMac : this.#frameMac;
    this.#count(type);
    const destinationMac = isBroadcast ? broadcastMac : unicastMac;
    frames.send(packet, end, etherType.ipv4, { path: 0, tags, sourceMac: mac, destinationMac });
  }

  #write(
    request: Memory,
    at: number,
    { type, address, leaseSec }: { type: number; address: number; leaseSec: number },
  ): number {
    const message = this.#message;
    const options = this.#options;
    const writer = this.#writer.begin(this.#host.frames.memory, at, {
      isReply: true,
      type,
      xid: message.xid,
      isBroadcast: message.isBroadcast,
      clientAddress: type === dhcpType.nak ? 0 : message.clientAddress,
      yourAddress: address,
      relayAddress: message.relayAddress,
      mac: this.#clientMac,
    });
    writer.word(dhcpOption.serverId, options.router);
    if (type !== dhcpType.nak) {
      if (address !== 0) {
        writer.word(dhcpOption.leaseTime, leaseSec | 0);
        writer.word(dhcpOption.renewalTime, Math.floor(leaseSec / 2));
        writer.word(dhcpOption.rebindingTime, Math.floor(leaseSec * 0.875));
      }
      if (type === dhcpType.ack && message.type === dhcpType.discover) writer.empty(dhcpOption.rapidCommit);
      writer.word(dhcpOption.netmask, options.netmask).word(dhcpOption.router, options.router);
      if (options.dnsServers.length > 0) writer.words(dhcpOption.dnsServers, options.dnsServers);
      if (options.domain.length > 0) writer.bytes(dhcpOption.domain, options.domain);
    }
    this.#echoRelayOption(request);
    return writer.end();
  }

  /** Option 82 goes back as it came (RFC 3046). */
  #echoRelayOption(request: Memory): void {
    const at = this.#message.find(dhcpOption.relayAgent);
    if (at < 0) return;
    const length = this.#message.lengthOf(dhcpOption.relayAgent);
    this.#writer.bytes(dhcpOption.relayAgent, request.bytes.subarray(at, at + length));
  }

  #count(type: number): void {
    this.counters.sent++;
    if (type === dhcpType.offer) this.counters.offers++;
    else if (type === dhcpType.ack) this.counters.acks++;
    else if (type === dhcpType.nak) this.counters.naks++;
  }
}
