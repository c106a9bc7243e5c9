import type { Memory } from '../bytes/memory.ts';
import { ArpMessage, arpBytes, arpOperation, writeArp } from '../ethernet/arp.ts';
import { copyMac, etherType, isSameMac, macBytes, vlanIds } from '../ethernet/ethernet.ts';
import { icmp4Type } from '../icmp/icmp.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { Ipv4Header } from '../ip/ipv4.ts';
import { ipv6Bytes } from '../ip/ipv6.ts';
import { udpBytes } from '../udp/udp.ts';
import { AddressIndex } from './address-index.ts';
import type { SessionCause } from './causes.ts';
import { type DhcpClientOptions, DhcpClients } from './dhcp/client.ts';
import { dhcpPort } from './dhcp/message.ts';
import { echoPacketBytes, icmpTypeOf, writeEcho } from './echo.ts';
import { broadcastMac, type FrameWriter } from './frames.ts';
import { Ipoe6, type Ipoe6Options } from './ipv6/ipoe6.ts';
import { addressWords, readAddresses6 } from './ipv6/packets.ts';
import type { Lines } from './lines.ts';
import type { AccessProtocol, Subscribers } from './subscribers.ts';
import { type TimerKind, timerKind } from './timers.ts';

export interface IpoeOptions {
  /** Where addresses come from: DHCP, or first address, gateway and distance; undefined: no IPv4. */
  readonly ipv4:
    | { readonly dhcp: DhcpClientOptions }
    | { readonly first: number; readonly gateway: number; readonly step: number }
    | undefined;
  /** Undefined: no IPv6. */
  readonly ipv6?: Ipoe6Options | undefined;
  readonly releases: boolean;
  readonly neighbours: {
    readonly timeoutMs: number;
    readonly retries: number;
    /** Time between checks of the gateway; 0: none. */
    readonly intervalMs: number;
    /** Gateways that may answer; empty: any. */
    readonly trusted: readonly number[];
  };
  /** DSCP of packets that prove a session. */
  readonly dscp: number;
}

export interface IpoeHost {
  readonly frames: FrameWriter;
  readonly lines: Lines;
  readonly subscribers: Subscribers;
  readonly random: () => number;
  /** An IP packet to the address of a session. */
  onPacket?(session: number, memory: Memory, start: number, end: number): void;
  /** An IP packet to a group, for all sessions of a VLAN. */
  onMulticast?(session: number, tags: number, memory: Memory, ip: Ipv4Header): void;
}

/** Subscribers whose packets go directly over Ethernet: an address, and a gateway that answers. */
export class Ipoe implements AccessProtocol {
  readonly dhcp: DhcpClients | undefined;
  readonly ipv6: Ipoe6 | undefined;
  readonly address: Int32Array;
  readonly gateway: Int32Array;
  readonly counters = { arpSent: 0, arpReceived: 0, arpTimeouts: 0, echoSent: 0, echoReceived: 0, invalid: 0 };
  readonly #gatewayMacs: Uint8Array;
  readonly #attempts: Uint8Array;
  readonly #isKnown: Uint8Array;
  /** IPv4 of the session is set up. */
  readonly #isReady: Uint8Array;
  readonly #options: IpoeOptions;
  readonly #host: IpoeHost;
  readonly #sessions: AddressIndex;
  readonly #key = new Int32Array(1);
  readonly #arp = new ArpMessage();
  readonly #ip = new Ipv4Header();
  readonly #mac = new Uint8Array(macBytes);
  readonly #peerMac = new Uint8Array(macBytes);
  readonly #received6 = new Int32Array(2 * addressWords);

  constructor(host: IpoeHost, options: IpoeOptions) {
    const { count } = host.lines;
    this.#host = host;
    this.#options = options;
    this.address = new Int32Array(count);
    this.gateway = new Int32Array(count);
    this.#gatewayMacs = new Uint8Array(count * macBytes);
    this.#attempts = new Uint8Array(count);
    this.#isKnown = new Uint8Array(count);
    this.#sessions = new AddressIndex(count, 1);
    this.#isReady = new Uint8Array(count);
    const { ipv4, ipv6 } = options;
    if (ipv4 !== undefined && 'dhcp' in ipv4) this.dhcp = this.#createDhcp(ipv4.dhcp);
    if (ipv6 !== undefined) this.ipv6 = this.#createIpv6(ipv6);
  }

