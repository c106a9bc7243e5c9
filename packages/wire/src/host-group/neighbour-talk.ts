import type { Memory } from '../bytes/memory.ts';
import { ArpMessage, arpBytes, arpOperation, writeArp } from '../ethernet/arp.ts';
import { copyMac, etherType, macBytes, maxEthernetBytes, vlanIds, writeEtherTypes } from '../ethernet/ethernet.ts';
import { type IcmpMessage, icmp6Type, icmpBytes, writeIcmp } from '../icmp/icmp.ts';
import {
  advertisementFlags,
  NeighbourMessage,
  neighbourBodyBytes,
  solicitedNode,
  writeMulticastMac6,
  writeNeighbourBody,
} from '../icmp/neighbour-discovery.ts';
import { copyAddress, isMappedAddress, writeAddress6, writeMapped } from '../ip/address.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { ipv6Bytes, writeIpv6 } from '../ip/ipv6.ts';
import { pseudoHeaderSum } from '../ip/pseudo-header.ts';
import type { NeighbourCache } from '../neighbours/neighbour-cache.ts';
import type { FrameSink, HostDirectory } from './hosts.ts';

const hopLimit = 255;
const minFrame = 60;

/** Sends and answers ARP and neighbour discovery for every host of a group. */
export class NeighbourTalk {
  readonly counters = { requestsAnswered: 0, announcements: 0 };
  readonly #sink: FrameSink;
  readonly #hosts: HostDirectory;
  readonly #arp = new ArpMessage();
  readonly #message = new NeighbourMessage();
  readonly #mac = new Uint8Array(macBytes);
  readonly #peerMac = new Uint8Array(macBytes);
  readonly #words = new Int32Array(8);
  readonly #answers: boolean;
  #path = 0;

  /** Without `answers` another group speaks for the hosts, and this one only asks and learns. */
  constructor(sink: FrameSink, hosts: HostDirectory, answers = true) {
    this.#sink = sink;
    this.#hosts = hosts;
    this.#answers = answers;
  }

  /** Asks for a neighbour on behalf of a host. */
  solicit(address: Int32Array, at: number, tags: number, path: number): void {
    const words = this.#words;
    this.#actAs(path);
    this.#hosts.sourceFor(path, address, at, words, 0);
    if (isMappedAddress(address, at)) {
      this.#sendArp(arpOperation.request, words[3] as number, address[at + 3] as number, undefined, tags);
      return;
    }
    solicitedNode(address, at, words, 4);
    this.#sendNeighbour({ isSolicitation: true, flags: 0, target: address, targetAt: at, tags, mac: undefined });
  }

