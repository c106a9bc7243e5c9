import type { RdmaOutput } from './output.ts';
import {
  acknowledged,
  bthBytes,
  headerBytes,
  icrcBytes,
  notReady,
  opcode,
  paddingOf,
  psnDistance,
  type RdmaPacket,
  refusal,
  writeAeth,
  writeBase,
} from './packet.ts';

/** Memory that the other end may write and read. */
export interface MemoryRegion {
  readonly address: bigint;
  readonly key: number;
  readonly bytes: number;
}

export interface ResponderOptions {
  readonly mtu: number;
  readonly region: MemoryRegion;
  readonly pattern: Uint8Array;
  /** Receives that are posted for messages; each is posted again by `postReceives`. */
  readonly receives?: number;
  /** Wait that is asked for while none is posted: lower bits of the syndrome. */
  readonly notReadyTimer?: number;
}

interface ReadAnswer {
  number: number;
  readonly first: number;
  readonly end: number;
  readonly bytes: number;
}

type Operation = 'none' | 'send' | 'write';
type Position = 'first' | 'middle' | 'last' | 'only';

const positionOf = (code: number): Position => {
  if (code === opcode.sendFirst || code === opcode.writeFirst) return 'first';
  if (code === opcode.sendMiddle || code === opcode.writeMiddle) return 'middle';
  if (code === opcode.sendOnly || code === opcode.sendOnlyImmediate) return 'only';
  if (code === opcode.writeOnly || code === opcode.writeOnlyImmediate) return 'only';
  return 'last';
};
const takesReceive = (code: number): boolean =>
  code <= opcode.sendOnlyImmediate
    ? code === opcode.sendFirst || positionOf(code) === 'only'
    : code === opcode.writeLastImmediate || code === opcode.writeOnlyImmediate;

/** The side of a queue pair that takes messages and answers reads. */
export class Responder {
  readonly counters = { txBytes: 0, messages: 0, bytes: 0, outOfOrder: 0, duplicates: 0, immediates: 0, refusals: 0 };
  readonly #options: ResponderOptions;
  readonly #remoteQp: number;
  readonly #firstPsn: number;
  #answers: ReadAnswer[] = [];
  #expected = 0;
  #hasRefused = false;
  #operation: Operation = 'none';
  /** Bytes that are still to come of the write at hand. */
  #toCome = 0;
  #receives: number;
  #owed: { number: number; syndrome: number } | undefined;

  constructor(options: ResponderOptions, { remoteQp, firstPsn }: { remoteQp: number; firstPsn: number }) {
    this.#options = options;
    this.#remoteQp = remoteQp;
    this.#firstPsn = firstPsn;
    this.#receives = options.receives ?? Number.POSITIVE_INFINITY;
  }

  postReceives(count: number): void {
    this.#receives += count;
  }

