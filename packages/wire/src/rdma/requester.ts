import type { RdmaOutput } from './output.ts';
import {
  bthBytes,
  headerBytes,
  icrcBytes,
  notReadyWaitUs,
  opcode,
  paddingOf,
  psnDistance,
  type RdmaPacket,
  refusal,
  syndromeKind,
  writeBase,
  writeReth,
} from './packet.ts';

export type RdmaVerb = 'write' | 'writeImm' | 'send' | 'sendImm' | 'read';

/** First, middle, last and only packet of each operation. */
const opcodes: Readonly<Record<Exclude<RdmaVerb, 'read'>, readonly [number, number, number, number]>> = {
  send: [opcode.sendFirst, opcode.sendMiddle, opcode.sendLast, opcode.sendOnly],
  sendImm: [opcode.sendFirst, opcode.sendMiddle, opcode.sendLastImmediate, opcode.sendOnlyImmediate],
  write: [opcode.writeFirst, opcode.writeMiddle, opcode.writeLast, opcode.writeOnly],
  writeImm: [opcode.writeFirst, opcode.writeMiddle, opcode.writeLastImmediate, opcode.writeOnlyImmediate],
};

export interface RequesterOptions {
  readonly verb: RdmaVerb;
  readonly messageBytes: number;
  readonly mtu: number;
  readonly retryUs: number;
  readonly retryCount: number;
  /** Packets that may be unacknowledged. */
  readonly windowPackets: number;
  readonly pattern: Uint8Array;
}

/** The other end, as the connection has agreed. */
export interface RemoteMemory {
  readonly qp: number;
  readonly address: bigint;
  readonly key: number;
}

export interface RequesterEvents {
  /** A message is acknowledged; `beganUs`: its first packet. */
  onComplete(message: number, beganUs: number, nowUs: number): void;
  onFail(reason: 'timeout' | 'notReady' | 'refused', nowUs: number): void;
}

/** 7: without an end. */
const endlessRetries = 7;
const ackEvery = 16;
/** A longer message is read in pieces: the ring of the reader must hold the answer. */
const maxReadPackets = 256;

/** The side of a queue pair that posts messages of one size. Packets are numbered from 0, also beyond 24 bits. */
export class Requester {
  readonly counters = { txBytes: 0, rxBytes: 0, retransmits: 0, refusals: 0, notReady: 0, outOfOrder: 0, timeouts: 0 };
  readonly #options: RequesterOptions;
  readonly #remote: RemoteMemory;
  readonly #firstPsn: number;
  readonly #events: RequesterEvents;
  readonly #packets: number;
  readonly #began: number[] = [];
  #posted = 0;
  #completed = 0;
  /** All packets before it are acknowledged. */
  #acked = 0;
  /** The next one to send. */
  #cursor = 0;
  /** All packets before it were sent once. */
  #sent = 0;
  #retries = 0;
  #notReadyRetries = 0;
  #deadlineUs = Number.POSITIVE_INFINITY;
  #waitUntilUs = 0;
  #hasGap = false;
  isFailed = false;

  constructor(options: RequesterOptions, link: { remote: RemoteMemory; firstPsn: number }, events: RequesterEvents) {
    this.#options = options;
    this.#remote = link.remote;
    this.#firstPsn = link.firstPsn;
    this.#events = events;
    this.#packets = Math.max(1, Math.ceil(options.messageBytes / options.mtu));
  }

  get outstanding(): number {
    return this.#posted - this.#completed;
  }

  post(): void {
    this.#posted++;
  }

