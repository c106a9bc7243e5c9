import { MessageWriter } from '../message-writer.ts';
import {
  type OamInformation,
  type OamPdu,
  oamCode,
  oamConfig,
  oamFlag,
  parseOam,
  writeFrameErrors,
  writeOam,
  writeOamInformation,
} from './pdu.ts';

export interface LinkOamOptions {
  readonly isActive: boolean;
  readonly pdusPerSec: number;
  readonly lostLinkMs: number;
  readonly maxPduBytes: number;
  readonly answersVariables: boolean;
  /** Reports of frames with errors; undefined: none. */
  readonly frames: { readonly windowMs: number; readonly threshold: number } | undefined;
  /** Starts a loopback at the other end for so long; 0: does not. */
  readonly loopbackMs: number;
  /** Events sent on purpose. */
  readonly event: { readonly flag: number; readonly intervalMs: number } | undefined;
  readonly oui: number;
}

/** Counters of the link, from its start on. */
export interface LinkCounters {
  readonly txFrames: number;
  readonly rxFrames: number;
  readonly rxErrors: number;
}

export interface LinkOamEvents {
  send(bytes: Uint8Array): void;
  onChange(isUp: boolean, reason: string): void;
  /** The other end reports something. */
  onEvent(text: string): void;
  counters(): LinkCounters;
}

type State = 'down' | 'waiting' | 'sendLocal' | 'sendLocalRemoteOk' | 'up';

const informationMs = 1000;
const eventUnitMs = 100;
/** Header and check sequence of a frame, which count into the largest packet. */
const frameBytes = 18;
const never = Number.POSITIVE_INFINITY;
const loopbackCommand = { enable: 1, disable: 2 } as const;
/** Branch and leaves of attributes (IEEE 802.3, annex 30A), and what is answered to others. */
const attributeBranch = 7;
const attributes: Readonly<Record<number, keyof LinkCounters>> = { 2: 'txFrames', 5: 'rxFrames', 6: 'rxErrors' };
const unsupportedAttribute = 0xa2;
const eventNames = { linkFault: 'link fault', dyingGasp: 'dying gasp', critical: 'critical event' } as const;

/** One end of a link that both ends watch (IEEE 802.3, clause 57). Times are milliseconds of the clock of the caller. */
export class LinkOam {
  state: State = 'down';
  upAt = 0;
  lastError = '';
  remote: OamInformation | undefined;
  readonly counters = { tx: 0, rx: 0, flaps: 0, invalid: 0, events: 0, frameErrors: 0, loopbacks: 0 };
  readonly #options: LinkOamOptions;
  readonly #events: LinkOamEvents;
  #queue: Uint8Array[] = [];
  #nextAt = never;
  #informationAt = never;
  #lostAt = never;
  #eventAt = never;
  #loopbackAt = never;
  #isLoopback = false;
  #windowAt = never;
  #errorsBefore = 0;
  #sequence = 0;
  #totals = { errors: 0, events: 0 };
  #isStable = false;
  #flags = 0;
  /** Flags of the last packet: an event begins where one is set. */
  #noted = 0;

  constructor(options: LinkOamOptions, events: LinkOamEvents) {
    this.#options = options;
    this.#events = events;
  }

  get isUp(): boolean {
    return this.state === 'up';
  }

  start(now: number): void {
    this.#reset(now);
    this.#nextAt = now;
    this.#informationAt = now;
  }

  /** The other end learns it by a dying gasp. */
  stop(): void {
    if (this.state === 'down') return;
    this.#sendInformation(oamFlag.dyingGasp);
    this.#flush();
    this.#goDown('stopped');
    this.interrupt();
  }

  /** Falls silent. */
  interrupt(): void {
    if (this.isUp) this.#goDown('link down');
    this.state = 'down';
    this.#nextAt = never;
    this.#lostAt = never;
    this.#queue = [];
  }

  receive(bytes: Uint8Array, now: number): void {
    if (this.state === 'down') return;
    const pdu = parseOam(bytes);
    if (pdu === undefined || bytes.length > this.#options.maxPduBytes - frameBytes) {
      this.counters.invalid++;
      return;
    }
    this.counters.rx++;
    this.#lostAt = now + this.#options.lostLinkMs;
    this.#noteFlags(pdu.flags);
    if (pdu.code === oamCode.information) this.#discover(pdu, now);
    else if (this.isUp) this.#take(pdu);
  }

  advance(now: number): void {
    if (this.state === 'down') return;
    if (now >= this.#lostAt) {
      this.#goDown('lost');
      this.#reset(now);
    }
    if (this.isUp) this.#advanceUp(now);
    if (now >= this.#informationAt && this.state !== 'waiting') {
      this.#informationAt = now + informationMs;
      this.#sendInformation(0);
    }
    // At most so many packets a second.
    if (this.#queue.length === 0 || now < this.#nextAt) return;
    this.#nextAt = now + 1000 / this.#options.pdusPerSec;
    this.#transmit(this.#queue.shift() as Uint8Array);
  }

  #reset(now: number): void {
    this.state = this.#options.isActive ? 'sendLocal' : 'waiting';
    this.remote = undefined;
    this.#isStable = false;
    this.#flags = 0;
    this.#lostAt = never;
    this.#informationAt = now;
    this.#eventAt = never;
    this.#loopbackAt = never;
    this.#windowAt = never;
  }

