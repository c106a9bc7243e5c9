import { createMemory, type Memory } from '../bytes/memory.ts';
import {
  copyMac,
  etherHeaderLength,
  ethernetBytes,
  etherType,
  macBytes,
  maxEthernetBytes,
  writeEtherTypes,
} from '../ethernet/ethernet.ts';
import { writeMulticastMac6 } from '../icmp/neighbour-discovery.ts';
import { isMappedAddress, writeAddress6 } from '../ip/address.ts';
import { type HeaderFields, ipProtocol } from '../ip/header-fields.ts';
import { dontFragment, type Ipv4Fields, ipv4Bytes, moreFragments, writeIpv4 } from '../ip/ipv4.ts';
import { fragmentHeaderBytes, fragmentProtocol, ipv6Bytes, writeFragmentHeader, writeIpv6 } from '../ip/ipv6.ts';
import type { LinkCodec } from '../links/link.ts';
import type { NeighbourCache } from '../neighbours/neighbour-cache.ts';
import type { BurstSink, FrameSink, HostDirectory, SegmentCut } from './hosts.ts';

const multicast = -2;
const maxPacketBytes = 65_535;
/** The longest TCP packet with its headers, each as long as it can be, still has a length that IP can tell. */
const maxBurstBytes = maxPacketBytes - ipv6Bytes;
const maxHeaderBytes = maxEthernetBytes + ipv6Bytes + fragmentHeaderBytes;

export interface IpOutputOptions {
  readonly sink: FrameSink;
  readonly hosts: HostDirectory;
  /** Undefined on links without Ethernet. */
  readonly neighbours: NeighbourCache | undefined;
  readonly fields: HeaderFields;
  /** A label stack between Ethernet and IP. */
  readonly shim: LinkCodec | undefined;
  readonly random: () => number;
}

const checksumAt: Readonly<Record<number, number>> = {
  [ipProtocol.tcp]: 16,
  [ipProtocol.udp]: 6,
  [ipProtocol.icmp]: 2,
  [ipProtocol.icmp6]: 2,
};

/** Fields for packets of a host and an IP protocol to the flow at `at` of `keys`; undefined: the usual ones. */
export type FieldsOf = (keys: Int32Array, at: number, path: number, protocol: number) => HeaderFields | undefined;