  start(session: number): void {
    const { ipv4 } = this.#options;
    const { subscribers } = this.#host;
    this.#isReady[session] = ipv4 === undefined ? 1 : 0;
    if (ipv4 === undefined) subscribers.onStep(session, 'IPv6');
    this.ipv6?.start(session);
    if (this.dhcp !== undefined) {
      subscribers.onStep(session, 'DHCP');
      this.dhcp.start(session);
    } else if (ipv4 !== undefined && 'first' in ipv4)
      this.#setAddress(session, (ipv4.first + session * ipv4.step) | 0, ipv4.gateway);
  }

  stop(session: number): void {
    this.dhcp?.stop(session, this.#options.releases);
    this.ipv6?.stop(session);
    this.drop(session);
    this.#host.subscribers.onDown(session, 'stopped');
  }

  drop(session: number): void {
    this.dhcp?.stop(session, false);
    this.ipv6?.drop(session);
    this.#clearAddress(session);
  }

  onTimer(session: number, kind: TimerKind): void {
    if (kind === timerKind.ipv4) this.dhcp?.onTimer(session);
    else if (kind === timerKind.keepAlive) this.#onArpTimer(session);
    else this.ipv6?.onTimer(session, kind);
  }

  /** The session that has an address, or -1. */
  sessionOf(address: number): number {
    this.#key[0] = address;
    return this.#sessions.find(this.#key, 0);
  }

  /** IPv4 address of a session; 0: it has none. */
  addressOf(session: number): number {
    return this.address[session] as number;
  }

  /** Largest IP packet of a session. */
  get mtu(): number {
    return this.#host.frames.mtu;
  }

  /** Where an IP packet of a session is written, or -1; a session without a gateway cannot send. */
  begin(session: number, length: number): number {
    const canSend = this.#isKnown[session] === 1 || this.ipv6?.isReady(session);
    return canSend ? this.#host.frames.begin(session, length) : -1;
  }

  /** Sends the IP packet [at, end) of a session to its gateway. */
  sendPacket(session: number, at: number, end: number): void {
    const { bytes } = this.#host.frames.memory;
    const isIpv6 = (bytes[at] as number) >>> 4 === 6 && this.ipv6 !== undefined;
    copyMac(isIpv6 ? this.ipv6.gatewayMacs : this.#gatewayMacs, session * macBytes, this.#peerMac, 0);
    this.#send(session, at, end, isIpv6 ? etherType.ipv6 : etherType.ipv4, this.#peerMac);
  }

  /** Sends the IPv4 packet [at, end) of a session to a group. */
  sendMulticast(session: number, at: number, end: number, group: number): void {
    this.#peerMac.set([1, 0, 0x5e, (group >>> 16) & 0x7f, (group >>> 8) & 255, group & 255]);
    this.#send(session, at, end, etherType.ipv4, this.#peerMac);
  }

  /** Writes the MAC of a session's gateway. */
  writeGatewayMac(session: number, to: Uint8Array, at: number): void {
    copyMac(this.#gatewayMacs, session * macBytes, to, at);
  }

  /** The payload [start, end) of an Ethernet frame whose addresses stand at `frame`. */
  receive(memory: Memory, frame: number, header: { type: number; payload: number; tags: number }, end: number): void {
    if (header.type === etherType.arp) this.#receiveArp(memory, header.payload, end, header.tags);
    else if (header.type === etherType.ipv4) this.#receiveIp(memory, frame, header, end);
    else if (header.type === etherType.ipv6 && this.ipv6 !== undefined) {
      this.ipv6.receive(memory, frame, header, end);
      this.#passOn6(memory, header, end, this.ipv6);
    }
  }

  /** Packets to the addresses of sessions are for the hosts above, too. */
  #passOn6(memory: Memory, { payload, tags }: { payload: number; tags: number }, end: number, ipv6: Ipoe6): void {
    if (end - payload < ipv6Bytes) return;
    readAddresses6(memory, payload, this.#received6);
    const session = ipv6.sessions.find(this.#received6, addressWords);
    const last = payload + ipv6Bytes + memory.view.getUint16(payload + 4);
    if (session < 0 || last > end || vlanIds(this.#host.lines.tagsOf(session)) !== vlanIds(tags)) return;
    // Answers to the own echoes are counted where they are recognised.
    const { subscribers, onPacket } = this.#host;
    if (memory.view.getUint8(payload + 6) !== ipProtocol.icmp6)
      subscribers.table.countReceived(session, last - payload);
    onPacket?.(session, memory, payload, last);
  }

  /** Sends an echo request to the gateway: the proof that the session carries packets. */
  prove(session: number): void {
    if (this.address[session] === 0) return;
    const { frames, subscribers } = this.#host;
    const at = frames.begin(session, echoPacketBytes);
    if (at < 0) return;
    this.#echo = (this.#echo + 1) & 0xffff;
    const end = writeEcho(frames, at, {
      source: this.address[session] as number,
      destination: this.gateway[session] as number,
      word: (session << 16) | this.#echo,
      dscp: this.#options.dscp,
    });
    this.counters.echoSent++;
    subscribers.table.countSent(session, end - at);
    this.sendPacket(session, at, end);
  }

  #echo = 0;

  #createDhcp(options: DhcpClientOptions): DhcpClients {
    const { frames, lines, subscribers, random } = this.#host;
    return new DhcpClients(
      {
        frames,
        lines,
        random,
        timers: subscribers.timers,
        onBound: (session, isNew) => this.#onBound(session, isNew),
        onFailed: (session, cause) => this.#fail(session, cause),
      },
      options,
    );
  }

  #createIpv6(options: Ipoe6Options): Ipoe6 {
    const { frames, lines, subscribers, random } = this.#host;
    return new Ipoe6(
      {
        ...{ frames, lines, subscribers, random },
        onReady: (session) => this.#onReady(session),
        onFailed: (session, cause) => this.#fail(session, cause),
      },
      options,
    );
  }

  /** One version of IP is set up: the session is up when all are. */
  #onReady(session: number): void {
    const { subscribers } = this.#host;
    if (this.#isReady[session] === 0) return;
    if (this.ipv6 === undefined || this.ipv6.isReady(session)) subscribers.onUp(session);
    else subscribers.onStep(session, 'IPv6');
  }

  #onBound(session: number, isNew: boolean): void {
    const dhcp = this.dhcp as DhcpClients;
    const address = dhcp.address[session] as number;
    const router = dhcp.router[session] as number;
    if (!isNew && address === this.address[session] && router === this.gateway[session]) return;
    this.#clearAddress(session);
    this.#setAddress(session, address, router);
  }

  #setAddress(session: number, address: number, gateway: number): void {
    const { trusted } = this.#options.neighbours;
    if (this.sessionOf(address) >= 0) {
      if (this.dhcp === undefined) this.#fail(session, 'DHCP: address in use');
      else this.dhcp.decline(session);
      return;
    }
    if (trusted.length > 0 && !trusted.includes(gateway)) {
      this.#fail(session, 'ARP: gateway is not trusted');
      return;
    }
    this.#key[0] = address;
    this.#sessions.set(session, this.#key, 0);
    this.address[session] = address;
    this.gateway[session] = gateway;
    this.#isKnown[session] = 0;
    // A network without a gateway has nothing that must answer.
    if (gateway === 0) {
      this.#isReady[session] = 1;
      this.#onReady(session);
      return;
    }
    this.#host.subscribers.onStep(session, 'gateway');
    this.#attempts[session] = 0;
    this.#askGateway(session);
  }

  #clearAddress(session: number): void {
    this.#sessions.clear(session);
    this.address[session] = 0;
    this.gateway[session] = 0;
    this.#host.subscribers.timers.clear(session, timerKind.keepAlive);
  }

  #fail(session: number, cause: SessionCause): void {
    this.drop(session);
    this.#host.subscribers.onDown(session, cause);
  }

