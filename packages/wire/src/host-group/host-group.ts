import type { Memory } from '../bytes/memory.ts';
import { EthernetHeader, etherType, isSameMac, macBytes, vlanIds } from '../ethernet/ethernet.ts';
import { copyAddress, readAddress6, writeMapped } from '../ip/address.ts';
import { defaultHeaderFields, type HeaderFields, ipProtocol } from '../ip/header-fields.ts';
import { fragmentOffsetMask, Ipv4Header, moreFragments } from '../ip/ipv4.ts';
import { Ipv6Header } from '../ip/ipv6.ts';
import { completeChecksum } from '../ip/pseudo-header.ts';
import { ReassemblyStore } from '../ip/reassembly.ts';
import type { LinkCodec } from '../links/link.ts';
import { NeighbourCache } from '../neighbours/neighbour-cache.ts';
import type { SegmentSink, TcpLimits } from '../tcp/context.ts';
import { Tcp } from '../tcp/tcp.ts';
import { type FlowShare, isInShare } from './flow-share.ts';
import type { FrameSink, HostDirectory } from './hosts.ts';
import { type IcmpHandler, IcmpResponder } from './icmp-responder.ts';
import { IpOutput } from './ip-output.ts';
import { NeighbourTalk } from './neighbour-talk.ts';
import type { Packet } from './packet.ts';
import { UdpLayer } from './udp-layer.ts';

export interface HostGroupOptions {
  readonly sink: FrameSink;
  readonly hosts: HostDirectory;
  /** Microseconds, an integer that only grows. */
  readonly nowUs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** False on links that carry IP packets without Ethernet. */
  readonly hasEthernet?: boolean;
  readonly fields?: Partial<HeaderFields>;
  /** An MPLS label stack between Ethernet and IP. */
  readonly shim?: LinkCodec | undefined;
  /** Verify checksums of received packets. False where the kernel leaves them to hardware that does not exist. */
  readonly checks?: boolean;
  readonly answersClosedPorts?: boolean;
  readonly tcpLimits?: Partial<TcpLimits>;
  readonly icmp?: IcmpHandler;
  /** Other groups have the same hosts and the rest of the flows. */
  readonly share?: FlowShare | undefined;
  readonly neighbours?: { readonly retryMs?: number; readonly maxRequests?: number; readonly reachableMs?: number };
}

/** Takes packets of all IP protocols but ICMP. */
export type RawHandler = (packet: Packet, protocol: number, memory: Memory, start: number, end: number) => void;

/** Takes packets of an IP protocol, or of a UDP port, that carry a tunnel. */
export interface PacketHandler {
  /** The payload of the protocol [start, end). */
  receive(packet: Packet, memory: Memory, start: number, end: number): void;
}

/** Takes packets to groups, which no host has as its address. */
export interface MulticastHandler {
  /** The payload of an IP protocol [start, end); the path of the packet is -1. */
  receive(packet: Packet, protocol: number, memory: Memory, start: number, end: number): void;
}

/** Takes frames that carry neither IP nor ARP: the frame [start, end) and its header. */
export type OtherFrameHandler = (memory: Memory, start: number, end: number, header: EthernetHeader) => void;

/** Messages of MLD (RFC 2710, RFC 3810). */
const membershipTypes: readonly number[] = [130, 131, 132, 143];

/** Segments of TCP leave as the payload of IP packets. */
const segmentSinkOf = (output: IpOutput): SegmentSink => ({
  get memory() {
    return output.memory;
  },
  begin: (keys, at, path, length, fragmentBytes) => output.begin(keys, at, path, ipProtocol.tcp, length, fragmentBytes),
  commit: (offset, length, ecn, ttl) => output.commit(offset, length, ecn, ttl),
  mtuOf: (path) => output.mtuOf(path),
  burst: {
    get maxBytes() {
      return output.maxBurst;
    },
    begin: (keys, at, path, length) => output.beginBurst(keys, at, path, length),
    commit: (offset, length, ecn, segmentBytes) => output.commitBurst(offset, length, ecn, segmentBytes),
  },
});

const word = (random: () => number): number => Math.floor(random() * 2 ** 32) | 0;

