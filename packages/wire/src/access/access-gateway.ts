import type { Memory } from '../bytes/memory.ts';
import { EthernetHeader, etherType, macBytes } from '../ethernet/ethernet.ts';
import type { FrameSink } from '../host-group/hosts.ts';
import { isMappedAddress } from '../ip/address.ts';
import type { SessionCause } from './causes.ts';
import { DelayedSink } from './delayed-sink.ts';
import type { AdmittedClient } from './dhcp/admission.ts';
import type { DhcpServerOptions } from './dhcp/server.ts';
import { Authenticator, type AuthenticatorOptions } from './dot1x/authenticator.ts';
import { eapolType } from './dot1x/eapol.ts';
import { FrameWriter } from './frames.ts';
import { IpoeGateway } from './ipoe-gateway.ts';
import { Ipoe6Gateway, type Ipoe6GatewayOptions } from './ipv6/ipoe6-gateway.ts';
import { FrameLink, type TunnelAddress } from './l2tp/frame-link.ts';
import { L2tpLns, type L2tpLnsHost, type L2tpLnsOptions } from './l2tp/lns.ts';
import { PppoeServer, type PppoeServerOptions } from './pppoe/server.ts';
import { RadiusClient, type RadiusClientHost, type RadiusClientOptions } from './radius/client.ts';

export interface AccessGatewayOptions {
  readonly sink: FrameSink;
  readonly random: () => number;
  readonly mac: Uint8Array;
  readonly outerTpid?: number;
  readonly pppoe?: (PppoeServerOptions & { readonly answerDelayMs: number }) | undefined;
  /** Sessions in tunnels to one address on the port. */
  readonly l2tp?: (L2tpLnsOptions & { readonly port: TunnelAddress }) | undefined;
  /** A session of PPPoE is up. */
  readonly onEstablished?: ((session: number, setupMs: number) => void) | undefined;
  /** A session of PPPoE is gone. */
  readonly onEnded?: ((session: number, cause: SessionCause, wasUp: boolean) => void) | undefined;
  /** A session in a tunnel is up. */
  readonly onTunnelled?: ((session: number, setupMs: number) => void) | undefined;
  /** A session in a tunnel is gone. */
  readonly onTunnelledEnd?: ((session: number, cause: SessionCause, wasUp: boolean) => void) | undefined;
  /** A DHCP lease is confirmed, or over. */
  readonly onLease?: ((lease: number, isActive: boolean) => void) | undefined;
  readonly dhcp?: (DhcpServerOptions & { readonly answerDelayMs: number }) | undefined;
  /** A client of DHCP has been let in or refused by the RADIUS server. */
  readonly onAdmission?: ((client: AdmittedClient) => void) | undefined;
  /** Who is let in before anything else is taken of them. */
  readonly dot1x?: Omit<AuthenticatorOptions, 'mac'> | undefined;
  /** The RADIUS server that those parts ask whose options say so. */
  readonly radius?: (RadiusClientOptions & Pick<RadiusClientHost, 'send'>) | undefined;
  /** The state of a supplicant has changed. */
  readonly onPort?: ((index: number) => void) | undefined;
  /** IPv6 of subscribers without PPP. */
  readonly ipv6?: Ipoe6GatewayOptions | undefined;
  /** A DHCPv6 lease is confirmed, or over. */
  readonly onLease6?: ((lease: number, isActive: boolean) => void) | undefined;
}

/** A subscriber by the protocol that it came in by. */
interface Subscriber {
  readonly link: IpoeGateway | Ipoe6Gateway | PppoeServer | L2tpLns;
  readonly index: number;
}

/** The far end of subscribers on one port: frames in by `receive`, out through the sink, time by `advance`. */
export class AccessGateway {
  readonly ipoe: IpoeGateway | undefined;
  readonly ipoe6: Ipoe6Gateway | undefined;
  readonly pppoe: PppoeServer | undefined;
  readonly l2tp: L2tpLns | undefined;
  readonly dot1x: Authenticator | undefined;
  readonly radius: RadiusClient | undefined;
  readonly frames: FrameWriter;
  readonly #ethernet = new EthernetHeader();
  readonly #delayed: DelayedSink[] = [];
  readonly #tunnelLink: FrameLink | undefined;
  /** Takes IP packets of subscribers for hosts behind the gateway. */
  onPacket: ((memory: Memory, start: number, end: number) => void) | undefined;
  #receiver: Subscriber | undefined;

