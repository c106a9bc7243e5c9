import type { ResponseField } from '../h1/response-parser.ts';
import type { Answer } from './answer.ts';
import type { JourneyTarget, StepRequest } from './step-request.ts';

/** Larger bodies are kept in part: checks and extraction see only that. */
const maxBodyBytes = 1_048_576;

/** Receives the end of an exchange; `now` is from `performance.now`. */
export interface ExchangeOwner {
  onAnswer(exchange: Exchange, now: number): void;
  /** No answer has come, or not all of it. */
  onFailure(exchange: Exchange, kind: string, now: number): void;
  /** The request as it has to be written now. */
  cookieFor(request: StepRequest, target: JourneyTarget): string | undefined;
  readonly values: readonly string[];
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** One request of a user and its answer. Used again for the next. */
export class Exchange implements Answer {
  readonly owner: ExchangeOwner;
  request!: StepRequest;
  target: JourneyTarget | undefined;
  intended = 0;
  startedAt = 0;
  /** NaN until the request is written. */
  sentAt = Number.NaN;
  status = 0;
  fields: readonly ResponseField[] = [];
  size = 0;
  timeMs = 0;
  /** The exchange may be reported: what is sent and all of the answer is kept. */
  isTraced = false;
  sentPath = '';
  sentText = '';
  /** Values of the user when the request was written. */
  sentValues: readonly string[] = [];
  #chunks: Buffer[] = [];
  #text: string | undefined;

  constructor(owner: ExchangeOwner) {
    this.owner = owner;
  }

  begin(request: StepRequest, intended: number, now: number): void {
    this.request = request;
    this.isTraced = false;
    this.sentPath = '';
    this.sentText = '';
    this.intended = intended;
    this.startedAt = now;
    this.sentAt = Number.NaN;
    this.status = 0;
    this.fields = [];
    this.size = 0;
    if (this.#chunks.length > 0) this.#chunks = [];
    this.#text = undefined;
  }

  onSent(target: JourneyTarget, bytes: number, now: number): void {
    this.target = target;
    this.sentAt = now;
    target.meters.requests.add(1);
    target.meters.txBytes.add(bytes);
    this.request.meters.requests.add(1);
  }

  /** Keeps the request as it is written. */
  trace(text: string): void {
    const { values } = this.owner;
    this.sentPath = this.request.pathOf(values);
    this.sentText = text;
    this.sentValues = [...values];
  }

  onBody(bytes: Uint8Array, start: number, end: number): void {
    const isKept = this.request.needsBody || this.isTraced;
    if (isKept && this.size < maxBodyBytes) this.#chunks.push(Buffer.from(bytes.subarray(start, end)));
    this.size += end - start;
  }

  onEnd(status: number, fields: readonly ResponseField[], now: number): void {
    this.status = status;
    this.fields = fields;
    this.timeMs = now - this.sentAt;
    const meters = (this.target as JourneyTarget).meters;
    meters.responses.add(1);
    meters.status(status);
    this.recordTimes(now);
    this.owner.onAnswer(this, now);
  }

  /** Requests that time out count with the time they waited. */
  recordTimes(now: number): void {
    const meters = this.target?.meters;
    meters?.latency.record((now - this.intended) * 1000);
    if (!Number.isNaN(this.sentAt)) meters?.service.record((now - this.sentAt) * 1000);
    this.request.meters.latency.record((now - this.intended) * 1000);
  }

  /** The client ends before the answer has come, or before the connection has opened. */
  abandon({ meters }: Pick<JourneyTarget, 'meters'>, now: number): void {
    const { intended, startedAt, sentAt } = this;
    if (Number.isNaN(sentAt)) {
      meters.unopened({ intended, connectAt: startedAt }, now);
      return;
    }
    meters.unanswered(1);
    meters.waited({ intended, sentAt }, now);
  }

  body(): string {
    this.#text ??= Buffer.concat(this.#chunks).toString();
    return this.#text;
  }

  json(): unknown {
    return parse(this.body());
  }
}
