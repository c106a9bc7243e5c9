import type { Memory } from '../../bytes/memory.ts';
import { macBytes } from '../../ethernet/ethernet.ts';
import { IcmpMessage, icmp6Type } from '../../icmp/icmp.ts';
import { copyAddress, isSameAddress } from '../../ip/address.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { Ipv6Header, ipv6Bytes } from '../../ip/ipv6.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { UdpHeader } from '../../udp/udp.ts';
import type { SessionCause } from '../causes.ts';
import { Dhcpv6Clients } from '../dhcpv6/client.ts';
import type { Dhcpv6ClientOptions } from '../dhcpv6/client-options.ts';
import { dhcpv6Port } from '../dhcpv6/message.ts';
import { Dhcpv6Server } from '../dhcpv6/server.ts';
import type { Dhcpv6ServerOptions } from '../dhcpv6/server-options.ts';
import type { FrameRoute, PacketSink } from '../frames.ts';
import { addressWords, PacketWriter6, readAddresses6 } from '../ipv6/packets.ts';
import type { LineDirectory } from '../lines.ts';
import type { SessionTimers } from '../timers.ts';
import type { Ip6cp } from './network-control.ts';
import { type PppLink, pppProtocol } from './packet.ts';
import { RouterDiscovery } from './router-discovery.ts';

const echoBytes = 32;
const none = -1;

export interface SessionIpv6Options {
  readonly capacity: number;
  readonly isServer: boolean;
  /** Client: a session is up only after a router advertisement. */
  readonly autoconfigure: boolean;
  /** Client: a session is up only with what it asks for by DHCPv6. */
  readonly dhcpv6?: (Dhcpv6ClientOptions & { readonly releases: boolean }) | undefined;
  /** Server: what it hands out by DHCPv6. */
  readonly pools?: Dhcpv6ServerOptions | undefined;
}

export interface SessionIpv6Host {
  readonly link: PppLink;
  readonly timers: SessionTimers;
  readonly random: () => number;
  readonly ipv6: Ip6cp;
  /** MACs of subscribers, of which their identifiers are made; those of a server are not needed. */
  readonly lines?: LineDirectory | undefined;
  /** Client: the session has what it needs. */
  onReady(session: number): void;
  onFailed(session: number, cause: SessionCause): void;
  /** A packet that the server has sent for itself. */
  onSent?(session: number, bytes: number): void;
}

const noMac: Uint8Array = new Uint8Array(macBytes);
/** Identifies the server where nothing else does. */
const serverMac: Uint8Array = Uint8Array.of(2, 0, 0x5e, 0, 0, 1);

/** Packets of sessions as others write those of frames. */
const sinkOf = (link: PppLink): PacketSink => ({
  get memory() {
    return link.memory;
  },
  begin: (session, length) => link.begin(session, length),
  send: (at, end, _type, { path }) => link.send(path, at, end, pppProtocol.ipv6),
});

const routeOf = (session: number): FrameRoute => ({
  ...{ path: session, tags: 0, sourceMac: noMac, destinationMac: noMac },
});

/** IPv6 inside PPP sessions after IP6CP, of both ends: routers, addresses and prefixes by DHCPv6, echoes. */
export class SessionIpv6 {
  readonly routers: RouterDiscovery;
  readonly dhcpv6: Dhcpv6Clients | undefined;
  readonly server: Dhcpv6Server | undefined;
  readonly counters = { echoSent: 0, echoReceived: 0, echoAnswered: 0 };
  readonly #options: SessionIpv6Options;
  readonly #host: SessionIpv6Host;
  readonly #packets: PacketWriter6;
  readonly #ip = new Ipv6Header();
  readonly #icmp = new IcmpMessage();
  readonly #udp = new UdpHeader();
  readonly #received = new Int32Array(2 * addressWords);
  readonly #own = new Int32Array(addressWords);
  readonly #peer = new Int32Array(addressWords);
  /** Server: the lease of each session, and the other direction. */
  readonly #leases = new Map<number, number>();
  readonly #owners = new Map<number, number>();
  #asking = none;
  /** Server: a session has got what DHCPv6 hands out, or has given it back. */
  onLease: ((session: number) => void) | undefined;
  #echo = 0;

