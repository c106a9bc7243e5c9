import { copyOf, type Memory } from '../../bytes/memory.ts';
import { ArpMessage, arpBytes, arpOperation, writeArp } from '../../ethernet/arp.ts';
import { etherType, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { Ipv4Header } from '../../ip/ipv4.ts';
import { UdpHeader } from '../../udp/udp.ts';
import { broadcastMac, type FrameWriter, udp4HeaderBytes } from '../frames.ts';
import type { L2tpPeer } from './tunnel.ts';
import { type L2tpLink, l2tpPort } from './tunnels.ts';

/** Time between two questions for the same neighbour, and after which a known one is asked for again. */
const askMs = 1000;
const refreshMs = 60_000;
/** Datagrams that wait for a neighbour; more are lost. */
const maxWaiting = 64;
/** Neighbours that are remembered because they asked for us. */
const maxNeighbours = 4096;

/** The address that all tunnels of a port end at. */
export interface TunnelAddress {
  readonly address: number;
  readonly prefixLength: number;
  /** For peers outside the network; 0: there is none. */
  readonly gateway: number;
}

export interface FrameLinkOptions extends TunnelAddress {
  readonly mac: Uint8Array;
  readonly tags: number;
}

/** A datagram that waits for the MAC of its neighbour. */
interface Waiting {
  readonly peer: L2tpPeer;
  readonly bytes: Uint8Array;
  readonly path: number;
  readonly tos: number;
}

interface Neighbour {
  mac: Uint8Array | undefined;
  askedMs: number;
  waiting: Waiting[];
}

/** The end of tunnels on an Ethernet port: one IPv4 address, its ARP, and UDP port 1701. */
export class FrameLink implements L2tpLink {
  readonly counters = { arpSent: 0, arpReceived: 0, invalid: 0, unreachable: 0 };
  readonly #frames: FrameWriter;
  readonly #options: FrameLinkOptions;
  readonly #mask: number;
  readonly #neighbours = new Map<number, Neighbour>();
  readonly #arp = new ArpMessage();
  readonly #ip = new Ipv4Header();
  readonly #udp = new UdpHeader();
  #nowMs = 0;
  /** Takes the payloads of datagrams. */
  onDatagram: ((peer: L2tpPeer, memory: Memory, start: number, end: number) => void) | undefined;

  constructor(frames: FrameWriter, options: FrameLinkOptions) {
    this.#frames = frames;
    this.#options = options;
    this.#mask = options.prefixLength === 0 ? 0 : -1 << (32 - options.prefixLength);
  }

  get memory(): Memory {
    return this.#frames.memory;
  }

  get mtu(): number {
    return this.#frames.mtu;
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  begin(path: number, length: number): number {
    const at = this.#frames.begin(path, udp4HeaderBytes + length);
    return at < 0 ? -1 : at + udp4HeaderBytes;
  }

  send(peer: L2tpPeer, at: number, end: number, route: { readonly path: number; readonly tos: number }): void {
    const hop = this.#hopTo(peer.address);
    if (hop === 0) {
      this.counters.unreachable++;
      return;
    }
    const neighbour = this.#neighbourOf(hop);
    if (neighbour.mac !== undefined) this.#transmit(neighbour.mac, peer, at, end, route);
    else if (neighbour.waiting.length < maxWaiting)
      neighbour.waiting.push({ peer, bytes: copyOf(this.memory.bytes, at, end), ...route });
    if (this.#nowMs - neighbour.askedMs >= (neighbour.mac === undefined ? askMs : refreshMs)) this.#ask(hop, neighbour);
  }

  /** The payload of an Ethernet frame. */
  receive(memory: Memory, header: { type: number; payload: number; tags: number }, end: number): void {
    if (vlanIds(header.tags) !== vlanIds(this.#options.tags)) return;
    if (header.type === etherType.arp) this.#receiveArp(memory, header.payload, end);
    else if (header.type === etherType.ipv4) this.#receiveIp(memory, header.payload, end);
  }

  /** The neighbour through which an address is reached; 0: there is none. */
  #hopTo(address: number): number {
    const { address: own, gateway } = this.#options;
    return ((address ^ own) & this.#mask) === 0 ? address : gateway;
  }

  #neighbourOf(hop: number): Neighbour {
    let neighbour = this.#neighbours.get(hop);
    if (neighbour === undefined) {
      neighbour = { mac: undefined, askedMs: Number.NEGATIVE_INFINITY, waiting: [] };
      this.#neighbours.set(hop, neighbour);
    }
    return neighbour;
  }

  #transmit(
    destinationMac: Uint8Array,
    peer: L2tpPeer,
    at: number,
    end: number,
    { path, tos }: { readonly path: number; readonly tos: number },
  ): void {
    const { address, mac, tags } = this.#options;
    const start = this.#frames.wrapUdp4(at, end, {
      source: address,
      destination: peer.address,
      sourcePort: l2tpPort,
      destinationPort: peer.port,
      tos,
    });
    this.#frames.send(start, end, etherType.ipv4, { path, tags, sourceMac: mac, destinationMac });
  }

  #ask(hop: number, neighbour: Neighbour): void {
    neighbour.askedMs = this.#nowMs;
    this.#sendArp(arpOperation.request, hop, undefined);
  }

  #sendArp(operation: number, target: number, targetMac: Uint8Array | undefined): void {
    const { address, mac, tags } = this.#options;
    const at = this.#frames.begin(0, arpBytes);
    if (at < 0) return;
    writeArp(this.memory, at, { operation, sender: address, target, targetMac, senderMac: mac });
    this.counters.arpSent++;
    const route = { path: 0, tags, sourceMac: mac, destinationMac: targetMac ?? broadcastMac };
    this.#frames.send(at, at + arpBytes, etherType.arp, route);
  }

  #receiveArp(memory: Memory, start: number, end: number): void {
    const arp = this.#arp;
    if (!arp.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    const { operation, sender, target } = arp;
    const isForUs = target === this.#options.address && sender !== target;
    const canLearn = isForUs && this.#neighbours.size < maxNeighbours;
    const known = canLearn ? this.#neighbourOf(sender) : this.#neighbours.get(sender);
    if (!isForUs && known === undefined) return;
    this.counters.arpReceived++;
    const mac = copyOf(memory.bytes, arp.senderMacAt, arp.senderMacAt + macBytes);
    if (isForUs && operation === arpOperation.request) this.#sendArp(arpOperation.reply, sender, mac);
    if (known === undefined) return;
    known.mac = mac;
    if (isForUs) known.askedMs = this.#nowMs;
    for (const waiting of known.waiting.splice(0)) this.#sendWaiting(waiting, mac);
  }

  #sendWaiting(waiting: Waiting, mac: Uint8Array): void {
    const { peer, bytes, path } = waiting;
    const at = this.begin(path, bytes.length);
    if (at < 0) return;
    this.memory.bytes.set(bytes, at);
    this.#transmit(mac, peer, at, at + bytes.length, waiting);
  }

  #receiveIp(memory: Memory, start: number, end: number): void {
    const [ip, udp] = [this.#ip, this.#udp];
    if (!ip.parse(memory, start, end, true)) {
      this.counters.invalid++;
      return;
    }
    if (ip.destination !== this.#options.address || ip.protocol !== ipProtocol.udp || ip.isFragment) return;
    const { source, destination } = ip;
    const sum = (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff) + ipProtocol.udp;
    if (!udp.parse(memory, ip.payload, ip.end, sum, true)) this.counters.invalid++;
    else if (udp.destinationPort === l2tpPort)
      this.onDatagram?.({ address: source, port: udp.sourcePort }, memory, udp.payload, udp.end);
  }
}
