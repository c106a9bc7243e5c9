import { isSameBytes } from '../../bytes/memory.ts';
import {
  type Adjacency,
  type AncpEnd,
  AncpStream,
  adjacencyCode,
  ancpCapability,
  type LineReport,
  readAncp,
  writeAdjacency,
  writeLineReport,
} from './message.ts';

export interface AncpPeerOptions {
  /** Six bytes. */
  readonly name: Uint8Array;
  readonly port: number;
  /** The gateway; access nodes are not. */
  readonly isMaster: boolean;
  /** Time between messages that keep the adjacency. */
  readonly timerMs: number;
  /** A number that the end did not have before. */
  readonly instance: number;
  send(bytes: Uint8Array): void;
  /** The other end is not one of ANCP, or silent: the connection is of no use. */
  onBroken(reason: string): void;
  onUp(): void;
  onLine(line: LineReport): void;
}

export type AncpState = 'waiting' | 'syn sent' | 'syn received' | 'up';

/** Silence of so many periods of the other end ends an adjacency. */
const silentPeriods = 3;
/** An adjacency that is not up after so many periods never will be. */
const setupPeriods = 10;
const noEnd: AncpEnd = { name: new Uint8Array(6), port: 0, instance: 0 };

const isSameEnd = (a: AncpEnd, b: AncpEnd): boolean =>
  a.port === b.port && a.instance === b.instance && isSameBytes(a.name, b.name);

/** One end of an adjacency of ANCP (RFC 6320, 3.5) on a connection of TCP. */
export class AncpPeer {
  state: AncpState = 'waiting';
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0 };
  readonly #options: AncpPeerOptions;
  readonly #own: AncpEnd;
  readonly #stream = new AncpStream();
  #other: AncpEnd = noEnd;
  #takesLines = false;
  #periodMs: number;
  #beganMs = 0;
  #nextMs = 0;
  #heardMs = 0;
  #nowMs = 0;

  constructor(options: AncpPeerOptions) {
    this.#options = options;
    this.#own = { name: options.name, port: options.port, instance: options.instance };
    this.#periodMs = options.timerMs;
  }

  /** Both ends know about lines. */
  get isReady(): boolean {
    return this.state === 'up' && this.#takesLines;
  }

  /** The connection is there. */
  begin(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#heardMs = nowMs;
    this.#beganMs = nowMs;
    this.state = 'syn sent';
    this.#send(adjacencyCode.syn);
  }

  /** Milliseconds of any clock that does not go back. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    if (this.state === 'waiting') return;
    if (nowMs - this.#heardMs > silentPeriods * Math.max(this.#periodMs, this.#options.timerMs)) {
      this.counters.timeouts++;
      this.#end('no message of the other end');
    } else if (this.state !== 'up' && nowMs - this.#beganMs > setupPeriods * this.#options.timerMs) {
      this.counters.timeouts++;
      this.#end('the other end does not complete the adjacency');
    } else if (nowMs >= this.#nextMs) this.#send(this.#periodical());
  }

  receive(bytes: Uint8Array): void {
    const messages = this.#stream.push(bytes);
    if (messages === undefined) {
      this.counters.invalid++;
      this.#end('no stream of ANCP');
      return;
    }
    for (const message of messages) this.#onMessage(message);
  }

  /** Says that a line is up or down. */
  report(line: LineReport): void {
    this.counters.sent++;
    this.#options.send(writeLineReport(line));
  }

  #onMessage(bytes: Uint8Array): void {
    // What had arrived before an end means nothing more.
    if (this.state === 'waiting') return;
    const message = readAncp(bytes);
    if (message === undefined) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    if ('adjacency' in message) this.#onAdjacency(message.adjacency);
    else if ('line' in message && this.state === 'up') {
      this.#heardMs = this.#nowMs;
      this.#options.onLine(message.line);
    }
  }

  #onAdjacency(message: Adjacency): void {
    const { code, sender, receiver } = message;
    if (message.isMaster === this.#options.isMaster) {
      if (code === adjacencyCode.syn) this.#end('the other end has the same part');
      if (code === adjacencyCode.syn) return;
    }
    const isForUs = isSameEnd(receiver, this.#own);
    const isKnown = isSameEnd(sender, this.#other);
    if (code === adjacencyCode.reset) {
      if (isForUs && isKnown && this.state !== 'syn sent') this.#end('reset by the other end');
      return;
    }
    if (code === adjacencyCode.syn) this.#onSyn(message);
    else if (code === adjacencyCode.synAck) this.#onSynAck(message, isForUs);
    else if (code === adjacencyCode.ack) this.#onAck(message, isForUs && isKnown);
  }

  #onSyn(message: Adjacency): void {
    this.#heardMs = this.#nowMs;
    if (this.state === 'up') {
      this.#send(adjacencyCode.ack);
      return;
    }
    this.#learn(message);
    this.state = 'syn received';
    this.#send(adjacencyCode.synAck);
  }

  #onSynAck(message: Adjacency, isForUs: boolean): void {
    if (!isForUs) {
      this.#send(adjacencyCode.reset);
      return;
    }
    this.#heardMs = this.#nowMs;
    this.#learn(message);
    this.#send(adjacencyCode.ack);
    this.#open();
  }

  #onAck(message: Adjacency, isOurs: boolean): void {
    if (!isOurs || this.state === 'syn sent') {
      this.#send(adjacencyCode.reset);
      return;
    }
    this.#heardMs = this.#nowMs;
    this.#periodMs = message.timerMs;
    if (this.state === 'up') return;
    this.#send(adjacencyCode.ack);
    this.#open();
  }

  #learn({ sender, timerMs, capabilities }: Adjacency): void {
    this.#other = sender;
    this.#periodMs = timerMs;
    this.#takesLines = capabilities.includes(ancpCapability.topology);
  }

  #open(): void {
    if (this.state === 'up') return;
    this.state = 'up';
    this.#options.onUp();
  }

  #end(reason: string): void {
    if (this.state === 'waiting') return;
    this.state = 'waiting';
    this.#options.onBroken(reason);
  }

  #periodical(): number {
    if (this.state === 'syn sent') return adjacencyCode.syn;
    return this.state === 'up' ? adjacencyCode.ack : adjacencyCode.synAck;
  }

  #send(code: number): void {
    const { isMaster, timerMs } = this.#options;
    this.#nextMs = this.#nowMs + timerMs;
    this.counters.sent++;
    const ends = { sender: this.#own, receiver: this.#other };
    this.#options.send(writeAdjacency({ ...ends, code, isMaster, timerMs, capabilities: [ancpCapability.topology] }));
  }
}
