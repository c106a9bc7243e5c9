import { copyOf } from '../../bytes/memory.ts';
import {
  hidePassword,
  isGenuine,
  type RadiusAttribute,
  radiusAttribute,
  radiusCode,
  readRadius,
  writeAccessRequest,
  writeAccountingRequest,
} from './message.ts';

export interface RadiusClientOptions {
  readonly secret: Uint8Array;
  /** Wait for an answer before a request is sent again. */
  readonly timeoutMs: number;
  /** Times that a request is sent. */
  readonly attempts: number;
}

export interface RadiusClientHost {
  readonly random: () => number;
  /** Sends a request from one of the sockets 0, 1, 2 …, to the port of access or of accounting. */
  send(socket: number, isAccounting: boolean, bytes: Uint8Array): void;
}

export type RadiusOutcome = 'accept' | 'reject' | 'challenge' | 'accounted' | 'no answer';
export type RadiusListener = (outcome: RadiusOutcome, attributes: readonly RadiusAttribute[]) => void;

interface Request {
  readonly isAccounting: boolean;
  readonly bytes: Uint8Array;
  readonly authenticator: Uint8Array;
  readonly done: RadiusListener;
  left: number;
  dueMs: number;
}

interface Waiting {
  readonly isAccounting: boolean;
  readonly attributes: readonly RadiusAttribute[];
  readonly password: Uint8Array | undefined;
  readonly done: RadiusListener;
}

const idsPerSocket = 256;
/** A socket has 256 identifiers: so many requests are under way at most. */
export const maxSockets = 16;
const slots = idsPerSocket * maxSockets;
const noAttributes: readonly RadiusAttribute[] = [];

const outcomes: Readonly<Record<number, RadiusOutcome>> = {
  [radiusCode.accessAccept]: 'accept',
  [radiusCode.accessReject]: 'reject',
  [radiusCode.accessChallenge]: 'challenge',
  [radiusCode.accountingResponse]: 'accounted',
};

/** Asks a RADIUS server (RFC 2865, 2866, 3579): requests are sent again until an answer comes that proves the secret. */
export class RadiusClient {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0 };
  readonly #host: RadiusClientHost;
  readonly #options: RadiusClientOptions;
  readonly #requests = new Map<number, Request>();
  readonly #queue: Waiting[] = [];
  #next = 0;
  #nowMs = 0;

  constructor(host: RadiusClientHost, options: RadiusClientOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Requests without an answer yet. */
  get pending(): number {
    return this.#requests.size + this.#queue.length;
  }

  /** Asks whether a user may come in; a password is hidden before it is sent. */
  authenticate(attributes: readonly RadiusAttribute[], done: RadiusListener, password?: Uint8Array): void {
    this.#ask({ isAccounting: false, attributes, password, done });
  }

  account(attributes: readonly RadiusAttribute[], done: RadiusListener = () => {}): void {
    this.#ask({ isAccounting: true, attributes, password: undefined, done });
  }

  receive(socket: number, bytes: Uint8Array): void {
    const message = readRadius(bytes);
    const slot = socket * idsPerSocket + (message?.id ?? 0);
    const request = this.#requests.get(slot);
    const outcome = outcomes[message?.code ?? 0];
    const { secret } = this.#options;
    if (
      message === undefined ||
      request === undefined ||
      outcome === undefined ||
      request.isAccounting !== (outcome === 'accounted') ||
      !isGenuine(bytes, request.authenticator, secret)
    ) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    this.#finish(slot, request, outcome, message.attributes);
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    // Requests are in the order of their last transmission.
    for (const [slot, request] of this.#requests) {
      if (nowMs < request.dueMs) break;
      this.counters.timeouts++;
      this.#requests.delete(slot);
      if (request.left > 0) {
        this.#requests.set(slot, request);
        this.#transmit(slot, request);
      } else this.#finish(slot, request, 'no answer', noAttributes);
    }
  }

  #finish(slot: number, request: Request, outcome: RadiusOutcome, attributes: readonly RadiusAttribute[]): void {
    this.#requests.delete(slot);
    const next = this.#queue.shift();
    if (next !== undefined) this.#ask(next);
    request.done(outcome, attributes);
  }

  #ask(waiting: Waiting): void {
    if (this.#requests.size >= slots) {
      this.#queue.push(waiting);
      return;
    }
    // Sockets beyond the first are used while the ones before them are busy.
    const used = Math.min((Math.floor(this.#requests.size / (idsPerSocket / 2)) + 1) * idsPerSocket, slots);
    do this.#next = (this.#next + 1) % used;
    while (this.#requests.has(this.#next));
    const slot = this.#next;
    const request = this.#write(slot % idsPerSocket, waiting);
    this.#requests.set(slot, request);
    this.#transmit(slot, request);
  }

  #write(id: number, { isAccounting, attributes, password, done }: Waiting): Request {
    const { secret, attempts } = this.#options;
    const rest = { isAccounting, done, left: attempts, dueMs: 0 };
    if (isAccounting) {
      const bytes = writeAccountingRequest({ id, attributes }, secret);
      return { ...rest, bytes, authenticator: copyOf(bytes, 4, 20) };
    }
    const authenticator = Uint8Array.from({ length: 16 }, () => Math.floor(this.#host.random() * 256));
    const all =
      password === undefined
        ? attributes
        : [...attributes, { type: radiusAttribute.userPassword, value: hidePassword(password, secret, authenticator) }];
    return { ...rest, authenticator, bytes: writeAccessRequest({ id, authenticator, attributes: all }, secret) };
  }

  #transmit(slot: number, request: Request): void {
    request.left--;
    request.dueMs = this.#nowMs + this.#options.timeoutMs;
    this.counters.sent++;
    this.#host.send(Math.floor(slot / idsPerSocket), request.isAccounting, request.bytes);
  }
}
