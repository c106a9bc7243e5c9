import { copyOf, type Memory } from '../bytes/memory.ts';
import { errorKindOf, IcmpMessage, icmp4Type, icmp6Type, icmpBytes, mtuOfError, writeIcmp } from '../icmp/icmp.ts';
import { isMappedAddress, readAddress6, writeMapped } from '../ip/address.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { icmpOf } from '../ip/ipv6.ts';
import { pseudoHeaderSum } from '../ip/pseudo-header.ts';
import type { NeighbourCache } from '../neighbours/neighbour-cache.ts';
import type { CloseCause } from '../tcp/connection.ts';
import type { Tcp } from '../tcp/tcp.ts';
import type { IpOutput } from './ip-output.ts';
import type { NeighbourTalk } from './neighbour-talk.ts';
import type { Packet } from './packet.ts';
import type { UdpLayer } from './udp-layer.ts';

/** Takes ICMP messages that the group does not answer itself: echo replies, timestamp replies, redirects and others. */
export type IcmpHandler = (packet: Packet, message: IcmpMessage, memory: Memory) => void;

/** A message to send: bytes [start, end) of `body` follow its header. */
export interface OutgoingIcmp {
  readonly type: number;
  readonly code: number;
  /** Second word of the header. */
  readonly word: number;
  readonly body: Uint8Array;
  readonly start?: number;
  readonly end?: number;
  /** Instead of the time to live of the group. */
  readonly ttl?: number | undefined;
}

interface WaitingIcmp {
  readonly key: Int32Array;
  readonly path: number;
  readonly message: OutgoingIcmp;
}

const maxWaiting = 1024;

const errorsPerSecond = 1000;
const maxQuoted = 548;
const maxQuoted6 = 1232;
const cause: Readonly<Record<string, CloseCause>> = { unreachable: 'EHOSTUNREACH', refused: 'ECONNREFUSED' };

/** ICMP and ICMPv6 of a host group: answers echoes, gives errors to the flows they quote. */
export class IcmpResponder {
  readonly counters = { received: 0, echoesAnswered: 0, errorsReceived: 0, errorsSent: 0, redirects: 0, invalid: 0 };
  handler: IcmpHandler | undefined;
  /** Takes echo requests instead of the group, which then answers none. */
  echoHandler: IcmpHandler | undefined;
  /** A router cannot forward packets of hosts that are larger than this. */
  onPathMtu: ((mtu: number) => void) | undefined;
  /** A message that waited for its neighbour, which cannot be reached. */
  onUnreachable: ((key: Int32Array, path: number, message: OutgoingIcmp) => void) | undefined;
  readonly #output: IpOutput;
  readonly #tcp: Tcp;
  readonly #udp: UdpLayer;
  #waiting: WaitingIcmp[] = [];
  readonly #answers: boolean;
  readonly #answersClosedPorts: boolean;
  readonly #message = new IcmpMessage();
  readonly #key = new Int32Array(9);
  #second = 0;
  #nowMs = 0;
  #errorsThisSecond = 0;

  constructor(options: {
    output: IpOutput;
    tcp: Tcp;
    udp: UdpLayer;
    handler: IcmpHandler | undefined;
    /** False: another group of the same hosts answers what is asked. */
    answers?: boolean;
    answersClosedPorts: boolean | undefined;
  }) {
    this.#output = options.output;
    this.#tcp = options.tcp;
    this.#udp = options.udp;
    this.handler = options.handler;
    this.#answers = options.answers ?? true;
    this.#answersClosedPorts = options.answersClosedPorts ?? true;
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#errorsThisSecond = 0;
  }

  /** Sends a message to the flow in `key` (local and remote address). Returns false if it could not be sent now. */
  send(key: Int32Array, path: number, message: OutgoingIcmp): boolean {
    const output = this.#output;
    const { body, start = 0, end = body.length, type, code, word, ttl } = message;
    const isV6 = !isMappedAddress(key, 0);
    const length = icmpBytes + end - start;
    const at = output.begin(key, 0, path, icmpOf(isV6), length);
    if (at < 0) return false;
    output.memory.bytes.set(body.subarray(start, end), at + icmpBytes);
    const pseudoSum = isV6 ? pseudoHeaderSum(key, 0, ipProtocol.icmp6) + length : 0;
    writeIcmp(output.memory, at, at + length, { type, code, word, pseudoSum });
    output.commit(at, length, 0, ttl);
    return true;
  }

