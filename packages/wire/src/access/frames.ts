import type { Memory } from '../bytes/memory.ts';
import { copyMac, ethernetBytes, macBytes, maxEthernetBytes } from '../ethernet/ethernet.ts';
import type { FrameSink } from '../host-group/hosts.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { ipv4Bytes, writeIpv4 } from '../ip/ipv4.ts';
import { udpBytes, writeUdp } from '../udp/udp.ts';

const minFrame = 60;
const innerTpid = 0x8100;
export const broadcastMac: Uint8Array = new Uint8Array(macBytes).fill(255);

/** Where an IPv4 datagram comes from and goes to. */
export interface Udp4Route {
  readonly source: number;
  readonly destination: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** DSCP and ECN. */
  readonly tos?: number;
}

/** Link addresses of one frame. */
export interface FrameRoute {
  /** Session in whose name it is sent, for the sink. */
  readonly path: number;
  readonly tags: number;
  readonly sourceMac: Uint8Array;
  readonly destinationMac: Uint8Array;
}

/** Takes packets that are written in place: frames of an interface, or those of sessions of PPP. */
export interface PacketSink {
  readonly memory: Memory;
  /** Where a packet of up to `length` bytes is written, or -1. */
  begin(path: number, length: number): number;
  /** Sends the packet [at, end) of an EtherType. */
  send(at: number, end: number, type: number, route: FrameRoute): void;
}

/** Writes frames with VLAN tags in place into a sink. A frame the sink has no room for is lost, as on any wire. */
export class FrameWriter implements PacketSink {
  readonly counters = { frames: 0, bytes: 0, refused: 0 };
  readonly #sink: FrameSink;
  readonly #outerTpid: number;
  #identification = 0;

  constructor(sink: FrameSink, outerTpid = innerTpid) {
    this.#sink = sink;
    this.#outerTpid = outerTpid;
  }

  get memory(): Memory {
    return this.#sink.memory;
  }

  get mtu(): number {
    return this.#sink.mtu;
  }

  /** Where the payload of a frame of up to `length` bytes is written, or -1. */
  begin(path: number, length: number): number {
    const base = this.#sink.begin(maxEthernetBytes + Math.max(length, minFrame), path);
    if (base >= 0) return base + maxEthernetBytes;
    this.counters.refused++;
    return -1;
  }

  /** Sends the payload [at, end) as a frame. */
  send(at: number, end: number, type: number, { tags, sourceMac, destinationMac }: FrameRoute): void {
    const { bytes, view } = this.#sink.memory;
    let start = at - 2;
    view.setUint16(start, type);
    if (tags !== 0) {
      const isDouble = tags >>> 16 !== 0;
      start -= 4;
      view.setInt32(start, ((isDouble ? innerTpid : this.#outerTpid) << 16) | (tags & 0xffff));
      if (isDouble) {
        start -= 4;
        view.setInt32(start, (this.#outerTpid << 16) | (tags >>> 16));
      }
    }
    start -= ethernetBytes - 2;
    copyMac(destinationMac, 0, bytes, start);
    copyMac(sourceMac, 0, bytes, start + macBytes);
    let length = end - start;
    if (length < minFrame) {
      bytes.fill(0, end, start + minFrame);
      length = minFrame;
    }
    this.counters.frames++;
    this.counters.bytes += length;
    this.#sink.commit(start, length);
  }

  /** Writes IPv4 and UDP headers before a payload [at, end); returns where the packet starts. */
  wrapUdp4(at: number, end: number, route: Udp4Route): number {
    const udp = at - udpBytes;
    const ip = udp - ipv4Bytes;
    const { source, destination } = route;
    const sum = (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff) + ipProtocol.udp;
    writeUdp(this.#sink.memory, udp, end, (route.sourcePort << 16) | route.destinationPort, sum);
    this.writeIpv4(ip, end, { source, destination, protocol: ipProtocol.udp, tos: route.tos ?? 0 });
    return ip;
  }

  /** Writes the IPv4 header of a packet [at, end). */
  writeIpv4(
    at: number,
    end: number,
    { source, destination, protocol, tos }: { source: number; destination: number; protocol: number; tos: number },
  ): void {
    this.#identification = (this.#identification + 1) & 0xffff;
    writeIpv4(this.#sink.memory.view, at, {
      tos,
      length: end - at,
      identification: this.#identification,
      fragment: 0,
      ttl: 64,
      protocol,
      source,
      destination,
    });
  }
}

/** Room before a UDP payload for the headers of IPv4 and UDP. */
export const udp4HeaderBytes: number = ipv4Bytes + udpBytes;