/** Writes IP and Ethernet headers before packets of hosts and sends them, in fragments where they are too large. */
export class IpOutput {
  /** Memory of the packet begun last. */
  memory: Memory;
  fields: HeaderFields;
  /** Header fields of the packets of a flow that differ from `fields`; undefined: none do. */
  fieldsOf: FieldsOf | undefined;
  /** Completes an unfragmented packet [start, end) whose IP header is written, such as by a check sequence over it. */
  seal: ((memory: Memory, start: number, end: number) => void) | undefined;
  readonly counters = { packets: 0, bytes: 0, fragments: 0, unreachable: 0, refused: 0 };
  readonly #options: IpOutputOptions;
  /** Packets that are sent in fragments are written here first. */
  readonly #large: Memory = createMemory(maxPacketBytes + maxHeaderBytes);
  readonly #nextHop = new Int32Array(4);
  readonly #shimBytes: number;
  #keys: Int32Array = new Int32Array(0);
  #at = 0;
  #path = 0;
  #protocol = 0;
  #ttl = 0;
  #fields: HeaderFields;
  #neighbour = 0;
  #tags = 0;
  #isV6 = false;
  #isLarge = false;
  #fragmentBytes = 0;
  #identification: number;
  readonly #v4: Ipv4Fields = {
    tos: 0,
    length: 0,
    identification: 0,
    fragment: 0,
    ttl: 0,
    protocol: 0,
    source: 0,
    destination: 0,
  };
  readonly #v6 = { trafficClass: 0, flowLabel: 0, payloadLength: 0, protocol: 0, hopLimit: 0 };

  constructor(options: IpOutputOptions) {
    this.#options = options;
    this.fields = options.fields;
    this.#fields = options.fields;
    this.memory = options.sink.memory;
    this.#shimBytes = options.shim?.headerLength ?? 0;
    this.#identification = Math.floor(options.random() * 0x10000);
  }

  /** Largest IP packet that is sent in one piece. */
  get mtu(): number {
    return this.#options.sink.mtu - this.#shimBytes;
  }

  /** The same for a host: its VLAN tags count where frames are carried in packets. */
  mtuOf(path: number): number {
    const { sink, neighbours, hosts } = this.#options;
    if (sink.carriesTags !== true || neighbours === undefined) return this.mtu;
    return this.mtu - (etherHeaderLength(hosts.tagsOf(path)) - ethernetBytes);
  }

  /**
   * Offset for the upper layer of a packet of up to `length` bytes to the flow at `at` of `keys` (local address, remote
   * address), or -1: no room, no route, or the neighbour is not known yet. `fragmentBytes`: what is larger leaves in
   * fragments of that size; 0: as `fields` say.
   */
  begin(keys: Int32Array, at: number, path: number, protocol: number, length: number, fragmentBytes = 0): number {
    if (!this.#address(keys, at, path, protocol)) return -1;
    this.#fragmentBytes = fragmentBytes;
    const ipLength = length + (this.#isV6 ? ipv6Bytes : ipv4Bytes);
    this.#isLarge = ipLength > this.#maxPacket();
    if (this.#isLarge) {
      this.memory = this.#large;
      return ipLength > maxPacketBytes ? -1 : maxHeaderBytes;
    }
    return this.#beginFrame(length);
  }

  /** Sends the upper layer [offset, offset + length) written after `begin`. `ttl`: instead of that of `fields`. */
  commit(offset: number, length: number, ecn: number, ttl?: number): void {
    const fields = this.#fields;
    this.#ttl = ttl ?? fields.ttl;
    if (fields.invalidChecksum) this.#spoilChecksum(offset);
    this.counters.packets++;
    const tos = (fields.dscp << 2) | (ecn === 0 ? fields.ecn : ecn);
    if (this.#isLarge) this.#commitLarge(offset, length, tos);
    else this.#commitFrame(offset, length, tos);
  }

  /** Longest TCP segment that `beginBurst` takes; 0: it takes none. */
  get maxBurst(): number {
    const { shim } = this.#options;
    const { invalidChecksum, fragmentSize } = this.fields;
    const isPlain = shim === undefined && this.seal === undefined && this.fieldsOf === undefined;
    if (!isPlain || invalidChecksum || fragmentSize > 0) return 0;
    return this.#burst === undefined ? 0 : maxBurstBytes;
  }

  /** Offset for a TCP segment that is cut into smaller ones below, or -1 as `begin` does. */
  beginBurst(keys: Int32Array, at: number, path: number, length: number): number {
    const burst = this.#burst;
    if (burst === undefined || !this.#address(keys, at, path, ipProtocol.tcp)) return -1;
    const headers = etherHeaderLength(this.#tags) + (this.#isV6 ? ipv6Bytes : ipv4Bytes);
    const base = burst.begin(headers + length);
    if (base < 0) {
      this.counters.refused++;
      return -1;
    }
    this.memory = burst.memory;
    return base + headers;
  }

  /** Sends the segment [offset, offset + length) written after `beginBurst`, with `segmentBytes` of its payload in each. */
  commitBurst(offset: number, length: number, ecn: number, segmentBytes: number): void {
    const fields = this.#fields;
    const end = offset + length;
    const headerBytes = (this.memory.view.getUint8(offset + 12) >>> 4) << 2;
    const segments = Math.ceil((length - headerBytes) / segmentBytes);
    this.#ttl = fields.ttl;
    const tos = (fields.dscp << 2) | (ecn === 0 ? fields.ecn : ecn);
    this.#identification = (this.#identification + 1) & 0xffff;
    const start = this.#isV6
      ? this.#writeV6(offset, length, tos, this.#protocol)
      : this.#writeV4(offset, length, tos, fields.df ? dontFragment : 0);
    // Every segment has a number of its own.
    this.#identification = (this.#identification + segments - 1) & 0xffff;
    this.counters.packets += segments;
    this.counters.bytes += (segments - 1) * (offset - start + headerBytes);
    const at = this.#writeLink(start, end);
    const cut: SegmentCut = { tcpAt: offset, dataAt: offset + headerBytes, segmentBytes, isV6: this.#isV6 };
    this.#burst?.commit(at, end - at, cut);
  }

  get #burst(): BurstSink | undefined {
    return this.#options.neighbours === undefined ? undefined : this.#options.sink.burst;
  }

  /** Takes the flow of a packet. False: no route, or the neighbour is not known yet. */
  #address(keys: Int32Array, at: number, path: number, protocol: number): boolean {
    const { neighbours, hosts } = this.#options;
    this.#isV6 = !isMappedAddress(keys, at + 4);
    this.#tags = 0;
    if (neighbours !== undefined) {
      this.#tags = hosts.tagsOf(path);
      this.#neighbour = this.#resolve(keys, at, path, neighbours);
      if (this.#neighbour === -1) return false;
    }
    this.#keys = keys;
    this.#at = at;
    this.#path = path;
    this.#protocol = protocol;
    this.#fields = this.fieldsOf?.(keys, at, path, protocol) ?? this.fields;
    return true;
  }

  #maxPacket(): number {
    const { fragmentSize } = this.#fields;
    const mtu = this.mtuOf(this.#path);
    if (this.#fragmentBytes > 0)
      return Math.min(this.#fragmentBytes + (this.#isV6 ? ipv6Bytes + fragmentHeaderBytes : ipv4Bytes), mtu);
    return fragmentSize > 0 ? Math.min(fragmentSize, mtu) : mtu;
  }

  #resolve(keys: Int32Array, at: number, path: number, neighbours: NeighbourCache): number {
    const first = keys[at + (this.#isV6 ? 4 : 7)] as number;
    const isMulticast = this.#isV6 ? first >>> 24 === 0xff : first >>> 28 === 0xe || first === -1;
    if (isMulticast) return multicast;
    if (!this.#options.hosts.nextHop(path, keys, at + 4, this.#nextHop)) {
      this.counters.unreachable++;
      return -1;
    }
    return neighbours.resolve(this.#nextHop, 0, this.#tags, path);
  }

  /** Offset of the upper layer in a new frame of the sink. */
  #beginFrame(length: number): number {
    const { sink, neighbours } = this.#options;
    const headers =
      (neighbours === undefined ? 0 : etherHeaderLength(this.#tags)) +
      this.#shimBytes +
      (this.#isV6 ? ipv6Bytes : ipv4Bytes);
    const base = sink.begin(headers + length, this.#path, this.#keys, this.#at);
    if (base < 0) {
      this.counters.refused++;
      return -1;
    }
    this.memory = sink.memory;
    return base + headers;
  }

  #commitFrame(offset: number, length: number, tos: number): void {
    if (!this.#isV6) this.#identification = (this.#identification + 1) & 0xffff;
    const start = this.#isV6
      ? this.#writeV6(offset, length, tos, this.#protocol)
      : this.#writeV4(offset, length, tos, this.#fields.df ? dontFragment : 0);
    this.seal?.(this.memory, start, offset + length);
    this.#finish(start, offset + length);
  }

  #writeV4(offset: number, length: number, tos: number, fragment: number): number {
    const v4 = this.#v4;
    v4.tos = tos;
    v4.length = length + ipv4Bytes;
    v4.identification = this.#identification;
    v4.fragment = fragment;
    v4.ttl = this.#ttl;
    v4.protocol = this.#protocol;
    v4.source = this.#keys[this.#at + 3] as number;
    v4.destination = this.#keys[this.#at + 7] as number;
    writeIpv4(this.memory.view, offset - ipv4Bytes, v4);
    return offset - ipv4Bytes;
  }

  #writeV6(offset: number, length: number, tos: number, protocol: number): number {
    const v6 = this.#v6;
    const { view } = this.memory;
    const at = offset - ipv6Bytes;
    v6.trafficClass = tos;
    v6.flowLabel = this.#fields.flowLabel < 0 ? this.#flowLabel() : this.#fields.flowLabel;
    v6.payloadLength = length;
    v6.protocol = protocol;
    v6.hopLimit = this.#ttl;
    writeIpv6(view, at, v6);
    writeAddress6(view, at + 8, this.#keys, this.#at);
    writeAddress6(view, at + 24, this.#keys, this.#at + 4);
    return at;
  }

  /** The same for every packet of a flow (RFC 6437). */
  #flowLabel(): number {
    let hash = 0;
    const end = this.#at + (this.#keys.length >= this.#at + 9 ? 9 : 8);
    for (let i = this.#at; i < end; i++) hash = Math.imul(hash ^ (this.#keys[i] as number), 0x9e3779b1) ^ (hash >>> 15);
    return hash & 0xfffff || 1;
  }

  #finish(start: number, end: number): void {
    const at = this.#writeLink(start, end);
    this.#options.sink.commit(at, end - at);
  }

  /** Puts the link header before the packet [start, end) and returns where it starts. */
  #writeLink(start: number, end: number): number {
    const { neighbours, hosts, shim } = this.#options;
    this.counters.bytes += end - start;
    if (neighbours === undefined) return start;
    const { bytes, view } = this.memory;
    let type: number = this.#isV6 ? etherType.ipv6 : etherType.ipv4;
    let at = start;
    if (shim !== undefined) {
      at = shim.wrap(this.memory, start, end);
      type = etherType.mpls;
    }
    at = writeEtherTypes(view, at, this.#tags, type, hosts.tagTypes);
    if (this.#neighbour !== multicast) copyMac(neighbours.macs, this.#neighbour * macBytes, bytes, at);
    else this.#writeMulticastMac(view, at);
    hosts.writeMac(this.#path, bytes, at + macBytes);
    return at;
  }

  #writeMulticastMac(view: DataView, at: number): void {
    const last = this.#keys[this.#at + 7] as number;
    if (this.#isV6) writeMulticastMac6(this.#keys, this.#at + 4, view, at);
    else if (last === -1) {
      view.setUint16(at, 0xffff);
      view.setInt32(at + 2, -1);
    } else {
      view.setUint16(at, 0x0100);
      view.setInt32(at + 2, 0x5e000000 | (last & 0x7fffff));
    }
  }

  #commitLarge(offset: number, length: number, tos: number): void {
    const overhead = this.#isV6 ? ipv6Bytes + fragmentHeaderBytes : ipv4Bytes;
    const step = Math.max((this.#maxPacket() - overhead) & ~7, 8);
    const source = this.#large.bytes;
    this.#identification = (this.#identification + 1) & 0xffff;
    for (let done = 0; done < length; done += step) {
      const size = Math.min(step, length - done);
      const isMore = done + size < length;
      const extra = this.#isV6 ? fragmentHeaderBytes : 0;
      const at = this.#beginFrame(size + extra);
      // What is left of the packet is useless without this fragment.
      if (at < 0) return;
      this.memory.bytes.set(source.subarray(offset + done, offset + done + size), at + extra);
      this.counters.fragments++;
      if (!this.#isV6)
        this.#finish(this.#writeV4(at, size, tos, (done >> 3) | (isMore ? moreFragments : 0)), at + size);
      else {
        const header = { protocol: this.#protocol, offset: done, isMore, identification: this.#identification };
        writeFragmentHeader(this.memory.view, at, header);
        this.#finish(this.#writeV6(at, size + extra, tos, fragmentProtocol), at + size + extra);
      }
    }
  }

  #spoilChecksum(offset: number): void {
    const at = checksumAt[this.#protocol];
    if (at === undefined) return;
    const { view } = this.memory;
    const wrong = view.getUint16(offset + at) ^ 0x5555;
    view.setUint16(offset + at, wrong === 0 ? 0x5555 : wrong);
  }
}
