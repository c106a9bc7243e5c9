/** Methods of EAP inside TLS, by their numbers (RFC 5216, RFC 5281, PEAPv0). */
export const tlsEapType = { tls: 13, ttls: 21, peap: 25 } as const;

const flag = { length: 0x80, more: 0x40, start: 0x20 } as const;
/** Bytes of TLS in one message: it fits into every frame. */
const fragmentBytes = 1000;
/** What a server may send in one flight: long chains of certificates. */
const maxFlightBytes = 65_536;
const noBytes: Uint8Array = new Uint8Array(0);

/** The client side of TLS for one conversation, as the machine provides it. */
export interface EapTls {
  readonly state: 'handshake' | 'open' | 'failed';
  /** Once it is closed: why it failed, such as alert.unknownCa. */
  readonly cause: string | undefined;
  /** Of an open session. */
  readonly version: '1.2' | '1.3';
  start(): void;
  receive(bytes: Uint8Array): void;
  /** Sends data inside, once it is open. */
  write(bytes: Uint8Array): void;
  /** What is to be sent to the server since the last call. */
  takeOutput(): Uint8Array;
  /** What the server has sent inside since the last call. */
  takePlain(): Uint8Array;
  /** Key material of the session (RFC 5705); in TLS 1.2 none and an empty context differ, here both are none. */
  exportKey(label: string, length: number, context?: Uint8Array): Uint8Array;
  close(): void;
}

/** What is said inside of TLS. */
export interface InnerMethod {
  /** The first message of the client, where it begins. */
  begin?(tls: EapTls): Uint8Array | undefined;
  /** Answers what the server says; nothing: there is no answer. `id`: of the message of EAP around it. */
  answer(plain: Uint8Array, id: number): Uint8Array | undefined;
  /** Both sides have proven who they are. */
  readonly isDone: boolean;
}

const concat = (parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

/** The side that asks to be let in by a method inside TLS: fragments, TLS, and what is said inside. */
export class TlsMethod {
  readonly type: number;
  readonly #tls: EapTls;
  readonly #inner: InnerMethod | undefined;
  #received: Uint8Array[] = [];
  #receivedBytes = 0;
  #waiting = noBytes;
  #hasBegun = false;
  #hasStarted = false;

  /** Without an inner method the certificate of the client is the proof. */
  constructor(type: number, tls: EapTls, inner?: InnerMethod) {
    this.type = type;
    this.#tls = tls;
    this.#inner = inner;
  }

  get isDone(): boolean {
    return this.#tls.state === 'open' && (this.#inner === undefined || this.#inner.isDone);
  }

  close(): void {
    this.#tls.close();
  }

  /** Answers the data of a request by those of the response; undefined: the request is not valid. */
  answer(data: Uint8Array, id: number): Uint8Array | undefined {
    const [flags] = data;
    if (flags === undefined) return undefined;
    if ((flags & flag.start) !== 0) {
      if (this.#hasStarted) return undefined;
      this.#hasStarted = true;
      this.#tls.start();
      return this.#send(this.#tls.takeOutput());
    }
    const body = data.subarray((flags & flag.length) !== 0 ? 5 : 1);
    if (body.length === 0 && this.#waiting.length > 0) return this.#nextFragment(false);
    this.#receivedBytes += body.length;
    if (!this.#hasStarted || this.#receivedBytes > maxFlightBytes) return undefined;
    this.#received.push(body.slice());
    if ((flags & flag.more) !== 0) return Uint8Array.of(0);
    const flight = concat(this.#received);
    this.#received = [];
    this.#receivedBytes = 0;
    return this.#send(this.#handle(flight, id));
  }

  #handle(flight: Uint8Array, id: number): Uint8Array {
    const tls = this.#tls;
    if (flight.length > 0) tls.receive(flight);
    if (tls.state === 'open' && this.#inner !== undefined) {
      const plain = tls.takePlain();
      const answer = plain.length > 0 ? this.#inner.answer(plain, id) : undefined;
      const first = this.#hasBegun ? undefined : this.#inner.begin?.(tls);
      this.#hasBegun = true;
      for (const message of [first, answer]) if (message !== undefined) tls.write(message);
    }
    return tls.takeOutput();
  }

  #send(bytes: Uint8Array): Uint8Array {
    this.#waiting = bytes;
    return this.#nextFragment(true);
  }

  #nextFragment(isFirst: boolean): Uint8Array {
    const whole = this.#waiting;
    const part = whole.subarray(0, fragmentBytes);
    this.#waiting = whole.subarray(part.length);
    const isCut = this.#waiting.length > 0;
    const hasLength = isFirst && isCut;
    const data = new Uint8Array((hasLength ? 5 : 1) + part.length);
    data[0] = (hasLength ? flag.length : 0) | (isCut ? flag.more : 0);
    if (hasLength) new DataView(data.buffer).setUint32(1, whole.length);
    data.set(part, hasLength ? 5 : 1);
    return data;
  }
}