/**
 * A group of emulated hosts behind one link: frames in by `receive`, out through the sink. Everything between is here:
 * ARP and neighbour discovery, fragments, ICMP, UDP and TCP. Does no I/O and reads no clock.
 */
export class HostGroup {
  readonly tcp: Tcp;
  readonly udp: UdpLayer;
  readonly icmp: IcmpResponder;
  readonly output: IpOutput;
  readonly neighbours: NeighbourCache | undefined;
  readonly talk: NeighbourTalk | undefined;
  readonly reassembly = new ReassemblyStore();
  readonly counters = { frames: 0, foreign: 0, invalid: 0, unknownProtocols: 0 };
  /** Takes all packets to the hosts except ICMP; TCP and UDP then get none. */
  rawHandler: RawHandler | undefined;
  multicast: MulticastHandler | undefined;
  otherFrames: OtherFrameHandler | undefined;
  /** Takes frames whose packets are for addresses that no host has: those that a router would forward. */
  transit: OtherFrameHandler | undefined;
  readonly #hosts: HostDirectory;
  readonly #checks: boolean;
  readonly #shim: LinkCodec | undefined;
  readonly #share: FlowShare | undefined;
  readonly #ethernet = new EthernetHeader();
  readonly #v4 = new Ipv4Header();
  readonly #v6 = new Ipv6Header();
  readonly #packet: Packet;
  readonly #mac = new Uint8Array(macBytes);
  readonly #nextHop = new Int32Array(4);
  readonly #fragmentKey = new Int32Array(10);
  readonly #fragment = { key: this.#fragmentKey, offset: 0, isMore: false };
  readonly #protocols = new Map<number, PacketHandler>();
  readonly #startUs: number;
  #nowMs = 0;
  #isSettled = false;

  constructor(options: HostGroupOptions) {
    const { sink, hosts, random, hasEthernet = true, checks = true, shim, share } = options;
    const answers = share === undefined || share.index === 0;
    this.#hosts = hosts;
    this.#checks = checks;
    this.#shim = shim;
    this.#share = share;
    this.#startUs = options.nowUs;
    this.#packet = { addresses: new Int32Array(8), path: 0, ecn: 0, checks, tags: 0, ttl: 0, isV6: false };
    if (hasEthernet) {
      const talk = new NeighbourTalk(sink, hosts, answers);
      this.talk = talk;
      this.neighbours = new NeighbourCache({
        ...options.neighbours,
        seed: word(random),
        solicit: (keys, at, tags, path) => talk.solicit(keys, at, tags, path),
        onSettled: (isReachable) => this.#onNeighbourSettled(isReachable),
      });
    }
    const fields = { ...defaultHeaderFields, ...options.fields };
    const output = new IpOutput({ sink, hosts, neighbours: this.neighbours, fields, shim, random });
    this.output = output;
    this.tcp = new Tcp({
      nowUs: options.nowUs,
      random,
      limits: options.tcpLimits ?? {},
      answersClosedPorts: options.answersClosedPorts ?? true,
      sink: segmentSinkOf(output),
    });
    this.udp = new UdpLayer(output);
    const { tcp, udp } = this;
    this.icmp = new IcmpResponder({
      output,
      tcp,
      udp,
      handler: options.icmp,
      answers,
      answersClosedPorts: options.answersClosedPorts,
    });
  }

