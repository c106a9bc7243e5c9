import { isSameBytes, type Memory } from '../../bytes/memory.ts';
import { copyMac, etherType, isSameMac, macBytes } from '../../ethernet/ethernet.ts';
import { icmp4Type } from '../../icmp/icmp.ts';
import { Ipv4Header } from '../../ip/ipv4.ts';
import type { SessionCause } from '../causes.ts';
import { echoPacketBytes, icmpTypeOf, writeEcho } from '../echo.ts';
import { broadcastMac, type FrameWriter } from '../frames.ts';
import type { Lines } from '../lines.ts';
import { ipProtocolOf, type PppLink, pppProtocol } from '../ppp/packet.ts';
import { Ppp, type PppOptions } from '../ppp/ppp.ts';
import type { AccessProtocol, Subscribers } from '../subscribers.ts';
import { type TimerKind, timerKind } from '../timers.ts';
import {
  DiscoveryWriter,
  type LineTag,
  maxDiscoveryBytes,
  PppoeMessage,
  pppoeCode,
  pppoeDataBytes,
  pppoeTag,
  wrapSession,
} from './message.ts';

export interface PppoeClientOptions {
  /** Empty: any service. */
  readonly serviceName: Uint8Array;
  /** Empty: the first concentrator that answers. */
  readonly acName: Uint8Array;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly hostUniq: boolean;
  /** 0: not sent. */
  readonly maxPayload: number;
  /** Priority bits of discovery and control. */
  readonly priority: number;
  readonly line?: ((session: number) => LineTag) | undefined;
  /** DSCP of packets that prove a session. */
  readonly dscp: number;
  readonly ppp: Omit<PppOptions, 'isServer' | 'capacity'>;
}

export interface PppoeClientHost {
  readonly frames: FrameWriter;
  readonly lines: Lines;
  readonly subscribers: Subscribers;
  readonly random: () => number;
  /** An IP packet of a session. */
  onPacket?(session: number, memory: Memory, start: number, end: number): void;
  /** An IP packet to a group. */
  onMulticast?(session: number, tags: number, memory: Memory, ip: Ipv4Header): void;
}

const phase = { idle: 0, offer: 1, request: 2, session: 3 } as const;

/** Sets the priority of all tags. */
export const withPriority = (tags: number, priority: number): number => {
  if (tags === 0) return 0;
  const inner = (tags & 0x1fff) | (priority << 13);
  return tags >>> 16 === 0 ? inner : (((tags >>> 16) & 0x1fff) << 16) | (priority << 29) | inner;
};

/** What a concentrator has said, needed until the session exists. */
interface Offer {
  readonly cookie: Uint8Array | undefined;
  readonly relaySessionId: Uint8Array | undefined;
  readonly serviceName: Uint8Array;
}