  /** Tells the network where a host is: gratuitous ARP (RFC 5227) or an unsolicited advertisement. */
  announce(address: Int32Array, at: number, path: number): void {
    const tags = this.#hosts.tagsOf(path);
    this.counters.announcements++;
    this.#actAs(path);
    if (isMappedAddress(address, at)) {
      const own = address[at + 3] as number;
      this.#sendArp(arpOperation.request, own, own, undefined, tags);
      return;
    }
    copyAddress(address, at, this.#words, 0);
    this.#setAllNodes();
    const flags = advertisementFlags.override;
    this.#sendNeighbour({ isSolicitation: false, flags, target: address, targetAt: at, tags, mac: undefined });
  }

  receiveArp(memory: Memory, start: number, end: number, tags: number, neighbours: NeighbourCache): void {
    const arp = this.#arp;
    if (!arp.parse(memory, start, end)) return;
    const words = this.#words;
    writeMapped(words, 0, arp.target);
    const host = this.#hosts.indexOf(words, 0);
    const isOurs = host >= 0 && vlanIds(this.#hosts.tagsOf(host)) === vlanIds(tags);
    writeMapped(words, 4, arp.sender);
    const isAnswer = arp.operation === arpOperation.reply && isOurs;
    // Our own announcements come back where several groups share a wire.
    if (arp.sender !== 0 && this.#hosts.indexOf(words, 4) < 0)
      neighbours.learn(words, 4, tags, memory.bytes, arp.senderMacAt, isAnswer || isOurs);
    if (!this.#answers || arp.operation !== arpOperation.request || !isOurs || arp.sender === arp.target) return;
    this.counters.requestsAnswered++;
    this.#actAs(host);
    copyMac(memory.bytes, arp.senderMacAt, this.#peerMac, 0);
    this.#sendArp(arpOperation.reply, arp.target, arp.sender, this.#peerMac, this.#hosts.tagsOf(host));
  }

  /** `addresses`: destination and source of the packet. Handles solicitations and advertisements. */
  receiveNeighbour(
    memory: Memory,
    icmp: IcmpMessage,
    addresses: Int32Array,
    tags: number,
    neighbours: NeighbourCache,
  ): void {
    const message = this.#message;
    const isSolicitation = icmp.type === icmp6Type.neighbourSolicitation;
    if (!message.parse(memory, icmp.body, icmp.end, isSolicitation)) return;
    if (!isSolicitation) {
      if (message.linkAddressAt >= 0 && this.#hosts.indexOf(message.target, 0) < 0)
        neighbours.learn(message.target, 0, tags, memory.bytes, message.linkAddressAt, false);
      return;
    }
    const host = this.#hosts.indexOf(message.target, 0);
    if (host < 0 || vlanIds(this.#hosts.tagsOf(host)) !== vlanIds(tags)) return;
    const isDuplicateCheck = addresses[4] === 0 && addresses[5] === 0 && addresses[6] === 0 && addresses[7] === 0;
    if (!isDuplicateCheck && message.linkAddressAt >= 0) {
      neighbours.learn(addresses, 4, tags, memory.bytes, message.linkAddressAt, true);
      copyMac(memory.bytes, message.linkAddressAt, this.#peerMac, 0);
    }
    if (!this.#answers) return;
    const hasMac = !isDuplicateCheck && message.linkAddressAt >= 0;
    const words = this.#words;
    this.#actAs(host);
    copyAddress(message.target, 0, words, 0);
    if (isDuplicateCheck) this.#setAllNodes();
    else copyAddress(addresses, 4, words, 4);
    this.counters.requestsAnswered++;
    const flags = advertisementFlags.override | (isDuplicateCheck ? 0 : advertisementFlags.solicited);
    const ownTags = this.#hosts.tagsOf(host);
    const mac = hasMac ? this.#peerMac : undefined;
    this.#sendNeighbour({ isSolicitation: false, flags, target: message.target, targetAt: 0, tags: ownTags, mac });
  }

  /** The host in whose name the next message is sent. */
  #actAs(host: number): void {
    this.#path = host;
    this.#hosts.writeMac(host, this.#mac, 0);
  }

  #setAllNodes(): void {
    this.#words[4] = 0xff020000 | 0;
    this.#words[5] = 0;
    this.#words[6] = 0;
    this.#words[7] = 1;
  }

  #sendArp(operation: number, sender: number, target: number, targetMac: Uint8Array | undefined, tags: number): void {
    const base = this.#sink.begin(maxEthernetBytes + minFrame, this.#path);
    if (base < 0) return;
    const { memory } = this.#sink;
    const at = base + maxEthernetBytes;
    writeArp(memory, at, { operation, sender, target, targetMac, senderMac: this.#mac });
    const start = writeEtherTypes(memory.view, at, tags, etherType.arp, this.#hosts.tagTypes);
    if (targetMac === undefined) memory.bytes.fill(255, start, start + macBytes);
    else copyMac(targetMac, 0, memory.bytes, start);
    copyMac(this.#mac, 0, memory.bytes, start + macBytes);
    memory.bytes.fill(0, at + arpBytes, start + minFrame);
    this.#sink.commit(start, minFrame);
  }

  /** Source and destination are in `#words`, the own MAC in `#mac`; without a MAC it goes to the multicast address. */
  #sendNeighbour(options: {
    isSolicitation: boolean;
    flags: number;
    target: Int32Array;
    targetAt: number;
    tags: number;
    mac: Uint8Array | undefined;
  }): void {
    const length = icmpBytes + neighbourBodyBytes;
    const base = this.#sink.begin(maxEthernetBytes + ipv6Bytes + length, this.#path);
    if (base < 0) return;
    const { memory } = this.#sink;
    const { view, bytes } = memory;
    const ip = base + maxEthernetBytes;
    const at = ip + ipv6Bytes;
    const words = this.#words;
    const type = options.isSolicitation ? icmp6Type.neighbourSolicitation : icmp6Type.neighbourAdvertisement;
    const { target, targetAt, isSolicitation } = options;
    writeNeighbourBody(memory, at + icmpBytes, { target, targetAt, mac: this.#mac, isSolicitation });
    const pseudoSum = pseudoHeaderSum(words, 0, ipProtocol.icmp6) + length;
    writeIcmp(memory, at, at + length, { type, code: 0, word: options.flags, pseudoSum });
    writeIpv6(view, ip, { trafficClass: 0, flowLabel: 0, payloadLength: length, protocol: ipProtocol.icmp6, hopLimit });
    writeAddress6(view, ip + 8, words, 0);
    writeAddress6(view, ip + 24, words, 4);
    const start = writeEtherTypes(view, ip, options.tags, etherType.ipv6, this.#hosts.tagTypes);
    if (options.mac === undefined) writeMulticastMac6(words, 4, view, start);
    else copyMac(options.mac, 0, bytes, start);
    copyMac(this.#mac, 0, bytes, start + macBytes);
    this.#sink.commit(start, at + length - start);
  }
}