  /**
   * Handles the frame (or, without Ethernet, the IP packet) [start, end). Call `flush` after a batch. `isChecked`: the
   * checksums of the transport need no verification, as those that a kernel on the same machine left out.
   */
  receive(memory: Memory, start: number, end: number, isChecked = false): void {
    this.counters.frames++;
    this.#packet.checks = this.#checks && !isChecked;
    if (this.neighbours === undefined) {
      this.#receiveIp(memory, start, end, 0, -1);
      return;
    }
    const header = this.#ethernet;
    if (!header.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    const { type, payload, tags } = header;
    if (type === etherType.ipv4 || type === etherType.ipv6) this.#receiveIp(memory, payload, end, tags, start);
    else if (type === etherType.arp) this.talk?.receiveArp(memory, payload, end, tags, this.neighbours);
    else if (type === etherType.mpls && this.#shim !== undefined) {
      const inner = this.#shim.unwrap(memory, payload, end);
      if (inner >= 0) this.#receiveIp(memory, inner, end, tags, start);
    } else if (this.otherFrames !== undefined) this.otherFrames(memory, start, end, header);
    else this.counters.unknownProtocols++;
  }

  /** Sends what received frames and calls have caused. */
  flush(): void {
    if (this.#isSettled) {
      this.#isSettled = false;
      this.udp.retry();
      this.icmp.retry();
      while (this.tcp.blockedCount > 0) {
        const before = this.tcp.blockedCount;
        this.tcp.unblock();
        if (this.tcp.blockedCount >= before) break;
      }
    }
    this.tcp.flush();
  }

  /** Sets the time and runs timers. */
  advance(nowUs: number): void {
    this.#nowMs = Math.floor((nowUs - this.#startUs) / 1000);
    this.neighbours?.advance(this.#nowMs);
    this.reassembly.expire(this.#nowMs);
    this.icmp.advance(this.#nowMs);
    this.tcp.advance(nowUs);
    this.flush();
  }

  /** The sink has room again. */
  unblock(): void {
    this.udp.retry();
    this.icmp.retry();
    this.tcp.unblock();
    this.tcp.flush();
  }

  /** Microseconds until a timer may be due, at most `horizonUs`. */
  idleUs(horizonUs: number): number {
    const horizon =
      this.neighbours !== undefined && this.neighbours.pendingCount > 0 ? Math.min(horizonUs, 10_000) : horizonUs;
    return this.tcp.idleUs(horizon);
  }

  /** Registers what handles an IP protocol other than ICMP, UDP and TCP. */
  handleProtocol(protocol: number, handler: PacketHandler): void {
    this.#protocols.set(protocol, handler);
  }

  #receiveIp(memory: Memory, start: number, end: number, tags: number, frame: number): void {
    const version = start < end ? memory.view.getUint8(start) >>> 4 : 0;
    const packet = this.#packet;
    packet.tags = tags;
    const isValid =
      version === 4 ? this.#parseV4(memory, start, end) : version === 6 && this.#parseV6(memory, start, end);
    if (!isValid) {
      this.counters.invalid++;
      return;
    }
    const host = this.#hosts.indexOf(packet.addresses, 0);
    packet.path = host;
    if (host < 0 ? !this.#isForAllNodes(packet, memory, frame) : !this.#isForHost(memory, frame, host, tags)) {
      this.counters.foreign++;
      if (host < 0 && frame >= 0) this.transit?.(memory, frame, end, this.#ethernet);
      return;
    }
    const header = version === 4 ? this.#v4 : this.#v6;
    if (header.isFragment) this.#receiveFragment(memory, version === 4);
    else this.#dispatch(header.protocol, memory, header.payload, header.end);
  }

  #parseV4(memory: Memory, start: number, end: number): boolean {
    const v4 = this.#v4;
    const packet = this.#packet;
    if (!v4.parse(memory, start, end, this.#checks)) return false;
    writeMapped(packet.addresses, 0, v4.destination);
    writeMapped(packet.addresses, 4, v4.source);
    packet.ecn = v4.tos & 3;
    packet.ttl = v4.ttl;
    packet.isV6 = false;
    return true;
  }

  #parseV6(memory: Memory, start: number, end: number): boolean {
    const v6 = this.#v6;
    const packet = this.#packet;
    if (!v6.parse(memory, start, end)) return false;
    readAddress6(memory.view, start + 24, packet.addresses, 0);
    readAddress6(memory.view, start + 8, packet.addresses, 4);
    packet.ecn = v6.trafficClass & 3;
    packet.ttl = v6.hopLimit;
    packet.isV6 = true;
    return true;
  }

  /** A frame for another MAC or VLAN is not for the host, even if the address is its own. */
  #isForHost({ bytes }: Memory, frame: number, host: number, tags: number): boolean {
    if (frame < 0) return true;
    if (vlanIds(tags) !== vlanIds(this.#hosts.tagsOf(host))) return false;
    if (((bytes[frame] as number) & 1) !== 0) return true;
    this.#hosts.writeMac(host, this.#mac, 0);
    return isSameMac(bytes, frame, this.#mac, 0);
  }

  /**
   * Multicast of IPv6: neighbour solicitations go to addresses that no host has. Of IPv4, only for a handler, also what
   * is broadcast on the link: the last address of a network.
   */
  #isForAllNodes({ isV6, addresses }: Packet, { bytes }: Memory, frame: number): boolean {
    if (isV6) return (addresses[0] as number) >>> 24 === 0xff;
    if (this.multicast === undefined) return false;
    const isBroadcast = frame >= 0 && bytes[frame] === 0xff;
    return isBroadcast || (addresses[3] as number) >>> 28 === 0xe || addresses[3] === -1;
  }

  #receiveFragment(memory: Memory, isV4: boolean): void {
    const key = this.#fragmentKey;
    const fragment = this.#fragment;
    const header = isV4 ? this.#v4 : this.#v6;
    copyAddress(this.#packet.addresses, 0, key, 0);
    copyAddress(this.#packet.addresses, 4, key, 4);
    key[8] = header.identification;
    key[9] = isV4 ? header.protocol : 0;
    fragment.offset = isV4 ? (this.#v4.fragment & fragmentOffsetMask) * 8 : this.#v6.fragment & ~7;
    fragment.isMore = isV4 ? (this.#v4.fragment & moreFragments) !== 0 : (this.#v6.fragment & 1) !== 0;
    const whole = this.reassembly.add(fragment, memory, header.payload, header.end, this.#nowMs);
    if (whole !== undefined) this.#dispatch(header.protocol, whole.memory, 0, whole.length);
  }

  #dispatch(protocol: number, memory: Memory, start: number, end: number): void {
    const packet = this.#packet;
    if (this.#share !== undefined && !isInShare(this.#share, packet, protocol, memory, start, end)) return;
    const isIcmp = protocol === (packet.isV6 ? ipProtocol.icmp6 : ipProtocol.icmp);
    if (this.rawHandler !== undefined && !isIcmp) {
      if (packet.path < 0) return;
      if (!packet.checks) completeChecksum(packet.addresses, protocol, memory, start, end);
      this.rawHandler(packet, protocol, memory, start, end);
    } else if (packet.path < 0 && this.multicast !== undefined && !this.#isOwnIcmp(protocol, memory, start, end))
      this.multicast.receive(packet, protocol, memory, start, end);
    else if (protocol === ipProtocol.tcp) {
      if (packet.path >= 0) this.tcp.receive(memory, start, end, packet);
    } else if (protocol === ipProtocol.udp) {
      if (packet.path >= 0 && !this.udp.receive(packet, memory, start, end))
        this.icmp.refusePort(packet, memory, start, end);
    } else if (isIcmp) {
      this.icmp.receive(packet, memory, start, end, this.talk, this.neighbours);
    } else {
      const handler = packet.path >= 0 ? this.#protocols.get(protocol) : undefined;
      if (handler === undefined) this.counters.unknownProtocols++;
      else handler.receive(packet, memory, start, end);
    }
  }

  /** Messages of ICMPv6 to groups are for the hosts themselves, except those about the members of groups. */
  #isOwnIcmp(protocol: number, { bytes }: Memory, start: number, end: number): boolean {
    if (protocol !== ipProtocol.icmp6) return false;
    return start >= end || !membershipTypes.includes(bytes[start] as number);
  }

  #onNeighbourSettled(isReachable: boolean): void {
    this.#isSettled = true;
    const { neighbours } = this;
    if (isReachable || neighbours === undefined) return;
    const hop = this.#nextHop;
    const isAffected = (path: number, keys: Int32Array, at: number): boolean =>
      this.#hosts.nextHop(path, keys, at + 4, hop) && neighbours.hasFailed(hop, 0, this.#hosts.tagsOf(path));
    this.tcp.failBlocked(isAffected, 'EHOSTUNREACH');
    this.udp.dropUnreachable(isAffected);
    this.icmp.dropUnreachable(isAffected);
  }
}