  /** Figure 57-5: an end is heard, then both accept each other. */
  #discover({ local, flags }: OamPdu, now: number): void {
    if (local === undefined) return;
    const { isActive } = this.#options;
    const isAccepted = isActive || (local.config & oamConfig.active) !== 0;
    this.remote = local;
    this.#flags = flags & (oamFlag.localEvaluating | oamFlag.localStable);
    const wasStable = this.#isStable;
    this.#isStable = isAccepted;
    if (!isAccepted) {
      this.lastError = 'both ends are passive';
      return;
    }
    if (this.isUp) return;
    const isRemoteStable = (flags & oamFlag.localStable) !== 0;
    this.state = isRemoteStable && wasStable ? 'up' : 'sendLocalRemoteOk';
    this.#informationAt = now;
    if (this.isUp) this.#onUp(now);
  }

  #onUp(now: number): void {
    const { event, loopbackMs, frames } = this.#options;
    this.upAt = now;
    if (event !== undefined) this.#eventAt = now + event.intervalMs;
    if (loopbackMs > 0) this.#loopbackAt = now;
    if (frames !== undefined) this.#windowAt = now + frames.windowMs;
    this.#errorsBefore = this.#events.counters().rxErrors;
    this.#events.onChange(true, '');
  }

  #advanceUp(now: number): void {
    const { event } = this.#options;
    if (event !== undefined && now >= this.#eventAt) {
      this.#eventAt = now + event.intervalMs;
      this.#sendInformation(event.flag);
    }
    if (now >= this.#loopbackAt) this.#loop(now);
    if (now >= this.#windowAt) this.#reportErrors(now);
  }

  /** Starts the loopback, and ends it after its time. */
  #loop(now: number): void {
    const isStart = !this.#isLoopback;
    this.#isLoopback = isStart;
    this.#loopbackAt = isStart ? now + this.#options.loopbackMs : never;
    if (isStart && ((this.remote?.config ?? 0) & oamConfig.loopback) === 0) {
      this.#isLoopback = false;
      this.#loopbackAt = never;
      this.lastError = 'the other end has no loopback';
      return;
    }
    if (isStart) this.counters.loopbacks++;
    const command = isStart ? loopbackCommand.enable : loopbackCommand.disable;
    this.#queue.push(writeOam(this.#ownFlags, oamCode.loopback, (writer) => writer.u8(command)));
  }

  #reportErrors(now: number): void {
    const { frames } = this.#options;
    if (frames === undefined) return;
    this.#windowAt = now + frames.windowMs;
    const { rxErrors } = this.#events.counters();
    const errors = rxErrors - this.#errorsBefore;
    this.#errorsBefore = rxErrors;
    this.#totals.errors += errors;
    if (errors < frames.threshold) return;
    this.#totals.events++;
    const event = {
      timestamp: Math.floor(now / eventUnitMs) & 0xffff,
      window: Math.round(frames.windowMs / eventUnitMs),
      threshold: frames.threshold,
      errors,
      totalErrors: this.#totals.errors,
      totalEvents: this.#totals.events,
    };
    this.#queue.push(writeFrameErrors(this.#ownFlags, ++this.#sequence & 0xffff, event));
  }

  #take({ code, body }: OamPdu): void {
    if (code === oamCode.variableRequest && this.#options.answersVariables) this.#answer(body);
    else if (code === oamCode.event) {
      this.counters.frameErrors++;
      this.#events.onEvent('link event');
    }
  }

  /** Values of the link by branch and attribute. */
  #answer(body: Uint8Array): void {
    const counters = this.#events.counters();
    const writer = new MessageWriter(64);
    for (let at = 0; at + 3 <= body.length && body[at] !== 0; at += 3) {
      const attribute = ((body[at + 1] as number) << 8) | (body[at + 2] as number);
      const name = body[at] === attributeBranch ? attributes[attribute] : undefined;
      if (writer.length + 12 > this.#options.maxPduBytes - frameBytes - 4) break;
      writer.u8(body[at] as number).u16(attribute);
      if (name === undefined) writer.u8(unsupportedAttribute);
      else
        writer
          .u8(8)
          .u32(Math.floor(counters[name] / 2 ** 32))
          .u32(counters[name]);
    }
    const bytes = writer.take();
    this.#queue.push(writeOam(this.#ownFlags, oamCode.variableResponse, (to) => to.copy(bytes)));
  }

  #noteFlags(flags: number): void {
    for (const [name, text] of Object.entries(eventNames)) {
      const flag = oamFlag[name as keyof typeof eventNames];
      if ((flags & flag) === 0 || (this.#noted & flag) !== 0) continue;
      this.counters.events++;
      this.lastError = text;
      this.#events.onEvent(text);
    }
    this.#noted = flags;
  }

  get #ownFlags(): number {
    const own = this.#isStable ? oamFlag.localStable : oamFlag.localEvaluating;
    // What the other end says about itself, two bits further.
    return own | (this.#flags << 2);
  }

  #sendInformation(more: number): void {
    const { isActive, maxPduBytes, answersVariables, frames, oui } = this.#options;
    const config =
      (isActive ? oamConfig.active : 0) |
      (frames === undefined ? 0 : oamConfig.events) |
      (answersVariables ? oamConfig.variables : 0);
    const local = { revision: 0, state: 0, config, maxPduBytes, oui };
    this.#queue.push(writeOamInformation(this.#ownFlags | more, { local, remote: this.remote }));
  }

  #goDown(reason: string): void {
    const wasUp = this.isUp;
    this.state = 'down';
    this.#isLoopback = false;
    this.lastError = reason;
    if (!wasUp) return;
    this.counters.flaps++;
    this.#events.onChange(false, reason);
  }

  #flush(): void {
    for (const bytes of this.#queue) this.#transmit(bytes);
    this.#queue = [];
  }

  #transmit(bytes: Uint8Array): void {
    this.counters.tx++;
    this.#events.send(bytes);
  }
}