  /** Sends a message, once its neighbour is known. Returns false if it was dropped because too many wait. */
  sendWhenKnown(key: Int32Array, path: number, message: OutgoingIcmp): boolean {
    if (this.send(key, path, message)) return true;
    if (this.#waiting.length >= maxWaiting) return false;
    const { body, start, end } = message;
    const copy = copyOf(body, start, end);
    this.#waiting.push({ key: key.slice(0, 8), path, message: { ...message, body: copy, start: 0, end: copy.length } });
    return true;
  }

  /** Sends what waits for neighbours or for room. */
  retry(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ key, path, message }) => !this.send(key, path, message));
  }

  dropUnreachable(isAffected: (path: number, keys: Int32Array, at: number) => boolean): void {
    const dropped = this.#waiting.filter(({ key, path }) => isAffected(path, key, 0));
    if (dropped.length === 0) return;
    this.#waiting = this.#waiting.filter((one) => !dropped.includes(one));
    for (const { key, path, message } of dropped) this.onUnreachable?.(key, path, message);
  }

  receive(
    packet: Packet,
    memory: Memory,
    start: number,
    end: number,
    talk: NeighbourTalk | undefined,
    neighbours: NeighbourCache | undefined,
  ): void {
    const { isV6 } = packet;
    const message = this.#message;
    const pseudoSum = isV6 ? pseudoHeaderSum(packet.addresses, 0, ipProtocol.icmp6) + (end - start) : 0;
    if (!message.parse(memory, start, end, pseudoSum, packet.checks)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const { type } = message;
    if (isV6 && (type === icmp6Type.neighbourSolicitation || type === icmp6Type.neighbourAdvertisement)) {
      // A hop limit of 255 proves that the sender is on the link.
      if (packet.ttl === 255 && talk !== undefined && neighbours !== undefined)
        talk.receiveNeighbour(memory, message, packet.addresses, packet.tags, neighbours);
      if (type === icmp6Type.neighbourAdvertisement) this.handler?.(packet, message, memory);
      return;
    }
    if (packet.path < 0) {
      if (type === icmp6Type.routerAdvertisement) this.handler?.(packet, message, memory);
      return;
    }
    const isEcho = type === (isV6 ? icmp6Type.echo : icmp4Type.echo);
    const isTimestamp = !isV6 && type === icmp4Type.timestamp;
    if (!this.#answers && (isEcho || isTimestamp)) return;
    if (isEcho) {
      if (this.echoHandler === undefined) this.#answerEcho(packet, memory);
      else this.echoHandler(packet, message, memory);
    } else if (isTimestamp) this.#answerTimestamp(packet, memory);
    else if (errorKindOf(isV6, type, message.code) !== undefined) this.#receiveError(packet, memory);
    else {
      if (type === (isV6 ? icmp6Type.redirect : icmp4Type.redirect)) this.counters.redirects++;
      this.handler?.(packet, message, memory);
    }
  }

  /** Answers a datagram to a port without a listener; limited, and never for multicast. */
  refusePort(packet: Packet, memory: Memory, start: number, end: number): void {
    if (!this.#answersClosedPorts || this.#errorsThisSecond++ >= errorsPerSecond) return;
    // The IP header of the datagram stands before it unless it came in fragments.
    const headerLength = packet.isV6 ? 40 : 20;
    if (start < headerLength || memory.view.getUint8(start - headerLength) !== (packet.isV6 ? 0x60 : 0x45)) return;
    const from = start - headerLength;
    const to = Math.min(end, from + (packet.isV6 ? maxQuoted6 : maxQuoted));
    const type = packet.isV6 ? icmp6Type.unreachable : icmp4Type.unreachable;
    this.counters.errorsSent++;
    const code = packet.isV6 ? 4 : 3;
    this.send(packet.addresses, packet.path, { type, code, word: 0, body: memory.bytes, start: from, end: to });
  }

  #answerEcho(packet: Packet, memory: Memory): void {
    const { word, body, end } = this.#message;
    const type = packet.isV6 ? icmp6Type.echoReply : icmp4Type.echoReply;
    if (
      this.sendWhenKnown(packet.addresses, packet.path, { type, code: 0, word, body: memory.bytes, start: body, end })
    )
      this.counters.echoesAnswered++;
  }

  /** Times are milliseconds since the group began: RFC 792 allows a time that is not of the day if the top bit is set. */
  #answerTimestamp(packet: Packet, memory: Memory): void {
    const { word, body, end } = this.#message;
    if (end - body < 12) return;
    const times = copyOf(memory.bytes, body, body + 12);
    const view = new DataView(times.buffer);
    view.setInt32(4, this.#nowMs | 0x80000000);
    view.setInt32(8, this.#nowMs | 0x80000000);
    this.send(packet.addresses, packet.path, { type: icmp4Type.timestampReply, code: 0, word, body: times });
  }

  #receiveError(packet: Packet, memory: Memory): void {
    const { isV6 } = packet;
    const message = this.#message;
    this.counters.errorsReceived++;
    const transport = this.#readQuote(memory, isV6);
    const kind = errorKindOf(isV6, message.type, message.code);
    if (transport < 0 || kind === undefined) {
      this.handler?.(packet, message, memory);
      return;
    }
    const { view } = memory;
    const protocol = view.getUint8(message.body + (isV6 ? 6 : 9));
    this.#key[8] = view.getInt32(transport);
    const quoted = isV6 ? view.getUint16(message.body + 4) + 40 : view.getUint16(message.body + 2);
    const mtu = kind === 'tooBig' ? mtuOfError(isV6, message.word, quoted) : 0;
    if (mtu > 0) this.onPathMtu?.(mtu);
    if (protocol === ipProtocol.tcp) {
      this.#tcp.receiveError(this.#key, view.getInt32(transport + 4), { mtu, cause: cause[kind] });
    } else if (protocol === ipProtocol.udp) {
      this.#udp.handlerOf((this.#key[8] as number) >>> 16)?.onError?.(this.#key, kind);
    } else this.handler?.(packet, message, memory);
  }

  /** Reads addresses of the quoted packet as a flow of ours. Returns where its transport starts, or -1. */
  #readQuote({ view }: Memory, isV6: boolean): number {
    const { body, end } = this.#message;
    const key = this.#key;
    if (body + (isV6 ? 48 : 28) > end) return -1;
    if (isV6) {
      if (view.getUint8(body) >>> 4 !== 6) return -1;
      readAddress6(view, body + 8, key, 0);
      readAddress6(view, body + 24, key, 4);
      return body + 40;
    }
    const headerLength = (view.getUint8(body) & 15) << 2;
    if (view.getUint8(body) >>> 4 !== 4 || headerLength < 20 || body + headerLength + 8 > end) return -1;
    writeMapped(key, 0, view.getInt32(body + 12));
    writeMapped(key, 4, view.getInt32(body + 16));
    return body + headerLength;
  }
}
