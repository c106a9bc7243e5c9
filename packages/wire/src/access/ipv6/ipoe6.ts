import type { Memory } from '../../bytes/memory.ts';
import { copyMac, isSameMac, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import { IcmpMessage, icmp6Type } from '../../icmp/icmp.ts';
import { NeighbourMessage } from '../../icmp/neighbour-discovery.ts';
import { copyAddress, isSameAddress } from '../../ip/address.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { Ipv6Header } from '../../ip/ipv6.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { UdpHeader } from '../../udp/udp.ts';
import { AddressIndex } from '../address-index.ts';
import type { SessionCause } from '../causes.ts';
import { Dhcpv6Clients } from '../dhcpv6/client.ts';
import type { Dhcpv6ClientOptions } from '../dhcpv6/client-options.ts';
import { dhcpv6Port } from '../dhcpv6/message.ts';
import type { FrameWriter } from '../frames.ts';
import type { Lines } from '../lines.ts';
import type { Subscribers } from '../subscribers.ts';
import { type TimerKind, timerKind } from '../timers.ts';
import { NeighbourSender } from './neighbour-sender.ts';
import {
  addressWords,
  addToAddress,
  isLinkLocal,
  linkHopLimit,
  readAddresses6,
  readInterfaceMac,
  writeInterfaceId,
} from './packets.ts';
import { RouterAdvertisement } from './router-advertisement.ts';

const forever = 0xffffffff;
/** What a session waits for. */
const phase = { none: 0, router: 1, address: 2, gateway: 3, done: 4 } as const;

export interface Ipoe6Options {
  /** Where addresses come from: DHCPv6, the prefix of the router, or the first address and the gateway. */
  readonly method:
    | { readonly dhcpv6: Dhcpv6ClientOptions }
    | 'slaac'
    | { readonly first: Int32Array; readonly gateway: Int32Array };
  readonly releases: boolean;
  readonly neighbours: {
    readonly timeoutMs: number;
    readonly retries: number;
    /** Time between checks of the gateway; 0: none. */
    readonly intervalMs: number;
    /** Routers that may advertise; empty: any. */
    readonly trusted: readonly Int32Array[];
  };
  /** DSCP of packets that prove a session. */
  readonly dscp: number;
}

export interface Ipoe6Host {
  readonly frames: FrameWriter;
  readonly lines: Lines;
  readonly subscribers: Subscribers;
  readonly random: () => number;
  /** A session has its address and a gateway that answers. */
  onReady(session: number): void;
  onFailed(session: number, cause: SessionCause): void;
}

/** IPv6 of subscribers without PPP: a router, an address, and a gateway that answers (RFC 4861, RFC 4862). */
export class Ipoe6 {
  readonly dhcpv6: Dhcpv6Clients | undefined;
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, echoSent: 0, echoReceived: 0 };
  /** Address of each session, four words; 0 without one. */
  readonly address: Int32Array;
  readonly gateway: Int32Array;
  readonly gatewayMacs: Uint8Array;
  readonly #phase: Uint8Array;
  readonly #attempts: Uint8Array;
  readonly sessions: AddressIndex;
  readonly #options: Ipoe6Options;
  readonly #host: Ipoe6Host;
  readonly #sender: NeighbourSender;
  readonly #ip = new Ipv6Header();
  readonly #icmp = new IcmpMessage();
  readonly #udp = new UdpHeader();
  readonly #neighbour = new NeighbourMessage();
  readonly #advertisement = new RouterAdvertisement();
  readonly #received = new Int32Array(2 * addressWords);
  readonly #words = new Int32Array(addressWords);
  readonly #mac = new Uint8Array(macBytes);
  readonly #peerMac = new Uint8Array(macBytes);

  constructor(host: Ipoe6Host, options: Ipoe6Options) {
    const { count } = host.lines;
    this.#host = host;
    this.#options = options;
    this.#sender = new NeighbourSender(host.frames, host.lines);
    this.address = new Int32Array(count * addressWords);
    this.gateway = new Int32Array(count * addressWords);
    this.gatewayMacs = new Uint8Array(count * macBytes);
    this.#phase = new Uint8Array(count);
    this.#attempts = new Uint8Array(count);
    this.sessions = new AddressIndex(count, 4);
    const { method } = options;
    if (typeof method === 'object' && 'dhcpv6' in method) this.dhcpv6 = this.#createClients(method.dhcpv6);
  }

  start(session: number): void {
    const { method } = this.#options;
    this.#attempts[session] = 0;
    if (typeof method === 'object' && 'first' in method) {
      const words = this.#words;
      copyAddress(method.first, 0, words, 0);
      addToAddress(words, 0, session, 0);
      copyAddress(method.gateway, 0, this.gateway, session * addressWords);
      this.#setAddress(session, words);
      return;
    }
    this.#phase[session] = phase.router;
    this.#solicitRouter(session);
  }

  stop(session: number): void {
    this.dhcpv6?.stop(session, this.#options.releases);
    this.drop(session);
  }

  drop(session: number): void {
    this.dhcpv6?.stop(session, false);
    const { timers } = this.#host.subscribers;
    timers.clear(session, timerKind.ipv6);
    timers.clear(session, timerKind.keepAlive6);
    this.#phase[session] = phase.none;
    this.sessions.clear(session);
    this.address.fill(0, session * addressWords, (session + 1) * addressWords);
    this.gateway.fill(0, session * addressWords, (session + 1) * addressWords);
  }

  isReady(session: number): boolean {
    return this.#phase[session] === phase.done;
  }

  onTimer(session: number, kind: TimerKind): void {
    if (kind === timerKind.keepAlive6) this.#onNeighbourTimer(session);
    else if (this.#phase[session] === phase.router) this.#onRouterTimer(session);
    else if (this.dhcpv6 !== undefined) this.dhcpv6.onTimer(session);
    else this.#host.onFailed(session, 'router advertisement: expired');
  }

  /** Sends an echo request to the gateway: the proof that the session carries packets. */
  prove(session: number): void {
    if (!this.isReady(session)) return;
    copyMac(this.gatewayMacs, session * macBytes, this.#peerMac, 0);
    const { address: source, gateway } = this;
    const { dscp } = this.#options;
    const at = session * addressWords;
    const sent = this.#sender.sendEcho(session, { source, gateway, at, mac: this.#peerMac, dscp });
    if (sent === 0) return;
    this.counters.echoSent++;
    this.#host.subscribers.table.countSent(session, sent);
  }

  /** An IPv6 packet [payload, end) of a frame whose addresses stand at `frame`. */
  receive(memory: Memory, frame: number, { payload, tags }: { payload: number; tags: number }, end: number): void {
    const ip = this.#ip;
    if (!ip.parse(memory, payload, end) || ip.isFragment) {
      this.counters.invalid++;
      return;
    }
    const words = this.#received;
    readAddresses6(memory, payload, words);
    const isMulticast = (words[addressWords] as number) >>> 24 === 0xff;
    const session = isMulticast ? -1 : this.#host.lines.indexOf(memory.bytes, frame);
    if (session >= 0 && vlanIds(this.#host.lines.tagsOf(session)) !== vlanIds(tags)) return;
    if (ip.protocol === ipProtocol.icmp6) this.#receiveIcmp(memory, frame, { session, tags });
    else if (ip.protocol === ipProtocol.udp && session >= 0) this.#receiveUdp(memory, session);
  }

  #receiveUdp(memory: Memory, session: number): void {
    const { payload, end } = this.#ip;
    const udp = this.#udp;
    if (this.dhcpv6 === undefined) return;
    // The kernel of another machine on this host leaves the checksum to the hardware.
    const isValid = udp.parse(memory, payload, end, 0, false);
    const port = this.dhcpv6.isRelayed ? dhcpv6Port.server : dhcpv6Port.client;
    if (!isValid) this.counters.invalid++;
    else if (udp.destinationPort === port) this.dhcpv6.receive(session, memory, udp.payload, udp.end);
  }

  #receiveIcmp(memory: Memory, frame: number, { session, tags }: { session: number; tags: number }): void {
    const { payload, end, hopLimit } = this.#ip;
    const icmp = this.#icmp;
    const sum = pseudoHeaderSum(this.#received, 0, ipProtocol.icmp6) + end - payload;
    if (!icmp.parse(memory, payload, end, sum, true)) {
      this.counters.invalid++;
      return;
    }
    if (icmp.type === icmp6Type.echoReply && session >= 0) {
      this.#host.subscribers.table.countReceived(session, end - payload + 40);
      if (isSameAddress(this.#received, 0, this.gateway, session * addressWords)) this.counters.echoReceived++;
    }
    if (hopLimit !== linkHopLimit || icmp.code !== 0) return;
    if (icmp.type === icmp6Type.routerAdvertisement) this.#onAdvertisement(memory, frame, { session, tags });
    else if (icmp.type === icmp6Type.neighbourSolicitation) this.#onSolicitation(memory, frame, tags);
    else if (icmp.type === icmp6Type.neighbourAdvertisement) this.#onNeighbour(memory, frame, tags);
  }

  #onAdvertisement(memory: Memory, frame: number, { session, tags }: { session: number; tags: number }): void {
    const { trusted } = this.#options.neighbours;
    const from = this.#received;
    const isTrusted = trusted.length === 0 || trusted.some((router) => isSameAddress(router, 0, from, 0));
    if (!isLinkLocal(from, 0) || !isTrusted) return;
    const { body, end, word } = this.#icmp;
    if (!this.#advertisement.parse(memory, body, end, word)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    if (session >= 0) this.#useRouter(session, memory, frame);
    else this.#useRouterForAll(memory, frame, tags);
  }

  #useRouterForAll(memory: Memory, frame: number, tags: number): void {
    const { lines } = this.#host;
    for (let session = 0; session < lines.count; session++)
      if (this.#phase[session] !== phase.none && vlanIds(lines.tagsOf(session)) === vlanIds(tags))
        this.#useRouter(session, memory, frame);
  }

  #useRouter(session: number, { bytes }: Memory, frame: number): void {
    const router = this.#advertisement;
    const current = this.#phase[session] as number;
    if (current === phase.done) this.#refresh(session);
    if (current !== phase.router || router.lifetimeSec === 0) return;
    const isSlaac = this.#options.method === 'slaac';
    if (isSlaac && !router.hasPrefix) return;
    copyAddress(this.#received, 0, this.gateway, session * addressWords);
    const { linkAddressAt } = router;
    copyMac(bytes, linkAddressAt < 0 ? frame + macBytes : linkAddressAt, this.gatewayMacs, session * macBytes);
    if (!isSlaac) {
      this.#phase[session] = phase.address;
      this.dhcpv6?.start(session);
      return;
    }
    const words = this.#words;
    this.#host.lines.writeMac(session, this.#mac, 0);
    copyAddress(router.prefix, 0, words, 0);
    writeInterfaceId(this.#mac, words, 2);
    this.#keepPrefix(session);
    this.#setAddress(session, words);
  }

  /** The prefix of an address of a session is advertised again. */
  #refresh(session: number): void {
    const { prefix, hasPrefix } = this.#advertisement;
    const at = session * addressWords;
    const isOwn = hasPrefix && prefix[0] === this.address[at] && prefix[1] === this.address[at + 1];
    if (this.#options.method === 'slaac' && isOwn) this.#keepPrefix(session);
  }

  #keepPrefix(session: number): void {
    const { timers } = this.#host.subscribers;
    const { validSec } = this.#advertisement;
    if (validSec === forever) timers.clear(session, timerKind.ipv6);
    else timers.set(session, timerKind.ipv6, validSec * 1000);
  }

  #setAddress(session: number, words: Int32Array): void {
    const at = session * addressWords;
    const owner = this.sessions.find(words, 0);
    if (owner >= 0 && owner !== session) {
      this.#onConflict(session);
      return;
    }
    copyAddress(words, 0, this.address, at);
    this.sessions.set(session, words, 0);
    // Another machine with the address objects; the address is used meanwhile (RFC 4429).
    this.#sender.probe(session, this.address, at);
    this.counters.sent++;
    this.#findGateway(session);
  }

  #findGateway(session: number): void {
    this.#phase[session] = phase.gateway;
    this.#attempts[session] = 0;
    this.#askGateway(session);
  }

  #onConflict(session: number): void {
    if (this.dhcpv6 === undefined) this.#host.onFailed(session, 'IPv6: address in use');
    else this.dhcpv6.decline(session);
  }

  #createClients(options: Dhcpv6ClientOptions): Dhcpv6Clients {
    const { frames, lines, subscribers, random } = this.#host;
    const { timers } = subscribers;
    return new Dhcpv6Clients(
      {
        ...{ frames, lines, random, timers },
        onBound: (session, isNew) => this.#onBound(session, isNew),
        onFailed: (session, cause) => this.#host.onFailed(session, cause),
      },
      options,
    );
  }

  #onBound(session: number, isNew: boolean): void {
    const { address } = this.dhcpv6 as Dhcpv6Clients;
    const at = session * addressWords;
    if (!isNew && isSameAddress(address, at, this.address, at)) return;
    // A session that asks for a prefix only has its link-local address.
    if (address[at] === 0) this.#findGateway(session);
    else this.#setAddress(session, address.slice(at, at + addressWords));
  }

  #onRouterTimer(session: number): void {
    this.counters.timeouts++;
    const attempts = (this.#attempts[session] as number) + 1;
    this.#attempts[session] = attempts;
    if (attempts < this.#options.neighbours.retries) this.#solicitRouter(session);
    else this.#host.onFailed(session, 'router advertisement: none');
  }

  #solicitRouter(session: number): void {
    this.#sender.solicitRouters(session);
    this.counters.sent++;
    this.#host.subscribers.timers.set(session, timerKind.ipv6, this.#options.neighbours.timeoutMs);
  }

  #onNeighbourTimer(session: number): void {
    if ((this.#attempts[session] as number) > 0) this.counters.timeouts++;
    if ((this.#attempts[session] as number) < this.#options.neighbours.retries) this.#askGateway(session);
    else {
      this.dhcpv6?.stop(session, this.#options.releases);
      this.#host.onFailed(session, 'IPv6: gateway does not answer');
    }
  }

  #askGateway(session: number): void {
    this.#attempts[session] = (this.#attempts[session] as number) + 1;
    this.#sender.solicit(session, this.gateway, session * addressWords);
    this.counters.sent++;
    this.#host.subscribers.timers.set(session, timerKind.keepAlive6, this.#options.neighbours.timeoutMs);
  }

  #onNeighbour(memory: Memory, frame: number, tags: number): void {
    const neighbour = this.#neighbour;
    const { lines } = this.#host;
    if (!neighbour.parse(memory, this.#icmp.body, this.#icmp.end, false)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const macAt = neighbour.linkAddressAt < 0 ? frame + macBytes : neighbour.linkAddressAt;
    const owner = this.sessions.find(neighbour.target, 0);
    if (owner >= 0 && vlanIds(lines.tagsOf(owner)) === vlanIds(tags)) {
      lines.writeMac(owner, this.#mac, 0);
      if (!isSameMac(memory.bytes, macAt, this.#mac, 0)) this.#onConflict(owner);
      return;
    }
    const session = lines.indexOf(memory.bytes, frame);
    if (session < 0 || !isSameAddress(neighbour.target, 0, this.gateway, session * addressWords)) return;
    copyMac(memory.bytes, macAt, this.gatewayMacs, session * macBytes);
    this.#onGateway(session);
  }

  #onGateway(session: number): void {
    const { timers } = this.#host.subscribers;
    const { intervalMs } = this.#options.neighbours;
    const current = this.#phase[session] as number;
    if (current !== phase.gateway && current !== phase.done) return;
    this.#attempts[session] = 0;
    if (intervalMs > 0) timers.set(session, timerKind.keepAlive6, intervalMs);
    else timers.clear(session, timerKind.keepAlive6);
    if (current === phase.done) return;
    this.#phase[session] = phase.done;
    this.#host.onReady(session);
  }

  /** Answers solicitations for the addresses of sessions. */
  #onSolicitation(memory: Memory, frame: number, tags: number): void {
    const neighbour = this.#neighbour;
    const { lines } = this.#host;
    if (!neighbour.parse(memory, this.#icmp.body, this.#icmp.end, true)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const { target } = neighbour;
    const session = this.#ownerOf(target);
    if (session < 0 || (this.#phase[session] as number) === phase.none) return;
    lines.writeMac(session, this.#mac, 0);
    if (vlanIds(lines.tagsOf(session)) !== vlanIds(tags) || isSameMac(memory.bytes, frame + macBytes, this.#mac, 0))
      return;
    copyMac(memory.bytes, frame + macBytes, this.#peerMac, 0);
    this.#sender.advertise(session, target, { words: this.#received, mac: this.#peerMac });
    this.counters.sent++;
  }

  /** The session that has an address: its own, or the link-local one of its MAC. */
  #ownerOf(words: Int32Array): number {
    if (!isLinkLocal(words, 0)) return this.sessions.find(words, 0);
    return readInterfaceMac(words, 0, this.#mac) ? this.#host.lines.indexOf(this.#mac, 0) : -1;
  }
}