  /** A request. What has to be answered is sent by `transmit`. */
  receive(packet: RdmaPacket): void {
    const number = this.#expected + psnDistance((this.#firstPsn + this.#expected) & 0xffffff, packet.psn);
    if (number > this.#expected) {
      this.counters.outOfOrder++;
      if (!this.#hasRefused) this.#refuse(refusal.sequence);
    } else if (number < this.#expected) this.#receiveAgain(packet, number);
    else this.#receiveNext(packet);
  }

  get hasAnswers(): boolean {
    return this.#owed !== undefined || this.#answers.length > 0;
  }

  /** Whether the next answer carries data. */
  get isNextData(): boolean {
    return this.#owed === undefined && this.#answers.length > 0;
  }

  /** Sends the next answer; returns its bytes, or 0 if there was no room. */
  transmit(output: RdmaOutput): number {
    if (this.#owed !== undefined) return this.#writeAcknowledgement(output, this.#owed);
    const [answer] = this.#answers;
    return answer === undefined ? 0 : this.#writeAnswer(output, answer);
  }

  #receiveNext(packet: RdmaPacket): void {
    const problem = packet.opcode === opcode.readRequest ? this.#read(packet, this.#expected) : this.#take(packet);
    if (problem !== undefined) {
      this.#refuse(problem);
      return;
    }
    this.#hasRefused = false;
    if (packet.opcode === opcode.readRequest) {
      this.#expected += this.#packetsOf(packet.length);
      return;
    }
    if (packet.isAckRequested) this.#owed = { number: this.#expected, syndrome: acknowledged };
    this.#expected++;
  }

  #receiveAgain(packet: RdmaPacket, number: number): void {
    this.counters.duplicates++;
    if (packet.opcode === opcode.readRequest) {
      // The answers from there on are asked for again.
      this.#answers = this.#answers.filter(({ end }) => end <= number);
      this.#read(packet, number);
    } else this.#owed = { number: this.#expected - 1, syndrome: acknowledged };
  }

  /** Why the packet cannot be taken. */
  #take(packet: RdmaPacket): number | undefined {
    const { opcode: code } = packet;
    const operation: Operation = code <= opcode.sendOnlyImmediate ? 'send' : 'write';
    const position = positionOf(code);
    const begins = position === 'first' || position === 'only';
    if (begins !== (this.#operation === 'none')) return refusal.invalidRequest;
    if (!begins && operation !== this.#operation) return refusal.invalidRequest;
    const bytes = packet.end - packet.payload;
    if (bytes > this.#options.mtu || ((position === 'first' || position === 'middle') && bytes !== this.#options.mtu))
      return refusal.invalidRequest;
    if (operation === 'write') {
      if (begins && !this.#isAllowed(packet)) return refusal.remoteAccess;
      const toCome = (begins ? packet.length : this.#toCome) - bytes;
      if (toCome < 0 || ((position === 'last' || position === 'only') && toCome !== 0)) return refusal.invalidRequest;
      this.#toCome = toCome;
    }
    if (takesReceive(code)) {
      if (this.#receives < 1) return notReady | (this.#options.notReadyTimer ?? 14);
      this.#receives--;
    }
    this.#operation = position === 'last' || position === 'only' ? 'none' : operation;
    this.#count(packet, bytes);
    return undefined;
  }

  #count({ opcode: code }: RdmaPacket, bytes: number): void {
    this.counters.bytes += bytes;
    if (this.#operation === 'none') this.counters.messages++;
    if (headerBytes(code) > bthBytes && code !== opcode.writeFirst && code !== opcode.writeOnly)
      this.counters.immediates++;
  }

  #isAllowed({ address, key, length }: RdmaPacket): boolean {
    const { region } = this.#options;
    const begin = address - region.address;
    return key === region.key && begin >= 0n && begin + BigInt(length) <= BigInt(region.bytes);
  }

  #packetsOf(bytes: number): number {
    return Math.max(1, Math.ceil(bytes / this.#options.mtu));
  }

  #read(packet: RdmaPacket, number: number): number | undefined {
    if (!this.#isAllowed(packet)) return refusal.remoteAccess;
    const end = number + this.#packetsOf(packet.length);
    this.#answers.push({ number, first: number, end, bytes: packet.length });
    this.counters.messages++;
    return undefined;
  }

  #refuse(syndrome: number): void {
    this.counters.refusals++;
    this.#hasRefused = true;
    this.#owed = { number: this.#expected, syndrome };
  }

  #writeAcknowledgement(output: RdmaOutput, { number, syndrome }: { number: number; syndrome: number }): number {
    const length = headerBytes(opcode.acknowledge) + icrcBytes;
    const at = output.begin(length, 'control');
    if (at < 0) return 0;
    const psn = this.#firstPsn + number;
    writeBase(output.memory, at, { opcode: opcode.acknowledge, destinationQp: this.#remoteQp, psn });
    writeAeth(output.memory, at + bthBytes, syndrome, this.counters.messages);
    output.commit(at, length);
    this.#owed = undefined;
    return length;
  }

  #writeAnswer(output: RdmaOutput, answer: ReadAnswer): number {
    const { mtu, pattern } = this.#options;
    const { number, first, end, bytes } = answer;
    const payloadBytes = Math.min(mtu, bytes - (number - first) * mtu);
    const isFirst = number === first;
    const isLast = number === end - 1;
    const outer = isFirst ? opcode.readResponseFirst : opcode.readResponseLast;
    const code = isFirst && isLast ? opcode.readResponseOnly : isFirst || isLast ? outer : opcode.readResponseMiddle;
    const headers = headerBytes(code);
    const length = headers + payloadBytes + paddingOf(payloadBytes) + icrcBytes;
    const at = output.begin(length, 'data');
    if (at < 0) return 0;
    const { memory } = output;
    writeBase(memory, at, { opcode: code, destinationQp: this.#remoteQp, psn: this.#firstPsn + number, payloadBytes });
    if (headers > bthBytes) writeAeth(memory, at + bthBytes, acknowledged, this.counters.messages);
    memory.bytes.set(pattern.subarray(0, payloadBytes), at + headers);
    memory.bytes.fill(0, at + headers + payloadBytes, at + length - icrcBytes);
    output.commit(at, length);
    this.counters.txBytes += payloadBytes;
    answer.number++;
    if (isLast) this.#answers.shift();
    return length;
  }
}
