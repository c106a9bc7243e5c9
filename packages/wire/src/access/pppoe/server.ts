import { KeyTable } from '../../bytes/key-table.ts';
import { isSameBytes, type Memory } from '../../bytes/memory.ts';
import { etherType, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import { icmp4Type } from '../../icmp/icmp.ts';
import { Ipv4Header, ipv4Bytes } from '../../ip/ipv4.ts';
import type { SessionCause } from '../causes.ts';
import { icmpTypeOf, writeEchoReply } from '../echo.ts';
import type { FrameWriter } from '../frames.ts';
import { PeerLines } from '../lines.ts';
import { ipProtocolOf, type PppLink, pppProtocol } from '../ppp/packet.ts';
import { Ppp, type PppOptions } from '../ppp/ppp.ts';
import type { RadiusClient } from '../radius/client.ts';
import { RadiusSessions, type RadiusSessionsOptions } from '../radius/sessions.ts';
import { SessionTable, sessionState } from '../session-table.ts';
import { SetupPace } from '../setup-pace.ts';
import { type AddressRange, SubscriberAddresses } from '../subscriber-addresses.ts';
import { SessionTimers, timerKind } from '../timers.ts';
import {
  DiscoveryWriter,
  maxDiscoveryBytes,
  PppoeMessage,
  pppoeCode,
  pppoeDataBytes,
  pppoeTag,
  wrapSession,
} from './message.ts';
import { OfferCookies } from './offer-cookies.ts';

export interface PppoeServerOptions {
  readonly acName: Uint8Array;
  /** Empty: any service. */
  readonly serviceName: Uint8Array;
  readonly cookie: boolean;
  readonly maxSessions: number;
  /** The first is for those without a pool of their own. */
  readonly pools: readonly AddressRange[];
  /** Sessions that are accepted a second; 0: no limit. */
  readonly setupPerSec?: number;
  /** A RADIUS server decides who comes in. */
  readonly radius?: Omit<RadiusSessionsOptions, 'isPpp'> | undefined;
  readonly ppp: Omit<PppOptions, 'isServer' | 'capacity'>;
}

export interface PppoeServerHost {
  readonly frames: FrameWriter;
  /** Offers, which may be delayed. */
  readonly offerFrames: FrameWriter;
  readonly mac: Uint8Array;
  readonly random: () => number;
  readonly radius?: RadiusClient | undefined;
  readonly onEstablished?: ((session: number, setupMs: number) => void) | undefined;
  readonly onEnded?: ((session: number, cause: SessionCause, wasUp: boolean) => void) | undefined;
  /** An IP packet of a session that is not for the server itself. */
  onPacket?(memory: Memory, start: number, end: number): void;
}

const keyWords = 3;
const maxSessionId = 65_535;

const hashOf = (bytes: Uint8Array | undefined): number => {
  let hash = 0x811c9dc5;
  for (const byte of bytes ?? []) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
};

/** An access concentrator (RFC 2516): discovery, and the server side of PPP. One session for each MAC and VLAN. */
export class PppoeServer {
  readonly ppp: Ppp;
  readonly table: SessionTable;
  readonly timers: SessionTimers;
  readonly counters = { sent: 0, received: 0, invalid: 0, refused: 0, echoAnswered: 0 };
  readonly #options: PppoeServerOptions;
  readonly #host: PppoeServerHost;
  readonly #sessions = new KeyTable({ width: keyWords, seed: 0x510e527f });
  readonly #lines: PeerLines;
  readonly #uniq: Int32Array;
  readonly #addresses: SubscriberAddresses;
  readonly #radius: RadiusSessions | undefined;
  readonly #pace: SetupPace;
  readonly #cookies: OfferCookies;
  readonly #message = new PppoeMessage();
  readonly #writer = new DiscoveryWriter();
  readonly #ip = new Ipv4Header();
  readonly #key = new Int32Array(keyWords);
  readonly #peerMac = new Uint8Array(macBytes);

  constructor(host: PppoeServerHost, options: PppoeServerOptions) {
    const capacity = options.maxSessions;
    this.#host = host;
    this.#options = options;
    this.table = new SessionTable(capacity);
    this.timers = new SessionTimers(capacity);
    this.#lines = new PeerLines(capacity);
    this.#uniq = new Int32Array(capacity);
    this.#addresses = new SubscriberAddresses(options.pools);
    this.#pace = new SetupPace(options.setupPerSec ?? 0);
    this.#radius = this.#createRadius();
    this.#cookies = new OfferCookies(host.random);
    this.ppp = this.#createPpp(capacity);
  }

  /** Sessions that exist, in setup or up. */
  get count(): number {
    return this.#sessions.count;
  }

  advance(nowMs: number): void {
    this.#radius?.advance(nowMs);
    this.ppp.sessionIpv6.advance(nowMs);
    this.timers.advance(nowMs, (session, kind) => {
      if (kind === timerKind.life) this.ppp.close(session, 'RADIUS: session time over');
      else this.ppp.onTimer(session, kind);
    });
  }

  /** Ends all sessions in order. */
  closeAll(): void {
    for (let session = 0; session < this.#sessions.slots; session++)
      if (this.table.state[session] !== sessionState.idle) this.ppp.close(session, 'stopped');
  }

  /** Ends all sessions without a word. */
  dropAll(cause: SessionCause): void {
    for (let session = 0; session < this.#sessions.slots; session++)
      if (this.table.state[session] !== sessionState.idle) this.#end(session, cause, false);
  }

  writePeerMac(session: number, bytes: Uint8Array, at: number): void {
    this.#lines.writeMac(session, bytes, at);
  }

  tagsOf(session: number): number {
    return this.#lines.tagsOf(session);
  }

  /** The established session of the subscriber with an address, or -1. */
  sessionOf(address: number): number {
    const session = this.#addresses.ownerOf(address);
    return session >= 0 && this.table.state[session] === sessionState.up ? session : -1;
  }

  /** Largest IP packet of a session. */
  get mtu(): number {
    return Math.min(this.#host.frames.mtu - pppoeDataBytes, this.#options.ppp.lcp.mru);
  }

  /** Sends the IP packet [at, end) of a session. */
  sendPacket(session: number, at: number, end: number): void {
    this.table.countSent(session, end - at);
    this.send(session, at, end, ipProtocolOf(this.#host.frames.memory, at));
  }

  /** Where the PPP packet of a session is written, or -1. */
  begin(session: number, length: number): number {
    const at = this.#host.frames.begin(session, pppoeDataBytes + length);
    return at < 0 ? -1 : at + pppoeDataBytes;
  }

  send(session: number, at: number, end: number, protocol: number): void {
    const { frames, mac } = this.#host;
    const start = wrapSession(frames.memory, at, end, this.#sessionId(session), protocol);
    this.#lines.writeMac(session, this.#peerMac, 0);
    const tags = this.#lines.tagsOf(session);
    frames.send(start, end, etherType.pppoeSession, {
      path: session,
      tags,
      sourceMac: mac,
      destinationMac: this.#peerMac,
    });
  }

  /** The payload of an Ethernet frame whose addresses stand at `frame`. */
  receive(memory: Memory, frame: number, header: { type: number; payload: number; tags: number }, end: number): void {
    if (header.type !== etherType.pppoeSession && header.type !== etherType.pppoeDiscovery) return;
    const message = this.#message;
    if (!message.parse(memory, header.payload, end)) {
      this.counters.invalid++;
      return;
    }
    const { view } = memory;
    this.#key[0] = view.getUint16(frame + 6);
    this.#key[1] = view.getInt32(frame + 8);
    this.#key[2] = vlanIds(header.tags);
    if (header.type === etherType.pppoeDiscovery) {
      this.#receiveDiscovery(memory, frame, header.tags);
      return;
    }
    const session = this.#sessions.find(this.#key, 0);
    if (session < 0 || message.sessionId !== this.#sessionId(session) || message.code !== pppoeCode.session) return;
    if (message.end - message.payload < 2) return;
    this.ppp.receive(session, view.getUint16(message.payload), memory, message.payload + 2, message.end);
  }

  #createPpp(capacity: number): Ppp {
    const { frames, random } = this.#host;
    const { ppp } = this.#options;
    const radius = this.#radius;
    const link: PppLink = {
      get memory() {
        return frames.memory;
      },
      begin: (session, length) => this.begin(session, length),
      send: (session, at, end, protocol) => this.send(session, at, end, protocol),
    };
    return new Ppp(
      {
        link,
        timers: this.timers,
        random,
        interfaceId: (session) => [0, session + 1],
        takeAddress: (session) => this.#takeAddress(session),
        onStep: (session, step) => void this.table.enterStep(session, step, this.timers.nowMs),
        onSent: (session, bytes) => this.table.countSent(session, bytes),
        onUp: (session) => this.#onUp(session),
        onDown: (session, cause) => this.#end(session, cause, true),
        onPacket: (session, protocol, memory, start, end) => this.#onPacket(session, protocol, memory, start, end),
      },
      {
        ...ppp,
        auth: { ...ppp.auth, ...(radius && { ask: (...question) => radius.ask(...question) }) },
        isServer: true,
        capacity,
      },
    );
  }

  #createRadius(): RadiusSessions | undefined {
    const { radius: client, random } = this.#host;
    const { radius } = this.#options;
    if (client === undefined || radius === undefined) return undefined;
    const { table } = this;
    const lineOf = (session: number) => {
      const mac = new Uint8Array(macBytes);
      this.#lines.writeMac(session, mac, 0);
      return { mac, tags: this.#lines.tagsOf(session) };
    };
    return new RadiusSessions(
      { client, random, lineOf, usageOf: (session) => table.usageOf(session) },
      { ...radius, isPpp: true },
    );
  }

  #receiveDiscovery(memory: Memory, frame: number, tags: number): void {
    const message = this.#message;
    if (!message.parseTags(memory)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    this.#peerMac.set(memory.bytes.subarray(frame + macBytes, frame + 2 * macBytes));
    if (message.code === pppoeCode.padi) this.#onInitiation(memory, tags);
    else if (message.code === pppoeCode.padr) this.#onRequest(memory, tags);
    else if (message.code === pppoeCode.padt) {
      const session = this.#sessions.find(this.#key, 0);
      if (session >= 0 && message.sessionId === this.#sessionId(session))
        this.#end(session, this.ppp.causeOf(session) ?? 'PPPoE: ended by the concentrator', false);
    }
  }

  #onInitiation(memory: Memory, tags: number): void {
    if (!this.#isServiceOffered(memory) || !this.#pace.hasRoom(this.timers.nowMs)) return;
    const { acName, cookie } = this.#options;
    this.#answer(this.#host.offerFrames, { code: pppoeCode.pado, sessionId: 0, tags, memory }, (writer) => {
      writer.tag(pppoeTag.acName, acName);
      if (cookie) writer.tag(pppoeTag.acCookie, this.#cookies.of(this.#key));
    });
  }

  #onRequest(memory: Memory, tags: number): void {
    const { cookie, maxSessions } = this.#options;
    const given = this.#message.find(memory, pppoeTag.acCookie);
    if (!this.#isServiceOffered(memory)) this.#refuse(memory, tags, pppoeTag.serviceNameError);
    else if (cookie && (given === undefined || !isSameBytes(given, this.#cookies.of(this.#key))))
      this.#refuse(memory, tags, pppoeTag.genericError);
    else {
      const uniq = hashOf(this.#message.find(memory, pppoeTag.hostUniq));
      let session = this.#sessions.find(this.#key, 0);
      const isRepeated = session >= 0 && this.#uniq[session] === uniq;
      if (session >= 0 && !isRepeated) {
        this.#end(session, 'PPPoE: ended by the concentrator', false);
        session = -1;
      }
      if (session < 0 && this.#sessions.count >= maxSessions) {
        this.#refuse(memory, tags, pppoeTag.acSystemError);
        return;
      }
      if (session < 0) session = this.#create(tags, uniq);
      const answer = { code: pppoeCode.pads, sessionId: this.#sessionId(session), tags, memory };
      this.#answer(this.#host.frames, answer, () => {});
      if (!isRepeated) this.ppp.open(session);
    }
  }

  #create(tags: number, uniq: number): number {
    this.#pace.take();
    const session = this.#sessions.add(this.#key, 0);
    this.#uniq[session] = uniq;
    this.#lines.set(session, this.#peerMac, 0, tags);
    this.table.begin(session, this.timers.nowMs);
    return session;
  }

  #refuse(memory: Memory, tags: number, error: number): void {
    this.counters.refused++;
    this.#answer(this.#host.frames, { code: pppoeCode.pads, sessionId: 0, tags, memory }, (writer) =>
      writer.tag(error, new Uint8Array(0)),
    );
  }

  #isServiceOffered(memory: Memory): boolean {
    const { serviceName } = this.#options;
    const wanted = this.#message.find(memory, pppoeTag.serviceName);
    if (wanted === undefined) return false;
    return wanted.length === 0 || serviceName.length === 0 || isSameBytes(wanted, serviceName);
  }

  #answer(
    frames: FrameWriter,
    { code, sessionId, tags, memory }: { code: number; sessionId: number; tags: number; memory: Memory },
    add: (writer: DiscoveryWriter) => void,
  ): void {
    const at = frames.begin(0, maxDiscoveryBytes);
    if (at < 0) return;
    const message = this.#message;
    const wanted = message.find(memory, pppoeTag.serviceName);
    const writer = this.#writer.begin(frames.memory, at, code, sessionId);
    writer.tag(pppoeTag.serviceName, wanted === undefined || wanted.length === 0 ? this.#options.serviceName : wanted);
    add(writer);
    for (const type of [pppoeTag.hostUniq, pppoeTag.relaySessionId, pppoeTag.maxPayload])
      writer.echo(type, message.find(memory, type));
    this.counters.sent++;
    const route = { path: 0, tags, sourceMac: this.#host.mac, destinationMac: this.#peerMac };
    frames.send(at, writer.end(), etherType.pppoeDiscovery, route);
  }

  #sessionId(session: number): number {
    return (session % maxSessionId) + 1;
  }

  #takeAddress(session: number): number {
    return this.#addresses.take(session, this.#radius?.grantOf(session));
  }

  #onUp(session: number): void {
    this.table.enterStep(session, 'none', this.timers.nowMs);
    if (this.table.state[session] !== sessionState.setup) return;
    const setupMs = this.table.establish(session, this.timers.nowMs);
    const { sessionMs = 0 } = this.#radius?.grantOf(session) ?? {};
    if (sessionMs > 0) this.timers.set(session, timerKind.life, sessionMs);
    this.#radius?.start(session, this.#addresses.addressOf(session));
    this.#host.onEstablished?.(session, setupMs);
  }

  #onPacket(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    this.table.countReceived(session, end - start);
    const ip = this.#ip;
    const isForServer =
      protocol === pppProtocol.ipv4 &&
      ip.parse(memory, start, end, true) &&
      ip.destination === this.ppp.ipv4.address[session];
    if (isForServer && icmpTypeOf(memory, ip) === icmp4Type.echo) this.#answerEcho(session, memory);
    else this.#host.onPacket?.(memory, start, end);
  }

  #answerEcho(session: number, memory: Memory): void {
    const ip = this.#ip;
    const at = this.begin(session, ipv4Bytes + ip.end - ip.payload);
    if (at < 0) return;
    const end = writeEchoReply(this.#host.frames, at, memory, ip);
    this.counters.echoAnswered++;
    this.table.countSent(session, end - at);
    this.send(session, at, end, pppProtocol.ipv4);
  }

  #end(session: number, cause: SessionCause, sendsPadt: boolean): void {
    if (sendsPadt) this.#sendPadt(session);
    const wasUp = this.table.state[session] === sessionState.up;
    this.ppp.reset(session);
    this.timers.clearAll(session);
    this.#radius?.end(session, cause);
    this.#addresses.release(session);
    this.table.enterStep(session, 'none', this.timers.nowMs);
    this.table.setCause(session, cause);
    this.table.setState(session, sessionState.idle, this.timers.nowMs);
    this.#sessions.remove(session);
    this.#host.onEnded?.(session, cause, wasUp);
  }

  #sendPadt(session: number): void {
    const { frames, mac } = this.#host;
    const at = frames.begin(session, maxDiscoveryBytes);
    if (at < 0) return;
    const end = this.#writer.begin(frames.memory, at, pppoeCode.padt, this.#sessionId(session)).end();
    const peerMac = new Uint8Array(macBytes);
    this.#lines.writeMac(session, peerMac, 0);
    this.counters.sent++;
    const route = { path: session, tags: this.#lines.tagsOf(session), sourceMac: mac, destinationMac: peerMac };
    frames.send(at, end, etherType.pppoeDiscovery, route);
  }
}
