import type { Memory } from '../bytes/memory.ts';
import { EthernetHeader } from '../ethernet/ethernet.ts';
import type { FrameSink } from '../host-group/hosts.ts';
import { copyAddress, writeMapped } from '../ip/address.ts';
import type { Ipv4Header } from '../ip/ipv4.ts';
import { eapolType } from './dot1x/eapol.ts';
import { PortGate } from './dot1x/port-gate.ts';
import { type SupplicantOptions, Supplicants } from './dot1x/supplicants.ts';
import { FrameWriter } from './frames.ts';
import { ClientIgmp, type ClientIgmpHost } from './igmp/client-igmp.ts';
import type { IgmpOptions } from './igmp/hosts.ts';
import { Ipoe, type IpoeOptions } from './ipoe.ts';
import { addressWords } from './ipv6/packets.ts';
import { FrameLink, type TunnelAddress } from './l2tp/frame-link.ts';
import { L2tpLac, type L2tpLacHost, type L2tpLacOptions } from './l2tp/lac.ts';
import { Lines, type VlanPlan } from './lines.ts';
import { Pppoe, type PppoeClientOptions } from './pppoe/client.ts';
import { sessionState } from './session-table.ts';
import { type SessionLife, type SessionLoad, type SubscriberListener, Subscribers } from './subscribers.ts';

export interface AccessClientOptions {
  readonly sink: FrameSink;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly count: number;
  readonly firstMac: Uint8Array;
  readonly macStep: number;
  readonly vlan: VlanPlan;
  readonly load: SessionLoad;
  readonly life: SessionLife;
  readonly listener?: SubscriberListener;
  /** Packets a second that each session sends to prove that it works. */
  readonly proofPerSec: number;
  /** The same over IPv6. */
  readonly proof6PerSec?: number;
  /** Multicast groups that sessions join. */
  readonly igmp?: IgmpOptions | undefined;
  readonly onJoined?: ClientIgmpHost['onJoined'];
  readonly onLeft?: ClientIgmpHost['onLeft'];
  /** What sessions do once the port is open; neither: they are only let in by 802.1X. */
  readonly access: {
    readonly ipoe?: IpoeOptions;
    readonly pppoe?: PppoeClientOptions;
    /** All subscribers are behind one concentrator, whose address is on the port. */
    readonly l2tp?: L2tpLacOptions & { readonly port: TunnelAddress };
  };
  /** How sessions are let in before. */
  readonly dot1x?: SupplicantOptions | undefined;
}

/** Packets at a steady rate, given to the sessions that are up in turn. */
class ProofPace {
  readonly #perMs: number;
  #budget = 0;
  #next = 0;

  constructor(perSec: number) {
    this.#perMs = perSec / 1000;
  }

  run(elapsedMs: number, { table }: Subscribers, prove: (session: number) => void): void {
    if (this.#perMs === 0) return;
    this.#budget = Math.min(table.count, this.#budget + elapsedMs * this.#perMs * table.count);
    for (; this.#budget >= 1; this.#budget--) {
      const session = this.#next;
      this.#next = (session + 1) % table.count;
      if (table.state[session] === sessionState.up) prove(session);
    }
  }
}

/** The subscribers of one port: frames in by `receive`, out through the sink, time by `advance`. */
export class AccessClient {
  readonly lines: Lines;
  readonly subscribers: Subscribers;
  readonly ipoe: Ipoe | undefined;
  readonly pppoe: Pppoe | undefined;
  readonly l2tp: L2tpLac | undefined;
  /** Undefined: sessions have no addresses. */
  readonly protocol: Ipoe | Pppoe | L2tpLac | undefined;
  readonly supplicants: Supplicants | undefined;
  readonly frames: FrameWriter;
  readonly igmp: ClientIgmp | undefined;
  readonly #ethernet = new EthernetHeader();
  readonly #tunnelLink: FrameLink | undefined;
  readonly #proof: ProofPace;
  readonly #proof6: ProofPace;
  readonly #dscp: number;
  #isLinkUp = true;
  /** Takes IP packets of sessions for the hosts above them. */
  onPacket: ((session: number, memory: Memory, start: number, end: number) => void) | undefined;

