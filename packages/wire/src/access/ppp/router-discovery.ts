import type { Memory } from '../../bytes/memory.ts';
import { IcmpMessage, icmp6Type, icmpBytes, writeIcmp } from '../../icmp/icmp.ts';
import { copyAddress, readAddress6, writeAddress6 } from '../../ip/address.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { Ipv6Header, ipv6Bytes, writeIpv6 } from '../../ip/ipv6.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { type SessionTimers, timerKind } from '../timers.ts';
import type { Ip6cp } from './network-control.ts';
import { type PppLink, pppProtocol } from './packet.ts';

const hopLimit = 255;
/** RFC 4861: solicitations that are sent, and the time between them. */
const maxSolicitations = 3;
const solicitationMs = 4000;
const prefixOption = { type: 3, units: 4, autonomous: 0x40 } as const;
const addressWords = 4;
const prefixBits = 64;
/** Flags, lifetimes and timers of an advertisement behind the first word of ICMP. */
const advertisementBytes = 8;
const routerLifetimeSec = 1800;
/** Flags of an advertisement: addresses and all else by DHCPv6. */
const managedFlags = 0xc0 << 16;

export interface RouterDiscoveryHost {
  readonly link: PppLink;
  readonly timers: SessionTimers;
  readonly ipv6: Ip6cp;
  readonly capacity: number;
  /** Server: it hands out addresses by DHCPv6. */
  readonly isManaged: boolean;
  /** Client: a router has answered. */
  onRouter(session: number): void;
  /** Client: no router answers. */
  onNone(session: number): void;
}

/** Router solicitations and advertisements (RFC 4861) inside PPP sessions, of both ends. */
export class RouterDiscovery {
  readonly counters = { sent: 0, received: 0, timeouts: 0 };
  /** Address of each session from the advertised prefix, four words; 0 without one. */
  readonly address: Int32Array;
  readonly #host: RouterDiscoveryHost;
  readonly #left: Uint8Array;
  readonly #ip = new Ipv6Header();
  readonly #icmp = new IcmpMessage();
  readonly #words = new Int32Array(2 * addressWords);

  constructor(host: RouterDiscoveryHost) {
    this.#host = host;
    this.address = new Int32Array(host.capacity * addressWords);
    this.#left = new Uint8Array(host.capacity);
  }

  /** Asks for routers, as a client. */
  begin(session: number): void {
    this.#left[session] = maxSolicitations;
    this.address.fill(0, session * addressWords, (session + 1) * addressWords);
    this.#solicit(session);
  }

  isActive(session: number): boolean {
    return this.#left[session] !== 0;
  }

  reset(session: number): void {
    this.#left[session] = 0;
  }

  onTimer(session: number): void {
    this.counters.timeouts++;
    const left = (this.#left[session] as number) - 1;
    this.#left[session] = left;
    if (left > 0) this.#solicit(session);
    else this.#host.onNone(session);
  }

  /** An IPv6 packet of a session; false if it is none of router discovery. */
  receive(session: number, memory: Memory, start: number, end: number): boolean {
    const ip = this.#ip;
    if (!ip.parse(memory, start, end) || ip.isFragment || ip.protocol !== ipProtocol.icmp6) return false;
    const words = this.#words;
    readAddress6(memory.view, start + 24, words, 0);
    readAddress6(memory.view, start + 8, words, addressWords);
    const sum = pseudoHeaderSum(words, 0, ipProtocol.icmp6) + ip.end - ip.payload;
    const icmp = this.#icmp;
    if (ip.hopLimit !== hopLimit || !icmp.parse(memory, ip.payload, ip.end, sum, true)) return false;
    if (icmp.type === icmp6Type.routerSolicitation) this.#advertise(session);
    else if (icmp.type === icmp6Type.routerAdvertisement) this.#onAdvertisement(session, memory);
    else return false;
    this.counters.received++;
    return true;
  }

  #onAdvertisement(session: number, memory: Memory): void {
    const { body, end } = this.#icmp;
    if (!this.isActive(session) || end - body < advertisementBytes) return;
    for (let at = body + advertisementBytes; at + 8 <= end; ) {
      const length = memory.view.getUint8(at + 1) * 8;
      if (length === 0 || at + length > end) return;
      const isPrefix = memory.view.getUint8(at) === prefixOption.type && length === prefixOption.units * 8;
      if (isPrefix) this.#takePrefix(session, memory, at);
      at += length;
    }
    this.#left[session] = 0;
    this.#host.timers.clear(session, timerKind.ipv6);
    this.#host.onRouter(session);
  }

  #takePrefix(session: number, { view }: Memory, at: number): void {
    const isUsable = view.getUint8(at + 2) === prefixBits && (view.getUint8(at + 3) & prefixOption.autonomous) !== 0;
    if (!isUsable || view.getUint32(at + 4) === 0) return;
    const to = session * addressWords;
    readAddress6(view, at + 16, this.address, to);
    const { own } = this.#host.ipv6;
    this.address[to + 2] = own[session * 2] as number;
    this.address[to + 3] = own[session * 2 + 1] as number;
  }

  #solicit(session: number): void {
    this.#setAddresses(session, 2);
    this.#send(session, { type: icmp6Type.routerSolicitation, word: 0, bodyBytes: 0 });
    this.#host.timers.set(session, timerKind.ipv6, solicitationMs);
  }

  /** A router without a prefix: it is the default gateway, addresses come from elsewhere. */
  #advertise(session: number): void {
    this.#setAddresses(session, 1);
    const word = (hopLimit << 24) | (this.#host.isManaged ? managedFlags : 0) | routerLifetimeSec;
    this.#send(session, { type: icmp6Type.routerAdvertisement, word, bodyBytes: advertisementBytes });
  }

  /** From the link-local address of the session to ff02::1 (all nodes) or ff02::2 (all routers). */
  #setAddresses(session: number, group: number): void {
    const words = this.#words;
    const { own } = this.#host.ipv6;
    copyAddress(Int32Array.of(0xfe800000, 0, own[session * 2] as number, own[session * 2 + 1] as number), 0, words, 0);
    copyAddress(Int32Array.of(0xff020000, 0, 0, group), 0, words, addressWords);
  }

  #send(session: number, { type, word, bodyBytes }: { type: number; word: number; bodyBytes: number }): void {
    const { link } = this.#host;
    const length = icmpBytes + bodyBytes;
    const at = link.begin(session, ipv6Bytes + length);
    if (at < 0) return;
    const { memory } = link;
    const icmp = at + ipv6Bytes;
    const words = this.#words;
    memory.bytes.fill(0, icmp, icmp + length);
    const pseudoSum = pseudoHeaderSum(words, 0, ipProtocol.icmp6) + length;
    writeIcmp(memory, icmp, icmp + length, { type, code: 0, word, pseudoSum });
    const protocol = ipProtocol.icmp6;
    writeIpv6(memory.view, at, { trafficClass: 0, flowLabel: 0, payloadLength: length, protocol, hopLimit });
    writeAddress6(memory.view, at + 8, words, 0);
    writeAddress6(memory.view, at + 24, words, addressWords);
    this.counters.sent++;
    link.send(session, at, icmp + length, pppProtocol.ipv6);
  }
}
