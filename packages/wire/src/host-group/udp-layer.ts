import { copyOf, type Memory } from '../bytes/memory.ts';
import type { IcmpErrorKind } from '../icmp/icmp.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { pseudoHeaderSum } from '../ip/pseudo-header.ts';
import { UdpHeader, udpBytes, writeUdp } from '../udp/udp.ts';
import type { IpOutput } from './ip-output.ts';
import type { Packet } from './packet.ts';

/** Flow key as of TCP: local address, remote address (8 words), local port × 65536 + remote port. */
export interface UdpHandler {
  /**
   * A datagram [start, end); `key` and bytes are valid during the call only. It returns false if nothing
   * takes it.
   */
  onDatagram(key: Int32Array, packet: Packet, memory: Memory, start: number, end: number): unknown;
  /** An ICMP error quotes a datagram of this flow. */
  onError?(key: Int32Array, kind: IcmpErrorKind): void;
}

const keyWords = 9;
const maxWaiting = 1024;

interface Waiting {
  readonly key: Int32Array;
  readonly path: number;
  readonly bytes: Uint8Array;
}

/** UDP of a host group. Handlers have a port on every host; datagrams to unknown neighbours wait, a limited number. */
export class UdpLayer {
  readonly counters = { received: 0, sent: 0, invalid: 0, noHandler: 0, dropped: 0 };
  /** Takes datagrams to ports without a handler of their own. */
  fallback: UdpHandler | undefined;
  readonly #output: IpOutput;
  readonly #handlers = new Map<number, UdpHandler>();
  readonly #header = new UdpHeader();
  readonly #key = new Int32Array(keyWords);
  #waiting: Waiting[] = [];

  constructor(output: IpOutput) {
    this.#output = output;
  }

  bind(port: number, handler: UdpHandler): void {
    if (this.#handlers.has(port)) throw new RangeError(`UDP port ${port} is in use`);
    this.#handlers.set(port, handler);
  }

  unbind(port: number): void {
    this.#handlers.delete(port);
  }

  handlerOf(port: number): UdpHandler | undefined {
    return this.#handlers.get(port) ?? this.fallback;
  }

  /** Sends bytes [start, end) to a flow. Returns false if they were dropped: no route, or too many wait. */
  send(key: Int32Array, path: number, bytes: Uint8Array, start = 0, end = bytes.length): boolean {
    if (this.#transmit(key, path, bytes, start, end)) return true;
    if (this.#waiting.length >= maxWaiting) {
      this.counters.dropped++;
      return false;
    }
    this.#waiting.push({ key: key.slice(0, keyWords), path, bytes: copyOf(bytes, start, end) });
    return true;
  }

  /** Sends what waits for neighbours or for room. */
  retry(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ key, path, bytes }) => !this.#transmit(key, path, bytes, 0, bytes.length));
  }

  dropUnreachable(isAffected: (path: number, keys: Int32Array, at: number) => boolean): void {
    this.#waiting = this.#waiting.filter(({ key, path }) => {
      const isDropped = isAffected(path, key, 0);
      if (isDropped) {
        this.counters.dropped++;
        this.handlerOf((key[8] as number) >>> 16)?.onError?.(key, 'unreachable');
      }
      return !isDropped;
    });
  }

  /** Returns false if nothing listens on the port. */
  receive(packet: Packet, memory: Memory, start: number, end: number): boolean {
    const header = this.#header;
    const pseudoSum = packet.checks ? pseudoHeaderSum(packet.addresses, 0, ipProtocol.udp) : 0;
    if (!header.parse(memory, start, end, pseudoSum, packet.checks)) {
      this.counters.invalid++;
      return true;
    }
    const handler = this.handlerOf(header.destinationPort);
    if (handler === undefined) {
      this.counters.noHandler++;
      return false;
    }
    const key = this.#key;
    for (let i = 0; i < 8; i++) key[i] = packet.addresses[i] as number;
    key[8] = (header.destinationPort << 16) | header.sourcePort;
    if (handler.onDatagram(key, packet, memory, header.payload, header.end) === false) {
      this.counters.noHandler++;
      return false;
    }
    this.counters.received++;
    return true;
  }

  #transmit(key: Int32Array, path: number, bytes: Uint8Array, start: number, end: number): boolean {
    const output = this.#output;
    const length = udpBytes + end - start;
    const at = output.begin(key, 0, path, ipProtocol.udp, length);
    if (at < 0) return false;
    const { memory } = output;
    memory.bytes.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), at + udpBytes);
    writeUdp(memory, at, at + length, key[8] as number, pseudoHeaderSum(key, 0, ipProtocol.udp));
    output.commit(at, length, 0);
    this.counters.sent++;
    return true;
  }
}
