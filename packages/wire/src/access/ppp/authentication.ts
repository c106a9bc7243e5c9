import { copyOf, isSameBytes, type Memory } from '../../bytes/memory.ts';
import type { SessionCause } from '../causes.ts';
import { md5 } from '../crypto/md5.ts';
import { type MsChapExchange, msChapResponse, msChapSuccess } from '../crypto/ms-chap.ts';
import { type SessionTimers, timerKind } from '../timers.ts';
import { type AuthMethod, authMethod } from './lcp.ts';
import { type PppLink, PppPacket, pppHeaderBytes, pppProtocol, writePppHeader } from './packet.ts';

const papCode = { request: 1, ack: 2, nak: 3 } as const;
const chapCode = { challenge: 1, response: 2, success: 3, failure: 4 } as const;
const challengeBytes = 16;
const msResponseBytes = 49;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Credentials {
  readonly userName: string;
  readonly password: string;
}

export interface AuthenticationOptions {
  readonly isServer: boolean;
  readonly timeoutMs: number;
  readonly retries: number;
  /** Client: who a session is. */
  readonly credentials: (session: number) => Credentials;
  /** Server: the password of a user; undefined lets nobody of that name in. */
  readonly passwordOf: (userName: string) => string | undefined;
  /** Server: its name in challenges. */
  readonly name: string;
}

export interface AuthenticationHost {
  readonly link: PppLink;
  readonly timers: SessionTimers;
  readonly random: () => number;
  onAuthenticated(session: number): void;
  onFailed(session: number, cause: SessionCause): void;
}

/** A session that is authenticating: kept only until it is decided. */
interface Attempt {
  readonly method: AuthMethod;
  left: number;
  id: number;
  /** What is sent again when no answer comes. */
  packet: { readonly code: number; readonly protocol: number; readonly body: Uint8Array } | undefined;
  readonly challenge: Uint8Array;
  /** The answer that proves that the authenticator knows the password too. */
  expected: string | undefined;
}

const lengthPrefixed = (...parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + 1 + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes[at] = part.length;
    bytes.set(part, at + 1);
    at += 1 + part.length;
  }
  return bytes;
};

const chapDigest = (id: number, password: string, challenge: Uint8Array): Uint8Array => {
  const secret = encoder.encode(password);
  const text = new Uint8Array(1 + secret.length + challenge.length);
  text[0] = id;
  text.set(secret, 1);
  text.set(challenge, 1 + secret.length);
  return md5(text);
};

const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** MS-CHAPv2 hashes the name of the user without a domain before it. */
const withoutDomain = (name: string): string => name.slice(name.lastIndexOf('\\') + 1);

