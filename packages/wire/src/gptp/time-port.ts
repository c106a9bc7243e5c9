import type { Memory } from '../bytes/memory.ts';
import { hexOfBytes } from '../bytes/memory.ts';
import { EmulatedClock } from './clock-servo.ts';
import { type ClockRank, compareRanks, type GptpMessage, gptpKind, readGptp, twoStepFlag } from './message.ts';
import { PeerDelay } from './peer-delay.ts';

export interface TimePortOptions {
  readonly role: 'auto' | 'follower' | 'leader';
  readonly domain: number;
  /** Without identity and steps: those of the clock itself. */
  readonly rank: Omit<ClockRank, 'identity' | 'steps'>;
  /** EUI-48 that the clock identity is made from. */
  readonly mac: Uint8Array;
  readonly announceLog: number;
  readonly syncLog: number;
  readonly delayLog: number;
  readonly announceTimeout: number;
  readonly syncTimeout: number;
  readonly twoStep: boolean;
  readonly delayThresholdNs: number;
  readonly error: { readonly offsetNs: number; readonly driftPpb: number; readonly lossPct: number };
}

export interface TimePortHost {
  /** Nanoseconds since 1970 by the clock of the machine. */
  machineNs(): bigint;
  random(): number;
  /** Sends a message at once; returns when, by the clock of the machine. */
  send(message: GptpMessage): bigint;
  /** Nanoseconds that the clock is ahead of its leader. */
  onOffset?(offsetNs: number): void;
  onDelay?(delayNs: number): void;
}

export type TimePortState = 'down' | 'listening' | 'leader' | 'follower';

const never = Number.POSITIVE_INFINITY;
const msOf = (log: number): number => 1000 * 2 ** log;
const maxSteps = 255;

interface Leader {
  readonly rank: ClockRank;
  readonly source: string;
  readonly intervalMs: number;
}

