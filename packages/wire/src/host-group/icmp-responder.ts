import type { Memory } from '../bytes/memory.ts';
import { errorKindOf, IcmpMessage, icmp4Type, icmp6Type, icmpBytes, mtuOfError, writeIcmp } from '../icmp/icmp.ts';
import { readAddress6, writeMapped } from '../ip/address.ts';
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

const errorsPerSecond = 1000;
const maxQuoted = 548;
const maxQuoted6 = 1232;
const cause: Readonly<Record<string, CloseCause>> = { unreachable: 'EHOSTUNREACH', refused: 'ECONNREFUSED' };

/** ICMP and ICMPv6 of a host group: answers echoes, gives errors to the flows they quote. */
export class IcmpResponder {
  readonly counters = { received: 0, echoesAnswered: 0, errorsReceived: 0, errorsSent: 0, redirects: 0, invalid: 0 };
  readonly #output: IpOutput;
  readonly #tcp: Tcp;
  readonly #udp: UdpLayer;
  readonly #handler: IcmpHandler | undefined;
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
    answersClosedPorts: boolean | undefined;
  }) {
    this.#output = options.output;
    this.#tcp = options.tcp;
    this.#udp = options.udp;
    this.#handler = options.handler;
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
  send(
    key: Int32Array,
    path: number,
    message: { type: number; code: number; word: number; body: Uint8Array; start?: number; end?: number },
  ): boolean {
    const output = this.#output;
    const { body, start = 0, end = body.length } = message;
    const isV6 = !(key[0] === 0 && key[1] === 0 && key[2] === 0xffff);
    const length = icmpBytes + end - start;
    const at = output.begin(key, 0, path, icmpOf(isV6), length);
    if (at < 0) return false;
    output.memory.bytes.set(body.subarray(start, end), at + icmpBytes);
    const pseudoSum = isV6 ? pseudoHeaderSum(key, 0, ipProtocol.icmp6) + length : 0;
    writeIcmp(output.memory, at, at + length, {
      type: message.type,
      code: message.code,
      word: message.word,
      pseudoSum,
    });
    output.commit(at, length, 0);
    return true;
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
      return;
    }
    if (packet.path < 0) return;
    if (type === (isV6 ? icmp6Type.echo : icmp4Type.echo)) this.#answerEcho(packet, memory);
    else if (!isV6 && type === icmp4Type.timestamp) this.#answerTimestamp(packet, memory);
    else if (errorKindOf(isV6, type, message.code) !== undefined) this.#receiveError(packet, memory);
    else {
      if (type === (isV6 ? icmp6Type.redirect : icmp4Type.redirect)) this.counters.redirects++;
      this.#handler?.(packet, message, memory);
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
    if (this.send(packet.addresses, packet.path, { type, code: 0, word, body: memory.bytes, start: body, end }))
      this.counters.echoesAnswered++;
  }

  /** Times are milliseconds since the group began: RFC 792 allows a time that is not of the day if the top bit is set. */
  #answerTimestamp(packet: Packet, memory: Memory): void {
    const { word, body, end } = this.#message;
    if (end - body < 12) return;
    const times = memory.bytes.slice(body, body + 12);
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
      this.#handler?.(packet, message, memory);
      return;
    }
    const { view } = memory;
    const protocol = view.getUint8(message.body + (isV6 ? 6 : 9));
    this.#key[8] = view.getInt32(transport);
    if (protocol === ipProtocol.tcp) {
      const quoted = isV6 ? view.getUint16(message.body + 4) + 40 : view.getUint16(message.body + 2);
      const mtu = kind === 'tooBig' ? mtuOfError(isV6, message.word, quoted) : 0;
      this.#tcp.receiveError(this.#key, view.getInt32(transport + 4), { mtu, cause: cause[kind] });
    } else if (protocol === ipProtocol.udp) {
      this.#udp.handlerOf((this.#key[8] as number) >>> 16)?.onError?.(this.#key, kind);
    } else this.#handler?.(packet, message, memory);
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
