import { type LspEcho, type LspPrefix, lspMessage, lspReplyMode, lspReturn, writeLspEcho } from './message.ts';

export interface LspPingOptions {
  readonly handle: number;
  readonly target: LspPrefix;
  /** Asks for a session of BFD over the path. */
  readonly bfdDiscriminator?: number | undefined;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** 0: no end. */
  readonly count: number;
  readonly padBytes: number;
  /** Of the label; a trace starts at 1. */
  readonly ttl: number;
  readonly replyMode: keyof typeof lspReplyMode;
  /** Longest path of a trace; undefined: the path is not traced. */
  readonly traceTtl: number | undefined;
}

export interface LspPingEvents {
  /** Milliseconds since 1970. */
  clock(): number;
  /** False: the label of the target is not known, or that of its next hop. */
  send(bytes: Uint8Array, ttl: number): boolean;
  onAnswer(answer: { readonly ttl: number; readonly from: string; readonly code: number; readonly ms: number }): void;
}

interface Waiting {
  readonly sentAt: number;
  readonly ttl: number;
}

const never = Number.POSITIVE_INFINITY;

/** Tests a label switched path, or traces it (RFC 8029). Times are milliseconds of the clock of the caller. */
export class LspPing {
  readonly counters = { sent: 0, received: 0, lost: 0, unsent: 0, invalid: 0 };
  /** The last request was answered by the end of the path. */
  isUp = false;
  upAt = 0;
  flaps = 0;
  lastError = '';
  readonly #options: LspPingOptions;
  readonly #events: LspPingEvents;
  readonly #waiting = new Map<number, Waiting>();
  #sequence = 0;
  #ttl = 1;
  #nextAt = never;

  constructor(options: LspPingOptions, events: LspPingEvents) {
    this.#options = options;
    this.#events = events;
  }

  start(now: number): void {
    this.#ttl = 1;
    this.#nextAt = now;
  }

  stop(): void {
    this.#nextAt = never;
    this.#waiting.clear();
    this.isUp = false;
  }

  advance(now: number): void {
    for (const [sequence, { sentAt }] of this.#waiting) {
      if (now - sentAt < this.#options.timeoutMs) break;
      this.#waiting.delete(sequence);
      this.counters.lost++;
      this.#fail('no answer');
      this.#traceOn(false);
    }
    if (now < this.#nextAt) return;
    this.#nextAt = now + this.#options.intervalMs;
    this.#send(now);
  }

  /** An answer from an address. */
  receive(echo: LspEcho, from: string, now: number): void {
    const { handle } = this.#options;
    const asked =
      echo.type === lspMessage.reply && echo.handle === handle ? this.#waiting.get(echo.sequence) : undefined;
    if (asked === undefined) {
      this.counters.invalid++;
      return;
    }
    this.#waiting.delete(echo.sequence);
    this.counters.received++;
    const isEnd = echo.returnCode === lspReturn.egress;
    if (isEnd && !this.isUp) this.upAt = now;
    if (isEnd) this.isUp = true;
    else this.#fail(`return code ${echo.returnCode}`);
    this.#events.onAnswer({ ttl: asked.ttl, from, code: echo.returnCode, ms: now - asked.sentAt });
    this.#traceOn(isEnd);
  }

  #send(now: number): void {
    const { count, traceTtl, ttl, padBytes, replyMode, handle, target, bfdDiscriminator } = this.#options;
    if (count > 0 && this.counters.sent >= count) {
      this.#nextAt = never;
      return;
    }
    const sequence = this.#sequence + 1;
    const bytes = writeLspEcho({
      ...{ type: lspMessage.request, replyMode: lspReplyMode[replyMode], returnCode: 0, returnSubcode: 0 },
      ...{ handle, sequence, target, sentMs: this.#events.clock(), receivedMs: 0 },
      ...{ copied: 0, dropped: padBytes, bfdDiscriminator },
    });
    const own = traceTtl === undefined ? ttl : this.#ttl;
    if (!this.#events.send(bytes, own)) {
      this.counters.unsent++;
      this.#fail('the label of the path is not known');
      return;
    }
    this.#sequence = sequence;
    this.counters.sent++;
    if (replyMode !== 'none') this.#waiting.set(sequence, { sentAt: now, ttl: own });
  }

  /** The next hop is asked, and from the end of the path, or the longest one, on the first again. */
  #traceOn(isEnd: boolean): void {
    const { traceTtl = 1 } = this.#options;
    this.#ttl = isEnd || this.#ttl >= traceTtl ? 1 : this.#ttl + 1;
  }

  #fail(reason: string): void {
    if (this.isUp) this.flaps++;
    this.isUp = false;
    this.lastError = reason;
  }
}