/** One port of an emulated time-aware system (IEEE 802.1AS): the best clock leads, the others follow it. */
export class TimePort {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, leaderChanges: 0 };
  readonly identity: string;
  readonly clock: EmulatedClock;
  readonly delay = new PeerDelay();
  state: TimePortState = 'down';
  /** The best clock that is announced; undefined: none but this one. */
  leader: Leader | undefined;
  /** Of the last sync; undefined: it follows nobody. */
  offsetNs: number | undefined;
  readonly #host: TimePortHost;
  readonly #options: TimePortOptions;
  readonly #source: string;
  #nowMs = 0;
  #announceMs = 0;
  #syncMs = 0;
  #delayMs = 0;
  #leaderUntilMs = never;
  #syncUntilMs = never;
  #announceSequence = 0;
  #syncSequence = 0;
  #waiting: { readonly sequence: number; readonly receivedNs: bigint; readonly correction: bigint } | undefined;
  #sentLoss = 0;

  constructor(host: TimePortHost, options: TimePortOptions) {
    this.#host = host;
    this.#options = options;
    const mac = hexOfBytes(options.mac);
    this.identity = `${mac.slice(0, 6)}fffe${mac.slice(6)}`;
    this.#source = `${this.identity}0001`;
    this.clock = new EmulatedClock(() => host.machineNs(), options.error);
  }

  /** The neighbour answers, and the link is short enough to keep time. */
  get isCapable(): boolean {
    const { meanNs } = this.delay;
    return meanNs !== undefined && meanNs <= this.#options.delayThresholdNs;
  }

  /** What this clock says of itself. */
  get rank(): ClockRank {
    const priority1 = this.#options.role === 'follower' ? 255 : this.#options.rank.priority1;
    return { ...this.#options.rank, priority1, identity: this.identity, steps: 0 };
  }

  /** Syncs that were left out on purpose. */
  get omitted(): number {
    return this.#sentLoss;
  }

  setLink(isUp: boolean): void {
    if (isUp === (this.state !== 'down')) return;
    this.state = isUp ? 'listening' : 'down';
    this.delay.meanNs = undefined;
    this.#lose();
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    if (this.state === 'down') return;
    const { delayLog, announceLog, syncLog } = this.#options;
    if (nowMs >= this.#delayMs) {
      this.#delayMs = nowMs + msOf(delayLog);
      this.#askDelay();
    }
    if (nowMs >= this.#leaderUntilMs || nowMs >= this.#syncUntilMs) {
      this.counters.timeouts++;
      this.#lose();
    }
    this.#decide();
    if (this.state !== 'leader') return;
    if (nowMs >= this.#announceMs) {
      this.#announceMs = nowMs + msOf(announceLog);
      this.#announce();
    }
    if (nowMs < this.#syncMs) return;
    this.#syncMs = Math.max(this.#syncMs + msOf(syncLog), nowMs);
    this.#sync();
  }

  /** The payload of a frame that has arrived at a time of the clock of the machine. */
  receive(memory: Memory, start: number, end: number, machineNs: bigint): void {
    const message = readGptp(memory, start, end);
    if (message === undefined || message.domain !== this.#options.domain) {
      this.counters.invalid++;
      return;
    }
    if (this.state === 'down' || message.source.startsWith(this.identity)) return;
    this.counters.received++;
    const receivedNs = this.clock.at(machineNs);
    const { kind, sequence, time, requester } = message;
    if (kind === gptpKind.pdelayRequest) this.#answerDelay(message, receivedNs);
    else if (kind === gptpKind.pdelayResponse && requester === this.#source)
      this.delay.response(sequence, time, receivedNs);
    else if (kind === gptpKind.pdelayFollowUp) this.#onDelay(message);
    else if (kind === gptpKind.announce) this.#onAnnounce(message);
    else if (kind === gptpKind.sync) this.#onSync(message, receivedNs);
    else if (kind === gptpKind.followUp) this.#onFollowUp(message);
  }

  #message(kind: number, more: Partial<GptpMessage>): GptpMessage {
    const { domain } = this.#options;
    return {
      kind,
      domain,
      flags: 0,
      correction: 0n,
      source: this.#source,
      sequence: 0,
      logInterval: 0x7f,
      time: 0n,
      ...more,
    };
  }

  /** Sends a message; returns the time of this clock when it left. */
  #send(message: GptpMessage): bigint {
    this.counters.sent++;
    return this.clock.at(this.#host.send(message));
  }

  #askDelay(): void {
    const { delay } = this;
    const sequence = (delay.sequence + 1) & 0xffff;
    const request = this.#message(gptpKind.pdelayRequest, {
      sequence,
      logInterval: this.#options.delayLog,
      requester: '00'.repeat(10),
    });
    if (!delay.request(this.#send(request))) this.counters.timeouts++;
  }

  #answerDelay({ sequence, source: requester }: GptpMessage, time: bigint): void {
    const response = this.#message(gptpKind.pdelayResponse, { sequence, requester, time, flags: twoStepFlag });
    const sentNs = this.#send(response);
    this.#send(this.#message(gptpKind.pdelayFollowUp, { sequence, requester, time: sentNs }));
  }

  #onDelay({ sequence, time, requester, correction }: GptpMessage): void {
    if (requester !== this.#source || !this.delay.followUp(sequence, time + (correction >> 16n))) return;
    this.#host.onDelay?.(this.delay.meanNs ?? 0);
  }

  #onAnnounce({ rank, path = [], source, logInterval }: GptpMessage): void {
    if (rank === undefined || !this.isCapable || rank.steps >= maxSteps || path.includes(this.identity)) return;
    const intervalMs = msOf(Math.min(Math.max(logInterval, -7), 10));
    const candidate = { rank, source, intervalMs };
    const { leader } = this;
    if (leader !== undefined && leader.source !== source && compareRanks(leader.rank, rank) <= 0) return;
    if (leader?.rank.identity !== rank.identity) this.counters.leaderChanges++;
    if (leader?.source !== source) this.#syncUntilMs = never;
    this.leader = candidate;
    this.#leaderUntilMs = this.#nowMs + this.#options.announceTimeout * intervalMs;
    this.#decide();
  }

  #decide(): void {
    if (this.state === 'down') return;
    const { role } = this.#options;
    const isBetter =
      this.leader !== undefined && (role === 'follower' || compareRanks(this.leader.rank, this.rank) < 0);
    if (role !== 'leader' && isBetter) this.state = 'follower';
    else if (role !== 'follower' && this.isCapable) this.state = 'leader';
    else this.state = 'listening';
    if (this.state === 'follower') return;
    this.offsetNs = undefined;
    this.clock.release();
  }

  #lose(): void {
    this.leader = undefined;
    this.offsetNs = undefined;
    this.#leaderUntilMs = never;
    this.#syncUntilMs = never;
    this.#waiting = undefined;
    this.clock.release();
  }

  #announce(): void {
    this.#announceSequence = (this.#announceSequence + 1) & 0xffff;
    const { announceLog: logInterval } = this.#options;
    const path = [this.identity];
    this.#send(
      this.#message(gptpKind.announce, { sequence: this.#announceSequence, logInterval, rank: this.rank, path }),
    );
  }

  #sync(): void {
    const { syncLog: logInterval, twoStep, error } = this.#options;
    this.#syncSequence = (this.#syncSequence + 1) & 0xffff;
    if (this.#host.random() * 100 < error.lossPct) {
      this.#sentLoss++;
      return;
    }
    const common = { sequence: this.#syncSequence, logInterval };
    const time = twoStep ? 0n : this.clock.nowNs;
    const sentNs = this.#send(this.#message(gptpKind.sync, { ...common, time, flags: twoStep ? twoStepFlag : 0 }));
    if (twoStep) this.#send(this.#message(gptpKind.followUp, { ...common, time: sentNs }));
  }

  #onSync(message: GptpMessage, receivedNs: bigint): void {
    if (this.state !== 'follower' || message.source !== this.leader?.source) return;
    const { sequence, correction, logInterval, time, flags } = message;
    const intervalMs = msOf(Math.min(Math.max(logInterval, -7), 10));
    this.#syncUntilMs = this.#nowMs + this.#options.syncTimeout * intervalMs + msOf(0);
    if ((flags & twoStepFlag) === 0) this.#follow(time + (correction >> 16n), receivedNs, intervalMs);
    else this.#waiting = { sequence, receivedNs, correction };
  }

  #onFollowUp({ sequence, source, time, correction, logInterval }: GptpMessage): void {
    const waiting = this.#waiting;
    if (waiting?.sequence !== sequence || source !== this.leader?.source || this.state !== 'follower') return;
    this.#waiting = undefined;
    const intervalMs = msOf(Math.min(Math.max(logInterval, -7), 10));
    this.#follow(time + ((correction + waiting.correction) >> 16n), waiting.receivedNs, intervalMs);
  }

  #follow(sentNs: bigint, receivedNs: bigint, intervalMs: number): void {
    const offsetNs = Number(receivedNs - sentNs) - (this.delay.meanNs ?? 0);
    const isFirst = this.offsetNs === undefined;
    this.offsetNs = offsetNs;
    this.clock.steer(offsetNs, intervalMs / 1000);
    // The first one says how far the clocks were apart before.
    if (!isFirst) this.#host.onOffset?.(offsetNs);
  }
}
