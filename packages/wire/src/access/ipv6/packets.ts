import type { Memory } from '../../bytes/memory.ts';
import { copyMac, etherType, macBytes } from '../../ethernet/ethernet.ts';
import { icmpBytes, writeIcmp } from '../../icmp/icmp.ts';
import { writeMulticastMac6 } from '../../icmp/neighbour-discovery.ts';
import { copyAddress, readAddress6, writeAddress6 } from '../../ip/address.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { ipv6Bytes, writeIpv6 } from '../../ip/ipv6.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { udpBytes, writeUdp } from '../../udp/udp.ts';
import type { FrameRoute, PacketSink } from '../frames.ts';

export const addressWords = 4;
/** Room before a UDP payload for the headers of IPv6 and UDP. */
export const udp6HeaderBytes: number = ipv6Bytes + udpBytes;
/** Neighbour and router discovery is for the own link only. */
export const linkHopLimit = 255;
const dataHopLimit = 64;

export const allNodes: Int32Array = Int32Array.of(0xff020000, 0, 0, 1);
export const allRouters: Int32Array = Int32Array.of(0xff020000, 0, 0, 2);
export const allDhcpAgents: Int32Array = Int32Array.of(0xff020000, 0, 0, 0x10002);
export const unspecified: Int32Array = new Int32Array(addressWords);

/** Writes the interface identifier of a MAC (RFC 4291, modified EUI-64) into two words. */
export const writeInterfaceId = (mac: Uint8Array, words: Int32Array, at: number): void => {
  const byte = (index: number) => mac[index] as number;
  words[at] = ((byte(0) ^ 2) << 24) | (byte(1) << 16) | (byte(2) << 8) | 0xff;
  words[at + 1] = (0xfe << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5);
};

/** Writes the link-local address of a MAC into four words. */
export const writeLinkLocal = (mac: Uint8Array, words: Int32Array, at: number): void => {
  words[at] = 0xfe800000 | 0;
  words[at + 1] = 0;
  writeInterfaceId(mac, words, at + 2);
};

/** Reads the MAC that the interface identifier of an address is made from; false if it is made from none. */
export const readInterfaceMac = (words: Int32Array, at: number, mac: Uint8Array): boolean => {
  const [high, low] = [words[at + 2] as number, words[at + 3] as number];
  if ((high & 0xff) !== 0xff || low >>> 24 !== 0xfe) return false;
  mac[0] = (high >>> 24) ^ 2;
  mac[1] = high >>> 16;
  mac[2] = high >>> 8;
  mac[3] = low >>> 16;
  mac[4] = low >>> 8;
  mac[5] = low;
  return true;
};

export const isLinkLocal = (words: Int32Array, at: number): boolean => (words[at] as number) >>> 22 === 0x3fa;

/** Adds to an address of 128 bits: `value` × 2^`shift`. */
export const addToAddress = (words: Int32Array, at: number, value: number, shift: number): void => {
  let number = 0n;
  for (let i = 0; i < addressWords; i++) number = (number << 32n) | BigInt((words[at + i] as number) >>> 0);
  number += BigInt(value) << BigInt(shift);
  for (let i = addressWords - 1; i >= 0; i--) {
    words[at + i] = Number(number & 0xffffffffn) | 0;
    number >>= 32n;
  }
};

/** How far an address is behind another one, below a limit of 32 bits; -1: it is not. */
export const offsetBetween = (start: Int32Array, words: Int32Array, at: number, limit: number): number => {
  const offset = ((words[at + 3] as number) - (start[3] as number)) >>> 0;
  if (offset >= limit || start[0] !== words[at] || start[1] !== words[at + 1]) return -1;
  const carry = ((start[3] as number) >>> 0) + offset >= 2 ** 32 ? 1 : 0;
  return words[at + 2] === (((start[2] as number) + carry) | 0) ? offset : -1;
};