  constructor(options: AccessClientOptions) {
    const { sink, random, count, firstMac, macStep, vlan, load, life } = options;
    this.lines = new Lines({ count, firstMac, macStep, vlan });
    const { listener } = options;
    this.subscribers = new Subscribers(count, load, life, {
      ...listener,
      onEstablished: (session, setupMs) => {
        listener?.onEstablished?.(session, setupMs);
        this.igmp?.hosts.start(session);
      },
      onDown: (session) => {
        this.igmp?.hosts.stop(session);
        listener?.onDown?.(session);
      },
    });
    this.frames = new FrameWriter(sink, vlan.outerTpid);
    const { frames, lines, subscribers } = this;
    const host = {
      frames,
      lines,
      subscribers,
      random,
      onPacket: (session: number, memory: Memory, start: number, end: number) =>
        this.onPacket?.(session, memory, start, end),
      onMulticast: (session: number, tags: number, memory: Memory, ip: Ipv4Header) =>
        this.igmp?.receive(session, tags, memory, ip),
    };
    const { access } = options;
    this.ipoe = access.ipoe && new Ipoe(host, access.ipoe);
    this.pppoe = access.pppoe && new Pppoe(host, access.pppoe);
    this.#tunnelLink =
      access.l2tp && new FrameLink(frames, { ...access.l2tp.port, mac: firstMac, tags: lines.tagsOf(0) });
    this.l2tp = this.#createLac(host, access.l2tp);
    this.protocol = this.ipoe ?? this.pppoe ?? this.l2tp;
    subscribers.protocol = this.protocol;
    this.supplicants = options.dot1x && this.#createGate(options.dot1x);
    const { igmp, onJoined, onLeft } = options;
    if (igmp !== undefined && this.protocol !== undefined)
      this.igmp = new ClientIgmp({ frames, lines, protocol: this.protocol, random, onJoined, onLeft }, igmp);
    this.#dscp = (access.pppoe ?? access.l2tp)?.dscp ?? 0;
    this.#proof = new ProofPace(options.proofPerSec);
    this.#proof6 = new ProofPace(options.proof6PerSec ?? 0);
  }

  #createLac(host: Omit<L2tpLacHost, 'link'>, options: L2tpLacOptions | undefined): L2tpLac | undefined {
    const link = this.#tunnelLink;
    if (options === undefined || link === undefined) return undefined;
    const lac = new L2tpLac({ ...host, link }, options);
    link.onDatagram = (peer, memory, start, end) => lac.receive(peer, memory, start, end);
    return lac;
  }

  /** The port of a session is opened by 802.1X before its protocol starts. */
  #createGate(options: SupplicantOptions): Supplicants {
    const { frames, lines, subscribers } = this;
    const gate = new PortGate(subscribers, this.protocol);
    const supplicants = new Supplicants(
      {
        ...{ frames, lines, subscribers },
        onOpen: (session) => gate.onOpen(session),
        onLost: (session, cause) => gate.onLost(session, cause),
      },
      options,
    );
    gate.supplicants = supplicants;
    subscribers.protocol = gate;
    return supplicants;
  }

  get isLinkUp(): boolean {
    return this.#isLinkUp;
  }

  /** Takes the link down, which ends every session, or up again. */
  setLink(isUp: boolean): void {
    if (isUp === this.#isLinkUp) return;
    this.#isLinkUp = isUp;
    this.subscribers.hold(!isUp);
    if (!isUp) this.subscribers.dropAll('link down');
  }

  isUp(session: number): boolean {
    return this.subscribers.table.state[session] === sessionState.up;
  }

  /** Writes the address of a session of a version, that of IPv4 mapped; false if it has none. */
  writeAddress(session: number, version: 4 | 6, words: Int32Array): boolean {
    if (version === 4) {
      const address = this.protocol?.addressOf(session) ?? 0;
      writeMapped(words, 0, address);
      return address !== 0;
    }
    const ppp = (this.pppoe ?? this.l2tp)?.ppp;
    if (ppp !== undefined) return ppp.ip6cp.isOpen(session) && ppp.sessionIpv6.writeAddress(session, words);
    const address = this.ipoe?.ipv6?.address;
    const at = session * addressWords;
    if (address === undefined || address[at] === 0) return false;
    copyAddress(address, at, words, 0);
    return true;
  }

  /** Where an IP packet of a session of up to `length` bytes is written, or -1. */
  beginPacket(session: number, length: number): number {
    return this.protocol?.begin(session, length) ?? -1;
  }

  /** Sends the IP packet [at, end) of a session, whose start `beginPacket` gave. */
  sendPacket(session: number, at: number, end: number): void {
    this.subscribers.table.countSent(session, end - at);
    this.protocol?.sendPacket(session, at, end);
  }

  receive(memory: Memory, start: number, end: number): void {
    if (!this.#isLinkUp) return;
    const header = this.#ethernet;
    if (!header.parse(memory, start, end)) return;
    if (header.type === eapolType) this.supplicants?.receive(memory, start, header, end);
    else if (this.#tunnelLink !== undefined) this.#tunnelLink.receive(memory, header, end);
    else (this.ipoe ?? this.pppoe)?.receive(memory, start, header, end);
  }

  #prove6(session: number): void {
    const protocol = this.pppoe ?? this.l2tp;
    if (protocol === undefined) this.ipoe?.ipv6?.prove(session);
    else if (protocol.ppp.ip6cp.isOpen(session)) {
      const sent = protocol.ppp.sessionIpv6.prove(session, this.#dscp);
      if (sent > 0) this.subscribers.table.countSent(session, sent);
    }
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    const before = this.subscribers.timers.nowMs;
    this.#tunnelLink?.advance(nowMs);
    this.subscribers.advance(nowMs);
    this.l2tp?.advance(nowMs);
    this.igmp?.hosts.advance(nowMs);
    const elapsedMs = this.subscribers.timers.nowMs - before;
    this.#proof.run(elapsedMs, this.subscribers, (session) => this.protocol?.prove(session));
    this.#proof6.run(elapsedMs, this.subscribers, (session) => this.#prove6(session));
  }
}
