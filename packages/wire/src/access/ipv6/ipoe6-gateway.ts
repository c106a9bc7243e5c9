import type { Memory } from '../../bytes/memory.ts';
import { etherType, isSameMac, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import { IcmpMessage, icmp6Type } from '../../icmp/icmp.ts';
import {
  advertisementFlags,
  NeighbourMessage,
  neighbourBodyBytes,
  writeNeighbourBody,
} from '../../icmp/neighbour-discovery.ts';
import { copyAddress, isSameAddress } from '../../ip/address.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { Ipv6Header } from '../../ip/ipv6.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { UdpHeader } from '../../udp/udp.ts';
import { dhcpv6Port } from '../dhcpv6/message.ts';
import { Dhcpv6Server } from '../dhcpv6/server.ts';
import type { Dhcpv6ServerOptions } from '../dhcpv6/server-options.ts';
import type { FrameWriter } from '../frames.ts';
import { NeighbourTable } from './neighbour-table.ts';
import {
  addressWords,
  allNodes,
  isLinkLocal,
  linkHopLimit,
  PacketWriter6,
  readAddresses6,
  replyRoute,
  unspecified,
  writeLinkLocal,
} from './packets.ts';
import {
  type AdvertisedRouter,
  advertisementBytes,
  advertisementWord,
  writeAdvertisement,
} from './router-advertisement.ts';

const routerLifetimeSec = 1800;

export interface Ipoe6GatewayOptions {
  /** Address of the gateway; beside it the link-local address of its MAC is answered. */
  readonly address: Int32Array;
  /** Addresses by DHCPv6. */
  readonly dhcpv6?: Dhcpv6ServerOptions | undefined;
  /** Prefix of 64 bits that hosts make addresses from. */
  readonly prefix?: AdvertisedRouter['prefix'];
}

export interface Ipoe6GatewayHost {
  readonly frames: FrameWriter;
  readonly mac: Uint8Array;
  readonly random?: () => number;
  onLease?: ((lease: number, isActive: boolean) => void) | undefined;
  /** A packet of a subscriber that is not for the gateway itself. */
  onPacket?(memory: Memory, start: number, end: number): void;
}

/** The IPv6 router of subscribers without PPP: advertises itself, hands out addresses, answers solicitations and echoes. */
export class Ipoe6Gateway {
  readonly dhcpv6: Dhcpv6Server | undefined;
  readonly counters = { sent: 0, received: 0, invalid: 0 };
  readonly #host: Ipoe6GatewayHost;
  readonly #address: Int32Array;
  readonly #linkLocal = new Int32Array(addressWords);
  readonly #router: AdvertisedRouter;
  readonly #packets: PacketWriter6;
  readonly #ip = new Ipv6Header();
  readonly #icmp = new IcmpMessage();
  readonly #udp = new UdpHeader();
  readonly #neighbour = new NeighbourMessage();
  readonly #received = new Int32Array(2 * addressWords);
  readonly #peerMac = new Uint8Array(macBytes);
  /** Hosts with addresses of the prefix. */
  readonly #neighbours: NeighbourTable | undefined;

  constructor(host: Ipoe6GatewayHost, options: Ipoe6GatewayOptions) {
    const { mac, frames, onLease } = host;
    const { address, dhcpv6, prefix } = options;
    this.#host = host;
    this.#address = address;
    this.#packets = new PacketWriter6(frames);
    if (isLinkLocal(address, 0)) copyAddress(address, 0, this.#linkLocal, 0);
    else writeLinkLocal(mac, this.#linkLocal, 0);
    this.#router = { mac, isManaged: dhcpv6 !== undefined, lifetimeSec: routerLifetimeSec, prefix };
    if (prefix !== undefined) this.#neighbours = new NeighbourTable(prefix.words);
    if (dhcpv6 !== undefined) this.dhcpv6 = new Dhcpv6Server({ frames, mac, random: host.random, onLease }, dhcpv6);
  }

  advance(nowMs: number): void {
    this.dhcpv6?.advance(nowMs);
  }

  /** An IPv6 packet [payload, end) of a frame whose addresses stand at `frame`. */
  receive(memory: Memory, frame: number, { payload, tags }: { payload: number; tags: number }, end: number): void {
    const ip = this.#ip;
    if (!ip.parse(memory, payload, end)) {
      this.counters.invalid++;
      return;
    }
    readAddresses6(memory, payload, this.#received);
    this.#neighbours?.learn(this.#received, memory.bytes, frame + macBytes, tags);
    if (isSameMac(memory.bytes, frame, this.#host.mac, 0) && this.#isForOthers()) {
      if (this.subscriberOf(this.#received, 0) >= 0) this.#host.onPacket?.(memory, payload, ip.end);
      return;
    }
    if (ip.isFragment) this.counters.invalid++;
    else if (ip.protocol === ipProtocol.icmp6) this.#receiveIcmp(memory, frame, tags);
    else if (ip.protocol === ipProtocol.udp) this.#receiveUdp(memory, frame, tags);
  }

  /** The subscriber with an address, or -1. */
  subscriberOf(words: Int32Array, at: number): number {
    return this.dhcpv6?.leaseOf(words, at) ?? this.#neighbours?.find(words, at) ?? -1;
  }

  /** Where an IP packet to a subscriber is written, or -1. */
  begin(subscriber: number, length: number): number {
    return this.#host.frames.begin(subscriber, length);
  }

  /** Sends the IPv6 packet [at, end) to a subscriber. */
  sendPacket(subscriber: number, at: number, end: number): void {
    const { frames, mac: sourceMac } = this.#host;
    const lines = this.dhcpv6 ?? this.#neighbours;
    lines?.writeClientMac(subscriber, this.#peerMac, 0);
    const tags = lines?.tagsOf(subscriber) ?? 0;
    frames.send(at, end, etherType.ipv6, { path: subscriber, tags, sourceMac, destinationMac: this.#peerMac });
  }

  #isForOthers(): boolean {
    const first = this.#received[addressWords] as number;
    return (
      first >>> 24 !== 0xff && !isLinkLocal(this.#received, addressWords) && !this.#isOwn(this.#received, addressWords)
    );
  }

  #receiveUdp(memory: Memory, frame: number, tags: number): void {
    const { payload, end } = this.#ip;
    const udp = this.#udp;
    const source = this.#received;
    if (this.dhcpv6 === undefined) return;
    // The kernel of another machine on this host leaves the checksum to the hardware.
    if (!udp.parse(memory, payload, end, 0, false)) {
      this.counters.invalid++;
      return;
    }
    if (udp.destinationPort !== dhcpv6Port.server) return;
    const route = replyRoute(memory, frame, { tags, mac: this.#host.mac, peerMac: this.#peerMac });
    this.dhcpv6.receive(memory, { start: udp.payload, end: udp.end }, { route, line: vlanIds(tags), source });
  }

  #receiveIcmp(memory: Memory, frame: number, tags: number): void {
    const { payload, end, hopLimit } = this.#ip;
    const icmp = this.#icmp;
    const sum = pseudoHeaderSum(this.#received, 0, ipProtocol.icmp6) + end - payload;
    if (!icmp.parse(memory, payload, end, sum, true) || icmp.code !== 0) {
      this.counters.invalid++;
      return;
    }
    if (icmp.type === icmp6Type.echo) {
      if (this.#isOwn(this.#received, addressWords)) this.#answerEcho(memory, frame, tags);
    } else if (hopLimit !== linkHopLimit) this.counters.invalid++;
    else if (icmp.type === icmp6Type.routerSolicitation) this.#advertise(memory, frame, tags);
    else if (icmp.type === icmp6Type.neighbourSolicitation) this.#answerSolicitation(memory, frame, tags);
  }

  #isOwn(words: Int32Array, at: number): boolean {
    return isSameAddress(words, at, this.#address, 0) || isSameAddress(words, at, this.#linkLocal, 0);
  }

  #advertise(memory: Memory, frame: number, tags: number): void {
    const packets = this.#packets;
    const route = replyRoute(memory, frame, { tags, mac: this.#host.mac, peerMac: this.#peerMac });
    const hasSender = !isSameAddress(this.#received, 0, unspecified, 0);
    packets.setAddresses(this.#linkLocal, 0, hasSender ? this.#received : allNodes, 0);
    const bodyBytes = advertisementBytes(this.#router);
    const message = { type: icmp6Type.routerAdvertisement, word: advertisementWord(this.#router), bodyBytes };
    packets.sendIcmp(message, route, (at) => writeAdvertisement(packets.memory, at, this.#router));
    this.counters.received++;
    this.counters.sent++;
  }

  #answerSolicitation(memory: Memory, frame: number, tags: number): void {
    const neighbour = this.#neighbour;
    const { mac } = this.#host;
    if (!neighbour.parse(memory, this.#icmp.body, this.#icmp.end, true)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const { target } = neighbour;
    // A sender without an address asks for its own.
    if (!this.#isOwn(target, 0) || isSameAddress(this.#received, 0, unspecified, 0)) return;
    const packets = this.#packets;
    const route = replyRoute(memory, frame, { tags, mac, peerMac: this.#peerMac });
    packets.setAddresses(target, 0, this.#received, 0);
    const word = advertisementFlags.router | advertisementFlags.solicited | advertisementFlags.override;
    const message = { type: icmp6Type.neighbourAdvertisement, word, bodyBytes: neighbourBodyBytes };
    packets.sendIcmp(message, route, (at) =>
      writeNeighbourBody(packets.memory, at, { target, targetAt: 0, mac, isSolicitation: false }),
    );
    this.counters.sent++;
  }

  #answerEcho(memory: Memory, frame: number, tags: number): void {
    const packets = this.#packets;
    const { body, end, word } = this.#icmp;
    const route = replyRoute(memory, frame, { tags, mac: this.#host.mac, peerMac: this.#peerMac });
    packets.setAddresses(this.#received, addressWords, this.#received, 0);
    const message = { type: icmp6Type.echoReply, word, bodyBytes: end - body };
    packets.sendIcmp(message, route, (at) => packets.memory.bytes.set(memory.bytes.subarray(body, end), at));
  }
}
