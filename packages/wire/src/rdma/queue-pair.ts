import type { RdmaOutput } from './output.ts';
import { headerBytes, icrcBytes, opcode, type RdmaPacket, writeBase } from './packet.ts';
import { type Dcqcn, RateControl } from './rate-control.ts';
import { type RemoteMemory, Requester, type RequesterEvents, type RequesterOptions } from './requester.ts';
import { Responder, type ResponderOptions } from './responder.ts';

export interface QueuePairOptions {
  readonly requester?: RequesterOptions;
  readonly responder: ResponderOptions;
  readonly maxBps: number;
  /** Without it the rate stays the same. */
  readonly dcqcn?: Dcqcn;
  /** Least time between two congestion notifications; undefined: none are sent. */
  readonly congestionDelayUs?: number;
}

/** What both ends have agreed on. */
export interface QueuePairLink {
  readonly localQp: number;
  readonly remote: RemoteMemory;
  readonly localPsn: number;
  readonly remotePsn: number;
}

/** Packets may be late by so much without being lost for the rate. */
const burstUs = 2000;
/** Ethernet, IP and UDP headers count for the rate. */
const frameBytes = 14 + 20 + 8 + 4;

/** A reliable connection between two ends. */
export class QueuePair {
  readonly counters = { congestionSent: 0, congestionReceived: 0, marked: 0 };
  readonly link: QueuePairLink;
  readonly requester: Requester | undefined;
  readonly responder: Responder;
  readonly #rate: RateControl | undefined;
  readonly #maxBps: number;
  readonly #congestionDelayUs: number | undefined;
  #nextUs = 0;
  #notifiedUs = Number.NEGATIVE_INFINITY;
  #owesNotification = false;

  constructor(options: QueuePairOptions, link: QueuePairLink, events: RequesterEvents) {
    const { requester, responder, dcqcn } = options;
    this.link = link;
    this.#maxBps = options.maxBps;
    this.#congestionDelayUs = options.congestionDelayUs;
    if (dcqcn !== undefined) this.#rate = new RateControl(options.maxBps, dcqcn);
    this.responder = new Responder(responder, { remoteQp: link.remote.qp, firstPsn: link.remotePsn });
    if (requester !== undefined)
      this.requester = new Requester(requester, { remote: link.remote, firstPsn: link.localPsn }, events);
  }

  get rateBps(): number {
    return this.#rate?.rateBps ?? this.#maxBps;
  }

  receive(packet: RdmaPacket, isMarked: boolean, nowUs: number): void {
    if (isMarked) this.#notify(nowUs);
    const { opcode: code } = packet;
    if (code === opcode.congestion) {
      this.counters.congestionReceived++;
      this.#rate?.reduce(nowUs);
    } else if (code === opcode.acknowledge) this.requester?.acknowledge(packet, nowUs);
    else if (code >= opcode.readResponseFirst && code <= opcode.readResponseOnly)
      this.requester?.takeResponse(packet, nowUs);
    else if (code < opcode.readResponseFirst) this.responder.receive(packet);
  }

  /** Sends up to `budget` packets that are due; returns how many. */
  transmit(output: RdmaOutput, nowUs: number, budget: number): number {
    this.requester?.advance(nowUs);
    this.#rate?.advance(nowUs);
    let sent = 0;
    if (this.#owesNotification && this.#writeNotification(output)) sent++;
    while (sent < budget && this.responder.hasAnswers) {
      const isData = this.responder.isNextData;
      if (isData && this.#nextUs > nowUs) break;
      const bytes = this.responder.transmit(output);
      if (bytes === 0) return sent;
      if (isData) this.#pace(bytes, nowUs);
      sent++;
    }
    while (sent < budget && this.requester?.canSend(nowUs) === true && this.#nextUs <= nowUs) {
      const bytes = this.requester.transmit(output, nowUs);
      if (bytes === 0) return sent;
      this.#pace(bytes, nowUs);
      sent++;
    }
    return sent;
  }

  #pace(bytes: number, nowUs: number): void {
    this.#rate?.sent(bytes);
    const { rateBps } = this;
    if (rateBps === Number.POSITIVE_INFINITY) return;
    this.#nextUs = Math.max(this.#nextUs, nowUs - burstUs) + ((bytes + frameBytes) * 8e6) / rateBps;
  }

  #notify(nowUs: number): void {
    this.counters.marked++;
    if (this.#congestionDelayUs === undefined || nowUs - this.#notifiedUs < this.#congestionDelayUs) return;
    this.#notifiedUs = nowUs;
    this.#owesNotification = true;
  }

  #writeNotification(output: RdmaOutput): boolean {
    const length = headerBytes(opcode.congestion) + icrcBytes;
    const at = output.begin(length, 'congestion');
    if (at < 0) return false;
    output.memory.bytes.fill(0, at, at + length);
    const header = { opcode: opcode.congestion, destinationQp: this.link.remote.qp, psn: 0, isBackward: true };
    writeBase(output.memory, at, header);
    output.commit(at, length);
    this.#owesNotification = false;
    this.counters.congestionSent++;
    return true;
  }
}