/** Subscribers with PPP over Ethernet (RFC 2516). */
export class Pppoe implements AccessProtocol {
  readonly ppp: Ppp;
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, echoSent: 0, echoReceived: 0 };
  readonly sessionId: Uint16Array;
  readonly #phase: Uint8Array;
  readonly #attempts: Uint16Array;
  /** A concentrator has refused the service. */
  readonly #isRefused: Uint8Array;
  readonly #salt: Int32Array;
  readonly #peerMacs: Uint8Array;
  readonly #offers = new Map<number, Offer>();
  readonly #options: PppoeClientOptions;
  readonly #host: PppoeClientHost;
  readonly #message = new PppoeMessage();
  readonly #writer = new DiscoveryWriter();
  readonly #ip = new Ipv4Header();
  readonly #mac = new Uint8Array(macBytes);
  readonly #peerMac = new Uint8Array(macBytes);
  #echo = 0;

  constructor(host: PppoeClientHost, options: PppoeClientOptions) {
    const { lines, subscribers, random, frames } = host;
    const capacity = lines.count;
    this.#host = host;
    this.#options = options;
    this.sessionId = new Uint16Array(capacity);
    this.#phase = new Uint8Array(capacity);
    this.#attempts = new Uint16Array(capacity);
    this.#isRefused = new Uint8Array(capacity);
    this.#salt = new Int32Array(capacity);
    this.#peerMacs = new Uint8Array(capacity * macBytes);
    const link: PppLink = {
      get memory() {
        return frames.memory;
      },
      begin: (session, length) => this.begin(session, length),
      send: (session, at, end, protocol) => this.send(session, at, end, protocol),
    };
    this.ppp = new Ppp(
      {
        link,
        random,
        timers: subscribers.timers,
        lines,
        interfaceId: (session) => this.#interfaceId(session),
        onStep: (session, step) => subscribers.onStep(session, step),
        onUp: (session) => subscribers.onUp(session),
        onDown: (session, cause) => this.#end(session, cause, true),
        onPacket: (session, protocol, memory, start, end) => this.#onPacket(session, protocol, memory, start, end),
      },
      { ...options.ppp, isServer: false, capacity },
    );
  }

  start(session: number): void {
    this.#salt[session] = Math.floor(this.#host.random() * 2 ** 32);
    this.#offers.delete(session);
    this.#phase[session] = phase.offer;
    this.#attempts[session] = 0;
    this.#isRefused[session] = 0;
    this.#host.subscribers.onStep(session, 'PPPoE discovery');
    this.#transmit(session);
  }

  stop(session: number): void {
    if (this.#phase[session] === phase.session) this.ppp.close(session, 'stopped');
    else this.#end(session, 'stopped', false);
  }

  drop(session: number): void {
    this.ppp.reset(session);
    this.#phase[session] = phase.idle;
    this.#offers.delete(session);
  }

  onTimer(session: number, kind: TimerKind): void {
    const current = this.#phase[session] as number;
    if (current === phase.session || kind !== timerKind.link) {
      this.ppp.onTimer(session, kind);
      return;
    }
    this.counters.timeouts++;
    const attempts = (this.#attempts[session] as number) + 1;
    this.#attempts[session] = attempts;
    if (attempts < this.#options.retries) this.#transmit(session);
    else if (current === phase.request) this.#end(session, 'PPPoE: no session', false);
    else {
      const isRefused = this.#isRefused[session] === 1;
      this.#end(session, isRefused ? 'PPPoE: refused by the concentrator' : 'PPPoE: no offer', false);
    }
  }

  /** IPv4 address of a session; 0: it has none. */
  addressOf(session: number): number {
    return this.ppp.ipcp.isOpen(session) ? (this.ppp.ipv4.address[session] as number) : 0;
  }

  /** Largest IP packet of a session. */
  get mtu(): number {
    return Math.min(this.#host.frames.mtu - pppoeDataBytes, this.#options.ppp.lcp.mru);
  }

  /** Sends the IP packet [at, end) of a session. */
  sendPacket(session: number, at: number, end: number): void {
    this.send(session, at, end, ipProtocolOf(this.#host.frames.memory, at));
  }

  /** Where the PPP packet of a session is written, or -1. */
  begin(session: number, length: number): number {
    const at = this.#host.frames.begin(session, pppoeDataBytes + length);
    return at < 0 ? -1 : at + pppoeDataBytes;
  }

  send(session: number, at: number, end: number, protocol: number): void {
    const { frames, lines } = this.#host;
    const isControl = protocol >= 0x8000;
    const tags = lines.tagsOf(session);
    const start = wrapSession(frames.memory, at, end, this.sessionId[session] as number, protocol);
    lines.writeMac(session, this.#mac, 0);
    copyMac(this.#peerMacs, session * macBytes, this.#peerMac, 0);
    frames.send(start, end, etherType.pppoeSession, {
      path: session,
      tags: isControl ? withPriority(tags, this.#options.priority) : tags,
      sourceMac: this.#mac,
      destinationMac: this.#peerMac,
    });
  }

  /** The payload of an Ethernet frame whose addresses stand at `frame`. */
  receive(memory: Memory, frame: number, header: { type: number; payload: number }, end: number): void {
    if (header.type !== etherType.pppoeSession && header.type !== etherType.pppoeDiscovery) return;
    const session = this.#host.lines.indexOf(memory.bytes, frame);
    if (session < 0) return;
    const message = this.#message;
    if (!message.parse(memory, header.payload, end)) {
      this.counters.invalid++;
      return;
    }
    const isKnown =
      this.#phase[session] === phase.session &&
      message.sessionId === this.sessionId[session] &&
      isSameMac(memory.bytes, frame + macBytes, this.#peerMacs, session * macBytes);
    if (header.type === etherType.pppoeDiscovery) this.#receiveDiscovery(session, memory, frame, isKnown);
    else if (isKnown && message.code === pppoeCode.session && message.end - message.payload >= 2) {
      const protocol = memory.view.getUint16(message.payload);
      this.ppp.receive(session, protocol, memory, message.payload + 2, message.end);
    }
  }

  /** Sends an echo request to the other end of the session: the proof that it carries packets. */
  prove(session: number): void {
    const { frames, subscribers } = this.#host;
    if (!this.ppp.ipcp.isOpen(session)) return;
    const at = this.begin(session, echoPacketBytes);
    if (at < 0) return;
    this.#echo = (this.#echo + 1) & 0xffff;
    const end = writeEcho(frames, at, {
      source: this.ppp.ipv4.address[session] as number,
      destination: this.ppp.ipv4.peer[session] as number,
      word: (session << 16) | this.#echo,
      dscp: this.#options.dscp,
    });
    this.counters.echoSent++;
    subscribers.table.countSent(session, end - at);
    this.send(session, at, end, pppProtocol.ipv4);
  }

  #onPacket(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    this.#host.subscribers.table.countReceived(session, end - start);
    const ip = this.#ip;
    if (protocol === pppProtocol.ipv4 && ip.parse(memory, start, end, true)) {
      const isFromPeer = ip.source === this.ppp.ipv4.peer[session];
      if (isFromPeer && icmpTypeOf(memory, ip) === icmp4Type.echoReply) this.counters.echoReceived++;
      if (ip.destination >>> 28 === 0xe) this.#host.onMulticast?.(session, 0, memory, ip);
    }
    this.#host.onPacket?.(session, memory, start, end);
  }

  #receiveDiscovery(session: number, memory: Memory, frame: number, isKnown: boolean): void {
    const message = this.#message;
    if (!message.parseTags(memory)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    if (message.code === pppoeCode.padt) {
      // The concentrator may end what this end is ending already.
      if (isKnown) this.#end(session, this.ppp.causeOf(session) ?? 'PPPoE: ended by the concentrator', false);
      return;
    }
    if (!this.#isForUs(session, memory)) return;
    if (message.code === pppoeCode.pado && this.#phase[session] === phase.offer) this.#onOffer(session, memory, frame);
    else if (message.code === pppoeCode.pads && this.#phase[session] === phase.request)
      this.#onSession(session, memory, frame);
  }

  #isForUs(session: number, memory: Memory): boolean {
    if (!this.#options.hostUniq) return true;
    const uniq = this.#message.find(memory, pppoeTag.hostUniq);
    return uniq !== undefined && isSameBytes(uniq, this.#hostUniq(session));
  }

  #onOffer(session: number, memory: Memory, frame: number): void {
    const message = this.#message;
    const { acName, serviceName } = this.#options;
    const name = message.find(memory, pppoeTag.acName);
    if (name === undefined || (acName.length > 0 && !isSameBytes(name, acName))) return;
    const isRefused = message.has(pppoeTag.serviceNameError) || message.has(pppoeTag.genericError);
    if (isRefused) {
      this.#isRefused[session] = 1;
      return;
    }
    const copy = (type: number) => message.find(memory, type)?.slice();
    this.#offers.set(session, {
      cookie: copy(pppoeTag.acCookie),
      relaySessionId: copy(pppoeTag.relaySessionId),
      serviceName,
    });
    copyMac(memory.bytes, frame + macBytes, this.#peerMacs, session * macBytes);
    this.#phase[session] = phase.request;
    this.#attempts[session] = 0;
    this.#host.subscribers.onStep(session, 'PPPoE request');
    this.#transmit(session);
  }

  #onSession(session: number, memory: Memory, frame: number): void {
    const message = this.#message;
    if (!isSameMac(memory.bytes, frame + macBytes, this.#peerMacs, session * macBytes)) return;
    const errors = [pppoeTag.serviceNameError, pppoeTag.acSystemError, pppoeTag.genericError];
    if (message.sessionId === 0 || errors.some((type) => message.has(type))) {
      this.#end(session, 'PPPoE: refused by the concentrator', false);
      return;
    }
    this.sessionId[session] = message.sessionId;
    this.#phase[session] = phase.session;
    this.#offers.delete(session);
    this.#host.subscribers.timers.clear(session, timerKind.link);
    this.ppp.open(session);
  }

  #end(session: number, cause: SessionCause, sendsPadt: boolean): void {
    if (sendsPadt && this.#phase[session] === phase.session)
      this.#sendDiscovery(session, pppoeCode.padt, this.sessionId[session] as number);
    this.drop(session);
    this.#host.subscribers.onDown(session, cause);
  }

  #transmit(session: number): void {
    const isRequest = this.#phase[session] === phase.request;
    this.#sendDiscovery(session, isRequest ? pppoeCode.padr : pppoeCode.padi, 0);
    this.#host.subscribers.timers.set(session, timerKind.link, this.#options.timeoutMs);
  }

  #sendDiscovery(session: number, code: number, sessionId: number): void {
    const { frames, lines } = this.#host;
    const at = frames.begin(session, maxDiscoveryBytes);
    if (at < 0) return;
    const end = this.#writeDiscovery(session, at, code, sessionId);
    lines.writeMac(session, this.#mac, 0);
    copyMac(this.#peerMacs, session * macBytes, this.#peerMac, 0);
    this.counters.sent++;
    frames.send(at, end, etherType.pppoeDiscovery, {
      path: session,
      tags: withPriority(lines.tagsOf(session), this.#options.priority),
      sourceMac: this.#mac,
      destinationMac: code === pppoeCode.padi ? broadcastMac : this.#peerMac,
    });
  }

  #writeDiscovery(session: number, at: number, code: number, sessionId: number): number {
    const { serviceName, hostUniq, maxPayload, line } = this.#options;
    const writer = this.#writer.begin(this.#host.frames.memory, at, code, sessionId);
    if (code === pppoeCode.padt) return writer.end();
    const offer = this.#offers.get(session);
    writer.tag(pppoeTag.serviceName, offer?.serviceName ?? serviceName);
    if (hostUniq) writer.tag(pppoeTag.hostUniq, this.#hostUniq(session));
    if (maxPayload > 0) writer.tag(pppoeTag.maxPayload, Uint8Array.of(maxPayload >>> 8, maxPayload & 255));
    writer.echo(pppoeTag.acCookie, offer?.cookie).echo(pppoeTag.relaySessionId, offer?.relaySessionId);
    if (line !== undefined) writer.line(line(session));
    return writer.end();
  }

  /** Number of the session, and one that changes with every attempt. */
  #hostUniq(session: number): Uint8Array {
    const view = new DataView(new ArrayBuffer(8));
    view.setInt32(0, session);
    view.setInt32(4, this.#salt[session] as number);
    return new Uint8Array(view.buffer);
  }

  /** EUI-64 of the MAC. */
  #interfaceId(session: number): readonly [number, number] {
    const mac = this.#mac;
    this.#host.lines.writeMac(session, mac, 0);
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac;
    return [((a ^ 2) << 24) | (b << 16) | (c << 8) | 0xff, (0xfe << 24) | (d << 16) | (e << 8) | f];
  }
}