  #onArpTimer(session: number): void {
    const attempts = this.#attempts[session] as number;
    if (attempts > 0) this.counters.arpTimeouts++;
    if (attempts >= this.#options.neighbours.retries) {
      this.dhcp?.stop(session, this.#options.releases);
      this.#fail(session, 'ARP: gateway does not answer');
    } else this.#askGateway(session);
  }

  #askGateway(session: number): void {
    this.#attempts[session] = (this.#attempts[session] as number) + 1;
    const sender = this.address[session] as number;
    this.#sendArp(session, { operation: arpOperation.request, sender, target: this.gateway[session] as number });
    this.#host.subscribers.timers.set(session, timerKind.keepAlive, this.#options.neighbours.timeoutMs);
  }

  #receiveArp(memory: Memory, start: number, end: number, tags: number): void {
    const arp = this.#arp;
    if (!arp.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    this.counters.arpReceived++;
    const { lines } = this.#host;
    const owner = this.sessionOf(arp.sender);
    if (owner >= 0 && vlanIds(lines.tagsOf(owner)) === vlanIds(tags)) this.#checkConflict(owner, memory);
    if (arp.operation === arpOperation.request) this.#answerArp(memory, tags);
    const session = this.sessionOf(arp.target);
    if (session < 0 || arp.sender !== this.gateway[session] || vlanIds(lines.tagsOf(session)) !== vlanIds(tags)) return;
    copyMac(memory.bytes, arp.senderMacAt, this.#gatewayMacs, session * macBytes);
    if (arp.operation === arpOperation.reply) this.#onGateway(session);
  }

  #onGateway(session: number): void {
    const { timers } = this.#host.subscribers;
    const { intervalMs } = this.#options.neighbours;
    this.#attempts[session] = 0;
    if (intervalMs > 0) timers.set(session, timerKind.keepAlive, intervalMs);
    else timers.clear(session, timerKind.keepAlive);
    if (this.#isKnown[session] === 1) return;
    this.#isKnown[session] = 1;
    this.#isReady[session] = 1;
    this.#onReady(session);
  }

  #checkConflict(session: number, { bytes }: Memory): void {
    this.#host.lines.writeMac(session, this.#mac, 0);
    if (isSameMac(bytes, this.#arp.senderMacAt, this.#mac, 0)) return;
    if (this.dhcp !== undefined) this.dhcp.decline(session);
    else this.#fail(session, 'DHCP: address in use');
  }

  /** Answers requests for addresses of sessions, and for the address of the relay. */
  #answerArp(memory: Memory, tags: number): void {
    const arp = this.#arp;
    const isRelay = arp.target !== 0 && arp.target === this.dhcp?.relayAddress;
    const session = isRelay ? 0 : this.sessionOf(arp.target);
    if (session < 0 || arp.sender === arp.target) return;
    if (!isRelay && vlanIds(this.#host.lines.tagsOf(session)) !== vlanIds(tags)) return;
    copyMac(memory.bytes, arp.senderMacAt, this.#peerMac, 0);
    const { sender, target } = arp;
    const answer = { operation: arpOperation.reply, sender: target, target: sender, targetMac: this.#peerMac, tags };
    this.#sendArp(session, answer);
  }

  #sendArp(
    session: number,
    message: { operation: number; sender: number; target: number; targetMac?: Uint8Array; tags?: number },
  ): void {
    const { frames, lines } = this.#host;
    const at = frames.begin(session, arpBytes);
    if (at < 0) return;
    const { targetMac } = message;
    lines.writeMac(session, this.#mac, 0);
    writeArp(frames.memory, at, { ...message, targetMac, senderMac: this.#mac });
    this.counters.arpSent++;
    this.#send(session, at, at + arpBytes, etherType.arp, targetMac ?? broadcastMac, message.tags);
  }

  #receiveIp(memory: Memory, frame: number, { payload, tags }: { payload: number; tags: number }, end: number): void {
    const ip = this.#ip;
    if (!ip.parse(memory, payload, end, true)) {
      this.counters.invalid++;
      return;
    }
    if (ip.protocol === ipProtocol.udp && !ip.isFragment && ip.end - ip.payload >= udpBytes) {
      const port = memory.view.getUint16(ip.payload + 2);
      const isRelay = port === dhcpPort.server && this.dhcp?.relayAddress !== 0;
      if (port === dhcpPort.client || isRelay) {
        this.dhcp?.receive(memory, ip.payload + udpBytes, ip.end, frame + macBytes);
        return;
      }
    }
    if (ip.destination >>> 28 === 0xe) this.#host.onMulticast?.(-1, tags, memory, ip);
    const session = this.sessionOf(ip.destination);
    if (session < 0 || vlanIds(this.#host.lines.tagsOf(session)) !== vlanIds(tags)) return;
    this.#host.subscribers.table.countReceived(session, ip.end - payload);
    const isFromGateway = ip.source === this.gateway[session];
    if (isFromGateway && icmpTypeOf(memory, ip) === icmp4Type.echoReply) this.counters.echoReceived++;
    this.#host.onPacket?.(session, memory, payload, ip.end);
  }

  #send(session: number, at: number, end: number, type: number, destinationMac: Uint8Array, tags?: number): void {
    const { frames, lines } = this.#host;
    lines.writeMac(session, this.#mac, 0);
    const route = { path: session, tags: tags ?? lines.tagsOf(session), sourceMac: this.#mac, destinationMac };
    frames.send(at, end, type, route);
  }
}