/** Source and destination of the packet that is received. */
export const readAddresses6 = ({ view }: Memory, packet: number, words: Int32Array): void => {
  readAddress6(view, packet + 8, words, 0);
  readAddress6(view, packet + 24, words, addressWords);
};

/** Writes IPv6 packets into frames. The addresses of a packet are eight words: source and destination. */
export class PacketWriter6 {
  readonly addresses = new Int32Array(2 * addressWords);
  readonly #frames: PacketSink;
  readonly #multicastMac = new Uint8Array(macBytes);
  readonly #multicastView = new DataView(this.#multicastMac.buffer);

  constructor(frames: PacketSink) {
    this.#frames = frames;
  }

  get memory(): Memory {
    return this.#frames.memory;
  }

  setAddresses(source: Int32Array, sourceAt: number, destination: Int32Array, destinationAt: number): void {
    copyAddress(source, sourceAt, this.addresses, 0);
    copyAddress(destination, destinationAt, this.addresses, addressWords);
  }

  /** The Ethernet address of the multicast group that the packet goes to. */
  get multicastMac(): Uint8Array {
    writeMulticastMac6(this.addresses, addressWords, this.#multicastView, 0);
    return this.#multicastMac;
  }

  /** Sends an ICMPv6 message of `bodyBytes`; `writeBody` fills its body, which is zero before. */
  sendIcmp(
    message: { readonly type: number; readonly word: number; readonly bodyBytes: number; readonly tos?: number },
    route: FrameRoute,
    writeBody: (at: number) => void = () => {},
  ): boolean {
    const length = icmpBytes + message.bodyBytes;
    const at = this.#frames.begin(route.path, ipv6Bytes + length);
    if (at < 0) return false;
    const { memory } = this;
    const icmp = at + ipv6Bytes;
    memory.bytes.fill(0, icmp, icmp + length);
    writeBody(icmp + icmpBytes);
    const pseudoSum = pseudoHeaderSum(this.addresses, 0, ipProtocol.icmp6) + length;
    const { type, word } = message;
    writeIcmp(memory, icmp, icmp + length, { type, code: 0, word, pseudoSum });
    const isEcho = type === 128 || type === 129;
    this.#header(at, length, ipProtocol.icmp6, isEcho ? dataHopLimit : linkHopLimit, message.tos);
    this.#frames.send(at, icmp + length, etherType.ipv6, route);
    return true;
  }

  /** Where the payload of a datagram of up to `length` bytes is written, or -1. */
  beginUdp(path: number, length: number): number {
    const at = this.#frames.begin(path, udp6HeaderBytes + length);
    return at < 0 ? -1 : at + udp6HeaderBytes;
  }

  /** Sends the datagram whose payload is [at, end). `ports`: source × 65536 + destination. */
  sendUdp(at: number, end: number, ports: number, route: FrameRoute): void {
    const udp = at - udpBytes;
    writeUdp(this.memory, udp, end, ports, pseudoHeaderSum(this.addresses, 0, ipProtocol.udp));
    this.#header(udp - ipv6Bytes, end - udp, ipProtocol.udp, dataHopLimit);
    this.#frames.send(udp - ipv6Bytes, end, etherType.ipv6, route);
  }

  #header(at: number, payloadLength: number, protocol: number, hopLimit: number, trafficClass = 0): void {
    const { view } = this.memory;
    writeIpv6(view, at, { trafficClass, flowLabel: 0, payloadLength, protocol, hopLimit });
    writeAddress6(view, at + 8, this.addresses, 0);
    writeAddress6(view, at + 24, this.addresses, addressWords);
  }
}

/** The route back to the sender of a frame whose addresses stand at `frame`. */
export const replyRoute = (
  { bytes }: Memory,
  frame: number,
  { tags, mac, peerMac }: { tags: number; mac: Uint8Array; peerMac: Uint8Array },
): FrameRoute => {
  copyMac(bytes, frame + macBytes, peerMac, 0);
  return { path: 0, tags, sourceMac: mac, destinationMac: peerMac };
};