  constructor(host: SessionIpv6Host, options: SessionIpv6Options) {
    const { link, timers, ipv6 } = host;
    const { capacity, pools, dhcpv6 } = options;
    this.#host = host;
    this.#options = options;
    const sink = sinkOf(link);
    this.#packets = new PacketWriter6(sink);
    this.routers = new RouterDiscovery({
      ...{ link, timers, ipv6, capacity, isManaged: pools !== undefined },
      onRouter: (session) => this.#afterRouter(session),
      onNone: (session) => host.onFailed(session, 'router advertisement: none'),
    });
    if (dhcpv6 !== undefined && !options.isServer) this.dhcpv6 = this.#createClients(sink, dhcpv6);
    if (pools !== undefined && options.isServer)
      this.server = new Dhcpv6Server(
        {
          frames: sink,
          mac: serverMac,
          random: host.random,
          onLease: (lease, isActive) => this.#onLease(lease, isActive),
        },
        pools,
      );
  }

  /** Client: asks for what the session needs; false if it needs nothing. */
  begin(session: number): boolean {
    if (this.#options.isServer) return false;
    if (this.#options.autoconfigure) this.routers.begin(session);
    else if (this.dhcpv6 !== undefined) this.dhcpv6.start(session);
    else return false;
    return true;
  }

  /** The timer of the session is in use. */
  isActive(session: number): boolean {
    return this.routers.isActive(session) || this.dhcpv6?.isActive(session) === true;
  }

  /** The session ends in order. */
  end(session: number): void {
    this.dhcpv6?.stop(session, this.#options.dhcpv6?.releases ?? false);
    this.reset(session);
  }

  /** The session is gone. */
  reset(session: number): void {
    this.routers.reset(session);
    if (this.dhcpv6?.isActive(session)) this.dhcpv6.stop(session, false);
    const lease = this.#leases.get(session);
    if (lease !== undefined) this.server?.release(lease);
  }

  onTimer(session: number): void {
    if (this.routers.isActive(session)) this.routers.onTimer(session);
    else this.dhcpv6?.onTimer(session);
  }

  advance(nowMs: number): void {
    this.server?.advance(nowMs);
  }

  /** Server: the lease of a session; -1: it has none. */
  leaseOf(session: number): number {
    return this.#leases.get(session) ?? none;
  }

  /** Server: the session with an address, or -1. */
  sessionOf(words: Int32Array, at: number): number {
    return this.#owners.get(this.server?.leaseOf(words, at) ?? none) ?? none;
  }

  /** Client: writes the address of a session; false if it has its link-local one alone. */
  writeAddress(session: number, words: Int32Array): boolean {
    const at = session * addressWords;
    const found = [this.dhcpv6?.address, this.routers.address].find((all) => all !== undefined && all[at] !== 0);
    if (found !== undefined) copyAddress(found, at, words, 0);
    return found !== undefined;
  }

  /** An IPv6 packet of a session; false if it is for others, too. */
  receive(session: number, memory: Memory, start: number, end: number): boolean {
    if (this.routers.receive(session, memory, start, end)) return true;
    const ip = this.#ip;
    if (!ip.parse(memory, start, end) || ip.isFragment) return false;
    readAddresses6(memory, start, this.#received);
    if (ip.protocol === ipProtocol.udp) return this.#receiveUdp(session, memory);
    if (ip.protocol === ipProtocol.icmp6) this.#receiveEcho(session, memory);
    return false;
  }

  /** Sends an echo request to the other end; returns its bytes, 0: it could not be sent. */
  prove(session: number, dscp: number): number {
    const packets = this.#packets;
    this.#writeLinkLocals(session);
    if (!this.writeAddress(session, this.#received)) copyAddress(this.#own, 0, this.#received, 0);
    packets.setAddresses(this.#received, 0, this.#peer, 0);
    this.#echo = (this.#echo + 1) & 0xffff;
    const message = { type: icmp6Type.echo, word: (session << 16) | this.#echo, bodyBytes: echoBytes, tos: dscp << 2 };
    if (!packets.sendIcmp(message, routeOf(session))) return 0;
    this.counters.echoSent++;
    return ipv6Bytes + 8 + echoBytes;
  }

  #afterRouter(session: number): void {
    if (this.dhcpv6 === undefined) this.#host.onReady(session);
    else this.dhcpv6.start(session);
  }

  #receiveUdp(session: number, memory: Memory): boolean {
    const udp = this.#udp;
    const { payload, end } = this.#ip;
    if (!udp.parse(memory, payload, end, 0, false)) return false;
    const { destinationPort: port } = udp;
    if (port === dhcpv6Port.client && this.dhcpv6 !== undefined)
      this.dhcpv6.receive(session, memory, udp.payload, udp.end);
    else if (port === dhcpv6Port.server && this.server !== undefined) this.#serve(session, memory, this.server);
    else return false;
    return true;
  }

  #serve(session: number, memory: Memory, server: Dhcpv6Server): void {
    this.#writeLinkLocals(session);
    this.#asking = session;
    const sender = { route: routeOf(session), line: session, source: this.#received, own: this.#own };
    server.receive(memory, { start: this.#udp.payload, end: this.#udp.end }, sender);
    this.#asking = none;
  }

  #receiveEcho(session: number, memory: Memory): void {
    const { payload, end } = this.#ip;
    const icmp = this.#icmp;
    const sum = pseudoHeaderSum(this.#received, 0, ipProtocol.icmp6) + end - payload;
    if (!icmp.parse(memory, payload, end, sum, true)) return;
    this.#writeLinkLocals(session);
    const { body, end: bodyEnd, word, type } = icmp;
    if (type === icmp6Type.echoReply && isSameAddress(this.#received, 0, this.#peer, 0)) this.counters.echoReceived++;
    if (type !== icmp6Type.echo || !isSameAddress(this.#received, addressWords, this.#own, 0)) return;
    const packets = this.#packets;
    packets.setAddresses(this.#own, 0, this.#received, 0);
    const message = { type: icmp6Type.echoReply, word, bodyBytes: bodyEnd - body };
    const isSent = packets.sendIcmp(message, routeOf(session), (at) =>
      packets.memory.bytes.set(memory.bytes.subarray(body, bodyEnd), at),
    );
    if (!isSent) return;
    this.counters.echoAnswered++;
    this.#host.onSent?.(session, ipv6Bytes + end - payload);
  }

  /** Link-local addresses of both ends, from the identifiers that they have agreed on. */
  #writeLinkLocals(session: number): void {
    const { own, peer } = this.#host.ipv6;
    for (const [words, ids] of [[this.#own, own] as const, [this.#peer, peer] as const]) {
      words[0] = 0xfe800000 | 0;
      words[1] = 0;
      words[2] = ids[session * 2] as number;
      words[3] = ids[session * 2 + 1] as number;
    }
  }

  #onLease(lease: number, isActive: boolean): void {
    const owner = isActive ? this.#asking : this.#owners.get(lease);
    if (owner === undefined || owner === none) return;
    if (isActive) {
      this.#leases.set(owner, lease);
      this.#owners.set(lease, owner);
    } else {
      this.#leases.delete(owner);
      this.#owners.delete(lease);
    }
    this.onLease?.(owner);
  }

  #createClients(frames: PacketSink, options: Dhcpv6ClientOptions): Dhcpv6Clients {
    const { timers, random, lines } = this.#host;
    const directory = {
      count: this.#options.capacity,
      writeMac: (session: number, bytes: Uint8Array, at: number) => lines?.writeMac(session, bytes, at),
      tagsOf: () => 0,
    };
    return new Dhcpv6Clients(
      {
        ...{ frames, timers, random, lines: directory },
        writeOwn: (session, words) => {
          this.#writeLinkLocals(session);
          copyAddress(this.#own, 0, words, 0);
        },
        onBound: (session, isNew) => {
          if (isNew) this.#host.onReady(session);
        },
        onFailed: (session, cause) => this.#host.onFailed(session, cause),
      },
      options,
    );
  }
}