  constructor(options: AccessGatewayOptions) {
    const { sink, mac, outerTpid, dhcp, pppoe, random, onEstablished, onEnded, onLease } = options;
    const onPacket = (memory: Memory, start: number, end: number) => this.onPacket?.(memory, start, end);
    this.frames = new FrameWriter(sink, outerTpid);
    const radius = options.radius && new RadiusClient({ random, send: options.radius.send }, options.radius);
    this.radius = radius;
    if (dhcp !== undefined) {
      const { onAdmission } = options;
      const dhcpFrames = this.#delayedFrames(options, dhcp.answerDelayMs);
      const host = { frames: this.frames, dhcpFrames, mac, random, radius, onLease, onAdmission, onPacket };
      this.ipoe = new IpoeGateway(host, dhcp);
    }
    const { ipv6, onLease6, dot1x, onPort } = options;
    if (dot1x !== undefined)
      this.dot1x = new Authenticator(
        { frames: this.frames, random, radius, onChange: (index) => onPort?.(index) },
        { ...dot1x, mac },
      );
    if (ipv6 !== undefined)
      this.ipoe6 = new Ipoe6Gateway({ frames: this.frames, mac, random, onLease: onLease6, onPacket }, ipv6);
    if (pppoe !== undefined) {
      const offerFrames = this.#delayedFrames(options, pppoe.answerDelayMs);
      const host = { frames: this.frames, offerFrames, mac, random, radius, onEstablished, onEnded, onPacket };
      this.pppoe = new PppoeServer(host, pppoe);
    }
    const { l2tp, onTunnelled, onTunnelledEnd } = options;
    this.#tunnelLink = l2tp && new FrameLink(this.frames, { ...l2tp.port, mac, tags: 0 });
    this.l2tp = this.#createLns(
      { random, radius, onEstablished: onTunnelled, onEnded: onTunnelledEnd, onPacket },
      l2tp,
    );
  }

  #createLns(host: Omit<L2tpLnsHost, 'link'>, options: L2tpLnsOptions | undefined): L2tpLns | undefined {
    const link = this.#tunnelLink;
    if (options === undefined || link === undefined) return undefined;
    const lns = new L2tpLns({ ...host, link }, options);
    link.onDatagram = (peer, memory, start, end) => lns.receive(peer, memory, start, end);
    lns.start();
    return lns;
  }

  /** Largest IP packet to any subscriber. */
  get mtu(): number {
    return this.l2tp?.mtu ?? this.pppoe?.mtu ?? this.frames.mtu;
  }

  /** Whether a subscriber has the address, that of IPv4 mapped. */
  reaches(words: Int32Array, at: number): boolean {
    return this.#find(words, at) !== undefined;
  }

  /** Where an IP packet of up to `length` bytes to the subscriber with the address is written, or -1. */
  beginPacket(words: Int32Array, at: number, length: number): number {
    this.#receiver = this.#find(words, at);
    return this.#receiver?.link.begin(this.#receiver.index, length) ?? -1;
  }

  /** Sends the IP packet [at, end) to the subscriber of the last `beginPacket`. */
  sendPacket(at: number, end: number): void {
    this.#receiver?.link.sendPacket(this.#receiver.index, at, end);
  }

  receive(memory: Memory, start: number, end: number): void {
    const header = this.#ethernet;
    if (!header.parse(memory, start, end)) return;
    if (this.dot1x !== undefined) {
      if (header.type === eapolType) this.dot1x.receive(memory, start, header, end);
      if (!this.dot1x.isOpen(memory.bytes, start + macBytes, header.tags)) return;
    }
    this.ipoe?.receive(memory, start, header, end);
    if (header.type === etherType.ipv6) this.ipoe6?.receive(memory, start, header, end);
    this.pppoe?.receive(memory, start, header, end);
    this.#tunnelLink?.receive(memory, header, end);
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.radius?.advance(nowMs);
    this.dot1x?.advance(nowMs);
    this.ipoe?.dhcp.advance(nowMs);
    this.ipoe6?.advance(nowMs);
    this.pppoe?.advance(nowMs);
    this.#tunnelLink?.advance(nowMs);
    this.l2tp?.advance(nowMs);
    for (const sink of this.#delayed) sink.advance(nowMs);
  }

  #find(words: Int32Array, at: number): Subscriber | undefined {
    return isMappedAddress(words, at) ? this.#find4(words[at + 3] as number) : this.#find6(words, at);
  }

  #find6(words: Int32Array, at: number): Subscriber | undefined {
    for (const link of [this.pppoe, this.l2tp]) {
      const index = link?.ppp.sessionIpv6.sessionOf(words, at) ?? -1;
      if (link !== undefined && index >= 0) return { link, index };
    }
    const index = this.ipoe6?.subscriberOf(words, at) ?? -1;
    return index < 0 ? undefined : { link: this.ipoe6 as Ipoe6Gateway, index };
  }

  #find4(address: number): Subscriber | undefined {
    const session = this.pppoe?.sessionOf(address) ?? -1;
    if (session >= 0) return { link: this.pppoe as PppoeServer, index: session };
    const tunnelled = this.l2tp?.sessionOf(address) ?? -1;
    if (tunnelled >= 0) return { link: this.l2tp as L2tpLns, index: tunnelled };
    const lease = this.ipoe?.dhcp.leaseOf(address) ?? -1;
    return lease < 0 ? undefined : { link: this.ipoe as IpoeGateway, index: lease };
  }

  #delayedFrames({ sink, outerTpid }: AccessGatewayOptions, delayMs: number): FrameWriter {
    if (delayMs === 0) return this.frames;
    const delayed = new DelayedSink(sink, delayMs);
    this.#delayed.push(delayed);
    return new FrameWriter(delayed, outerTpid);
  }
}
