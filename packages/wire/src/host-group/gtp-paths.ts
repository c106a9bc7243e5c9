import type { Memory } from '../bytes/memory.ts';
import { copyAddress } from '../ip/address.ts';
import type { UdpLayer } from './udp-layer.ts';

/** UDP port of GTP-C. */
export const gtpControlPort = 2123;

const messageType = { echoRequest: 1, echoResponse: 2 } as const;
/** Version and flags: version 2 without TEID (3GPP TS 29.274), version 1 with a sequence number (3GPP TS 29.060). */
const firstByte = { 1: 0x32, 2: 0x40 } as const;
const recovery = { 1: 14, 2: 3 } as const;
const keyWords = 9;
const portsWord = 8;
/** T3-RESPONSE and N3-REQUESTS as they are usual. */
const maxResponseMs = 3000;
const maxRequests = 3;
/** Paths are looked at this often. */
const stepMs = 100;

interface GtpPath {
  /** Local and remote address, and ports. */
  readonly key: Int32Array;
  /** Index of the local host. */
  readonly host: number;
  dueMs: number;
  sequence: number;
  /** Requests since the last response. */
  unanswered: number;
  isDown: boolean;
}

/**
 * Path management of GTP-C: answers echo requests of version 1 and 2, and asks the far end of each path from time to
 * time. A path is down once three requests in a row were not answered, and up with the next response.
 */
export class GtpPaths {
  readonly counters = { sent: 0, responses: 0, answered: 0, lost: 0, down: 0, invalid: 0 };
  readonly #udp: Pick<UdpLayer, 'bind' | 'send'>;
  readonly #intervalMs: number;
  readonly #responseMs: number;
  readonly #paths: GtpPath[] = [];
  /** Numbers of paths by their addresses. */
  readonly #numbers = new Map<string, number>();
  /** By the number of the request that is not answered. */
  readonly #asked = new Map<number, GtpPath>();
  readonly #answerKey = new Int32Array(keyWords);
  #sequence = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** `intervalMs`: 0: only answers. */
  constructor(udp: Pick<UdpLayer, 'bind' | 'send'>, intervalMs: number) {
    this.#udp = udp;
    this.#intervalMs = intervalMs;
    this.#responseMs = Math.min(maxResponseMs, intervalMs);
    udp.bind(gtpControlPort, {
      onDatagram: (key, packet, memory, start, end) => this.#receive(key, packet.path, memory, start, end),
    });
  }

  /** A path from the local to the remote address of `addresses` (8 words) of the host `host`; returns its number. */
  add(addresses: Int32Array, host: number, nowMs: number): number {
    const name = addresses.subarray(0, portsWord).join();
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#paths.length);
    const key = new Int32Array(keyWords);
    copyAddress(addresses, 0, key, 0);
    copyAddress(addresses, 4, key, 4);
    key[portsWord] = (gtpControlPort << 16) | gtpControlPort;
    return this.#paths.push({ key, host, dueMs: nowMs, sequence: 0, unanswered: 0, isDown: false }) - 1;
  }

  isDown(path: number): boolean {
    return this.#paths[path]?.isDown === true;
  }

  /** Sends the requests that are due. */
  advance(nowMs: number): void {
    if (this.#intervalMs === 0 || nowMs - this.#lookedMs < stepMs) return;
    this.#lookedMs = nowMs;
    for (const path of this.#paths) if (path.dueMs <= nowMs) this.#ask(path, nowMs);
  }

  #ask(path: GtpPath, nowMs: number): void {
    if (path.unanswered > 0) this.counters.lost++;
    if (path.unanswered >= maxRequests && !path.isDown) {
      path.isDown = true;
      this.counters.down++;
    }
    // A repeated request has the number of the first.
    if (path.unanswered % maxRequests === 0) {
      this.#asked.delete(path.sequence);
      this.#sequence = (this.#sequence + 1) & 0xffffff;
      path.sequence = this.#sequence;
      this.#asked.set(path.sequence, path);
    }
    path.unanswered++;
    path.dueMs = nowMs + this.#responseMs;
    this.counters.sent++;
    this.#udp.send(path.key, path.host, echo(2, messageType.echoRequest, path.sequence));
  }

  #receive(key: Int32Array, host: number, { bytes, view }: Memory, start: number, end: number): boolean {
    const version = end - start < 8 ? 0 : (bytes[start] as number) >>> 5;
    const isComplete =
      (version === 1 && end - start >= 12 && ((bytes[start] as number) & 0x12) === 0x12) ||
      (version === 2 && ((bytes[start] as number) & 8) === 0);
    if (!isComplete) {
      this.counters.invalid++;
      return true;
    }
    const sequence = version === 1 ? view.getUint16(start + 8) : view.getUint32(start + 4) >>> 8;
    const type = bytes[start + 1];
    if (type === messageType.echoRequest) {
      this.#answerKey.set(key.subarray(0, keyWords));
      this.counters.answered++;
      this.#udp.send(this.#answerKey, host, echo(version as 1 | 2, messageType.echoResponse, sequence));
    } else if (type === messageType.echoResponse) this.#onResponse(key, sequence);
    else this.counters.invalid++;
    return true;
  }

  #onResponse(key: Int32Array, sequence: number): void {
    const path = this.#asked.get(sequence);
    if (path === undefined || !isSamePath(path.key, key)) return;
    this.#asked.delete(sequence);
    this.counters.responses++;
    path.dueMs += this.#intervalMs - this.#responseMs;
    path.unanswered = 0;
    path.isDown = false;
  }
}

const isSamePath = (a: Int32Array, b: Int32Array): boolean => {
  for (let i = 0; i < portsWord; i++) if (a[i] !== b[i]) return false;
  return true;
};

/** An echo message with its recovery element; the restart counter is not used. */
const echo = (version: 1 | 2, type: number, sequence: number): Uint8Array => {
  const element = version === 1 ? [recovery[1], 0] : [recovery[2], 0, 1, 0, 0];
  const header =
    version === 1
      ? [0, 0, 0, 0, sequence >>> 8, sequence & 255, 0, 0]
      : [sequence >>> 16, (sequence >>> 8) & 255, sequence & 255, 0];
  // Version 1 counts from byte 8, version 2 from byte 4.
  const length = element.length + 4;
  return Uint8Array.of(firstByte[version], type, 0, length, ...header, ...element);
};