/** PAP (RFC 1334), CHAP with MD5 (RFC 1994) and MS-CHAPv2 (RFC 2759) of all sessions of a port. */
export class Authentication {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0, refused: 0 };
  readonly #options: AuthenticationOptions;
  readonly #host: AuthenticationHost;
  readonly #attempts = new Map<number, Attempt>();
  /** Server: the decision, which is repeated when the client asks again. */
  readonly #verdicts = new Map<
    number,
    { readonly code: number; readonly protocol: number; readonly body: Uint8Array }
  >();
  readonly #packet = new PppPacket();

  constructor(host: AuthenticationHost, options: AuthenticationOptions) {
    this.#host = host;
    this.#options = options;
  }

  begin(session: number, method: AuthMethod): void {
    const { isServer, retries } = this.#options;
    this.reset(session);
    const attempt: Attempt = {
      method,
      left: retries,
      id: Math.floor(this.#host.random() * 256),
      packet: undefined,
      challenge: this.#randomBytes(),
      expected: undefined,
    };
    this.#attempts.set(session, attempt);
    if (isServer && method !== authMethod.pap)
      attempt.packet = {
        code: chapCode.challenge,
        protocol: pppProtocol.chap,
        body: joined(lengthPrefixed(attempt.challenge), encoder.encode(this.#options.name)),
      };
    else if (!isServer && method === authMethod.pap) {
      const { userName, password } = this.#options.credentials(session);
      const body = lengthPrefixed(encoder.encode(userName), encoder.encode(password));
      attempt.packet = { code: papCode.request, protocol: pppProtocol.pap, body };
    }
    this.#transmit(session, attempt);
  }

  reset(session: number): void {
    if (this.#attempts.delete(session)) this.#host.timers.clear(session, timerKind.link);
    this.#verdicts.delete(session);
  }

  /** The peer has gone on: the decision will not be asked for again. */
  settle(session: number): void {
    this.#verdicts.delete(session);
  }

  isActive(session: number): boolean {
    return this.#attempts.has(session);
  }

  onTimer(session: number): void {
    const attempt = this.#attempts.get(session);
    if (attempt === undefined) return;
    this.counters.timeouts++;
    if (attempt.left <= 0) this.#fail(session, 'authentication: no answer');
    else this.#transmit(session, attempt);
  }

  receive(session: number, protocol: number, memory: Memory, start: number, end: number): void {
    const packet = this.#packet;
    if (!packet.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    const body = copyOf(memory.bytes, packet.body, packet.end);
    if (this.#options.isServer) this.#receiveAsServer(session, protocol, body);
    else this.#receiveAsClient(session, protocol, body);
  }

  #receiveAsClient(session: number, protocol: number, body: Uint8Array): void {
    const attempt = this.#attempts.get(session);
    if (attempt === undefined) return;
    const { code, id } = this.#packet;
    const isPap = attempt.method === authMethod.pap;
    if (protocol !== (isPap ? pppProtocol.pap : pppProtocol.chap)) return;
    if (!isPap && code === chapCode.challenge) {
      this.#respond(session, attempt, body);
      return;
    }
    if (id !== attempt.id || attempt.packet === undefined) return;
    const [good, bad] = isPap ? [papCode.ack, papCode.nak] : [chapCode.success, chapCode.failure];
    if (code === bad) this.#fail(session, 'authentication: refused');
    else if (code === good) {
      const isProven = attempt.expected === undefined || decoder.decode(body).startsWith(attempt.expected);
      if (isProven) this.#accept(session);
      else this.#fail(session, 'authentication: refused');
    }
  }

  #respond(session: number, attempt: Attempt, body: Uint8Array): void {
    const length = body[0] ?? 0;
    if (length === 0 || body.length < 1 + length) {
      this.counters.invalid++;
      return;
    }
    const challenge = body.subarray(1, 1 + length);
    const { userName, password } = this.#options.credentials(session);
    attempt.id = this.#packet.id;
    let value: Uint8Array;
    if (attempt.method === authMethod.chapMd5) value = chapDigest(attempt.id, password, challenge);
    else {
      const exchange = {
        authenticatorChallenge: challenge,
        peerChallenge: attempt.challenge,
        userName: withoutDomain(userName),
        password,
      };
      const response = msChapResponse(exchange);
      attempt.expected = msChapSuccess(exchange, response);
      value = joined(attempt.challenge, new Uint8Array(8), response, new Uint8Array(1));
    }
    const answer = joined(lengthPrefixed(value), encoder.encode(userName));
    attempt.packet = { code: chapCode.response, protocol: pppProtocol.chap, body: answer };
    this.#transmit(session, attempt);
  }

  #receiveAsServer(session: number, protocol: number, body: Uint8Array): void {
    const { code, id } = this.#packet;
    const attempt = this.#attempts.get(session);
    if (attempt === undefined) {
      const known = this.#verdicts.get(session);
      const isQuestion = protocol === pppProtocol.pap ? code === papCode.request : code === chapCode.response;
      if (known?.protocol === protocol && isQuestion) this.#send(session, id, known);
      return;
    }
    const isPap = attempt.method === authMethod.pap;
    if (protocol !== (isPap ? pppProtocol.pap : pppProtocol.chap)) return;
    if (isPap && code === papCode.request) this.#decide(session, protocol, this.#checkPap(body));
    else if (!isPap && code === chapCode.response && id === attempt.id)
      this.#decide(session, protocol, this.#checkChap(attempt, body));
  }

  /** The message for a client that may come in; undefined: it may not. */
  #checkPap(body: Uint8Array): string | undefined {
    const nameLength = body[0] ?? 0;
    const wordAt = 1 + nameLength;
    const wordLength = body[wordAt] ?? 0;
    if (body.length < wordAt + 1 + wordLength) return undefined;
    const password = this.#options.passwordOf(decoder.decode(body.subarray(1, wordAt)));
    const given = body.subarray(wordAt + 1, wordAt + 1 + wordLength);
    return password !== undefined && isSameBytes(given, encoder.encode(password)) ? 'welcome' : undefined;
  }

  #checkChap(attempt: Attempt, body: Uint8Array): string | undefined {
    const length = body[0] ?? 0;
    if (body.length < 1 + length) return undefined;
    const value = body.subarray(1, 1 + length);
    const userName = decoder.decode(body.subarray(1 + length));
    const password = this.#options.passwordOf(userName);
    if (password === undefined) return undefined;
    if (attempt.method === authMethod.chapMd5)
      return isSameBytes(value, chapDigest(attempt.id, password, attempt.challenge)) ? 'welcome' : undefined;
    if (length !== msResponseBytes) return undefined;
    const exchange: MsChapExchange = {
      authenticatorChallenge: attempt.challenge,
      peerChallenge: value.subarray(0, challengeBytes),
      userName: withoutDomain(userName),
      password,
    };
    const response = msChapResponse(exchange);
    return isSameBytes(value.subarray(24, 48), response) ? `${msChapSuccess(exchange, response)} M=welcome` : undefined;
  }

  #decide(session: number, protocol: number, welcome: string | undefined): void {
    const isPap = protocol === pppProtocol.pap;
    const isGood = welcome !== undefined;
    const text = encoder.encode(welcome ?? (isPap ? 'refused' : 'E=691 R=0 M=refused'));
    const codes = isPap ? [papCode.ack, papCode.nak] : [chapCode.success, chapCode.failure];
    const decision = { code: codes[isGood ? 0 : 1] as number, protocol, body: isPap ? lengthPrefixed(text) : text };
    this.#send(session, this.#packet.id, decision);
    if (!isGood) {
      this.#fail(session, 'authentication: refused');
      return;
    }
    this.#accept(session);
    this.#verdicts.set(session, decision);
  }

  #accept(session: number): void {
    this.reset(session);
    this.#host.onAuthenticated(session);
  }

  #fail(session: number, cause: SessionCause): void {
    if (cause === 'authentication: refused') this.counters.refused++;
    this.reset(session);
    this.#host.onFailed(session, cause);
  }

  #transmit(session: number, attempt: Attempt): void {
    attempt.left--;
    this.#host.timers.set(session, timerKind.link, this.#options.timeoutMs);
    if (attempt.packet !== undefined) this.#send(session, attempt.id, attempt.packet);
  }

  #send(session: number, id: number, { code, protocol, body }: NonNullable<Attempt['packet']>): void {
    const { link } = this.#host;
    const at = link.begin(session, pppHeaderBytes + body.length);
    if (at < 0) return;
    const end = at + pppHeaderBytes + body.length;
    link.memory.bytes.set(body, at + pppHeaderBytes);
    writePppHeader(link.memory, at, end, code, id);
    this.counters.sent++;
    link.send(session, at, end, protocol);
  }

  #randomBytes(): Uint8Array {
    return Uint8Array.from({ length: challengeBytes }, () => Math.floor(this.#host.random() * 256));
  }
}