  /** Whether a packet could be sent now. */
  canSend(nowUs: number): boolean {
    if (this.isFailed || nowUs < this.#waitUntilUs) return false;
    const { verb, windowPackets } = this.#options;
    if (this.#cursor >= this.#posted * this.#packets) return false;
    const inFlight = this.#cursor - this.#acked;
    if (verb === 'read') return inFlight === 0 || inFlight + Math.min(this.#packets, maxReadPackets) <= windowPackets;
    return inFlight < windowPackets;
  }

  /** Sends the next packet; returns its bytes, or 0 if there was no room. */
  transmit(output: RdmaOutput, nowUs: number): number {
    const length = this.#options.verb === 'read' ? this.#writeRead(output) : this.#writeSegment(output);
    if (length === 0) return 0;
    if (this.#deadlineUs === Number.POSITIVE_INFINITY) this.#deadlineUs = nowUs + this.#options.retryUs;
    const message = Math.floor((this.#cursor - 1) / this.#packets);
    this.#began[message - this.#completed] ??= nowUs;
    if (this.#cursor > this.#sent) this.#sent = this.#cursor;
    else this.counters.retransmits++;
    return length;
  }

  /** An acknowledgement or refusal. */
  acknowledge({ psn, syndrome }: RdmaPacket, nowUs: number): void {
    const number = this.#numberOf(psn);
    if (number >= this.#sent || number < this.#acked - 1) return;
    const kind = syndromeKind(syndrome);
    if (kind === 'ack') {
      if (this.#options.verb !== 'read') this.#advanceTo(number + 1, nowUs);
      return;
    }
    if (number < this.#acked) return;
    if (this.#options.verb !== 'read') this.#advanceTo(number, nowUs);
    if (kind === 'notReady') this.#waitForRoom(syndrome, nowUs);
    else if (kind === 'refusal') {
      this.counters.refusals++;
      if (syndrome !== refusal.sequence) this.#fail('refused', nowUs);
      else this.#goBack(nowUs, 'refused');
    }
  }

  /** A packet of the answer to a read. Returns whether it was the next one. */
  takeResponse({ psn, payload, end }: RdmaPacket, nowUs: number): boolean {
    const number = this.#numberOf(psn);
    if (number < this.#acked || number >= this.#sent) return false;
    if (number > this.#acked) {
      this.counters.outOfOrder++;
      if (!this.#hasGap) this.#goBack(nowUs, 'refused');
      this.#hasGap = true;
      return false;
    }
    if (end - payload !== this.#segmentBytes(number)) return false;
    this.#hasGap = false;
    this.counters.rxBytes += end - payload;
    this.#advanceTo(number + 1, nowUs);
    return true;
  }

  /** Sends again what was not acknowledged in time. */
  advance(nowUs: number): void {
    if (nowUs < this.#deadlineUs || this.isFailed) return;
    this.counters.timeouts++;
    this.#hasGap = false;
    this.#goBack(nowUs, 'timeout');
  }

  #numberOf(psn: number): number {
    return this.#acked + psnDistance((this.#firstPsn + this.#acked) & 0xffffff, psn);
  }

  #segmentBytes(number: number): number {
    const { messageBytes, mtu } = this.#options;
    return Math.min(mtu, messageBytes - (number % this.#packets) * mtu);
  }

  #writeSegment(output: RdmaOutput): number {
    const { verb, messageBytes, windowPackets, pattern } = this.#options;
    const index = this.#cursor % this.#packets;
    const isLast = index === this.#packets - 1;
    const [first, middle, last, only] = opcodes[verb as Exclude<RdmaVerb, 'read'>];
    const code = index === 0 ? (isLast ? only : first) : isLast ? last : middle;
    const headers = headerBytes(code);
    const payloadBytes = this.#segmentBytes(this.#cursor);
    const length = headers + payloadBytes + paddingOf(payloadBytes) + icrcBytes;
    const at = output.begin(length, 'data');
    if (at < 0) return 0;
    const { memory } = output;
    const isAckRequested =
      isLast || (this.#cursor + 1) % ackEvery === 0 || this.#cursor + 1 - this.#acked >= windowPackets;
    const psn = this.#firstPsn + this.#cursor;
    writeBase(memory, at, { opcode: code, destinationQp: this.#remote.qp, psn, isAckRequested, payloadBytes });
    const isWrite = verb === 'write' || verb === 'writeImm';
    if (isWrite && index === 0) writeReth(memory, at + bthBytes, this.#remote.address, this.#remote.key, messageBytes);
    const isImmediate = isLast && (verb === 'sendImm' || verb === 'writeImm');
    if (isImmediate) memory.view.setUint32(at + headers - 4, Math.floor(this.#cursor / this.#packets) >>> 0);
    memory.bytes.set(pattern.subarray(0, payloadBytes), at + headers);
    memory.bytes.fill(0, at + headers + payloadBytes, at + length - icrcBytes);
    output.commit(at, length);
    this.counters.txBytes += payloadBytes;
    this.#cursor++;
    return length;
  }

  /** Asks for the rest of a message, or the next piece of it. */
  #writeRead(output: RdmaOutput): number {
    const { messageBytes, mtu } = this.#options;
    const length = headerBytes(opcode.readRequest) + icrcBytes;
    const at = output.begin(length, 'data');
    if (at < 0) return 0;
    const { memory } = output;
    const index = this.#cursor % this.#packets;
    const packets = Math.min(this.#packets - index, maxReadPackets);
    const skipped = index * mtu;
    const asked = Math.min(messageBytes - skipped, packets * mtu);
    const psn = this.#firstPsn + this.#cursor;
    writeBase(memory, at, { opcode: opcode.readRequest, destinationQp: this.#remote.qp, psn, isAckRequested: true });
    writeReth(memory, at + bthBytes, this.#remote.address + BigInt(skipped), this.#remote.key, asked);
    output.commit(at, length);
    this.#cursor += packets;
    return length;
  }

  #advanceTo(number: number, nowUs: number): void {
    if (number <= this.#acked) return;
    this.#acked = number;
    if (this.#cursor < number) this.#cursor = number;
    this.#retries = 0;
    this.#notReadyRetries = 0;
    this.#deadlineUs = this.#acked < this.#sent ? nowUs + this.#options.retryUs : Number.POSITIVE_INFINITY;
    while ((this.#completed + 1) * this.#packets <= number) {
      const began = this.#began.shift() ?? nowUs;
      this.#events.onComplete(this.#completed++, began, nowUs);
    }
  }

  #waitForRoom(syndrome: number, nowUs: number): void {
    this.#notReadyRetries++;
    this.counters.notReady++;
    const { retryCount } = this.#options;
    if (retryCount !== endlessRetries && this.#notReadyRetries > retryCount) {
      this.#fail('notReady', nowUs);
      return;
    }
    this.#cursor = this.#acked;
    this.#waitUntilUs = nowUs + notReadyWaitUs(syndrome);
    this.#deadlineUs = this.#waitUntilUs + this.#options.retryUs;
  }

  #goBack(nowUs: number, reason: 'timeout' | 'refused'): void {
    this.#retries++;
    if (this.#retries > this.#options.retryCount) {
      this.#fail(reason, nowUs);
      return;
    }
    this.#cursor = this.#acked;
    this.#deadlineUs = nowUs + this.#options.retryUs;
  }

  #fail(reason: 'timeout' | 'notReady' | 'refused', nowUs: number): void {
    this.isFailed = true;
    this.#deadlineUs = Number.POSITIVE_INFINITY;
    this.#events.onFail(reason, nowUs);
  }
}
