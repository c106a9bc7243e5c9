import { md5 } from '../../bytes/md5.ts';
import { copyOf, isSameBytes, type Memory } from '../../bytes/memory.ts';
import type { SessionCause } from '../causes.ts';
import { type MsChapExchange, msChapResponse, msChapSuccess } from '../crypto/ms-chap.ts';
import { type SessionTimers, timerKind } from '../timers.ts';
import { type AuthMethod, authMethod } from './lcp.ts';
import { type PppLink, PppPacket, pppHeaderBytes, pppProtocol, writePppHeader } from './packet.ts';

const papCode = { request: 1, ack: 2, nak: 3 } as const;
const chapCode = { challenge: 1, response: 2, success: 3, failure: 4 } as const;
const challengeBytes = 16;
const msResponseBytes = 49;
/** Challenges without a decision that a client answers. */
const maxChallenges = 32;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Credentials {
  readonly userName: string;
  readonly password: string;
}

/** What a client says of itself, for another machine that decides. */
export interface AuthQuestion {
  readonly userName: string;
  readonly method: AuthMethod;
  readonly id: number;
  readonly challenge: Uint8Array;
  /** The password of PAP, or the answer to the challenge. */
  readonly value: Uint8Array;
}

export interface AuthDecision {
  readonly isGood: boolean;
  /** The text that the client is given; undefined: no more than the decision. */
  readonly text: string | undefined;
  /** Why it is refused. */
  readonly cause: SessionCause;
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
  /** Server: another machine decides, later. */
  readonly ask?:
    | ((session: number, question: AuthQuestion, answer: (decision: AuthDecision) => void) => void)
    | undefined;
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
  challenges: number;
  id: number;
  /** What is sent again when no answer comes. */
  packet: { readonly code: number; readonly protocol: number; readonly body: Uint8Array } | undefined;
  readonly challenge: Uint8Array;
  /** The answer that proves that the authenticator knows the password too. */
  expected: string | undefined;
  /** Another machine has been asked. */
  isAsked: boolean;
}

const refusal: AuthDecision = { isGood: false, text: undefined, cause: 'authentication: refused' };

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

export const chapDigest = (id: number, password: string, challenge: Uint8Array): Uint8Array => {
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

/** What a client has sent; undefined if it is cut off. */
const questionOf = ({ method, id, challenge }: Attempt, body: Uint8Array): AuthQuestion | undefined => {
  const length = body[0] ?? 0;
  if (body.length < 1 + length) return undefined;
  const first = body.subarray(1, 1 + length);
  const rest = body.subarray(1 + length);
  if (method !== authMethod.pap) {
    const isWhole = method !== authMethod.msChapV2 || length === msResponseBytes;
    return isWhole ? { userName: decoder.decode(rest), method, id, challenge, value: first } : undefined;
  }
  const wordLength = rest[0] ?? 0;
  if (rest.length < 1 + wordLength) return undefined;
  return { userName: decoder.decode(first), method, id, challenge, value: rest.subarray(1, 1 + wordLength) };
};

/** The packet in which a client says a question of it. */
const packetOf = ({ method, userName, value }: AuthQuestion): Attempt['packet'] => {
  const name = encoder.encode(userName);
  if (method === authMethod.pap)
    return { code: papCode.request, protocol: pppProtocol.pap, body: lengthPrefixed(name, value) };
  return { code: chapCode.response, protocol: pppProtocol.chap, body: joined(lengthPrefixed(value), name) };
};

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
      challenges: 0,
      id: Math.floor(this.#host.random() * 256),
      packet: undefined,
      challenge: this.#randomBytes(),
      expected: undefined,
      isAsked: false,
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

  /** Goes on after the client has answered another machine: the server decides, the client waits for it. */
  resume(session: number, question: AuthQuestion): void {
    const { isServer, retries, timeoutMs } = this.#options;
    this.reset(session);
    const { method, id, challenge } = question;
    const packet = isServer ? undefined : packetOf(question);
    const attempt: Attempt = {
      ...{ method, left: retries, challenges: 0, id, packet, challenge, expected: undefined, isAsked: false },
    };
    this.#attempts.set(session, attempt);
    this.#host.timers.set(session, timerKind.link, timeoutMs);
    if (isServer) this.#judge(session, attempt, question);
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
    if (++attempt.challenges > maxChallenges) {
      this.#fail(session, 'authentication: no answer');
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
    if (isPap ? code !== papCode.request : code !== chapCode.response || id !== attempt.id) return;
    attempt.id = id;
    if (attempt.isAsked) return;
    this.#judge(session, attempt, questionOf(attempt, body));
  }

  #judge(session: number, attempt: Attempt, question: AuthQuestion | undefined): void {
    if (question === undefined) this.#decide(session, attempt, refusal);
    else if (this.#options.ask === undefined) this.#decide(session, attempt, this.#check(question));
    else {
      attempt.isAsked = true;
      this.#host.timers.clear(session, timerKind.link);
      this.#options.ask(session, question, (decision) => {
        if (this.#attempts.get(session) === attempt) this.#decide(session, attempt, decision);
      });
    }
  }

  /** Decides by the password that the server knows. */
  #check({ userName, method, id, challenge, value }: AuthQuestion): AuthDecision {
    const password = this.#options.passwordOf(userName);
    const cause = 'authentication: refused';
    if (password === undefined) return refusal;
    if (method === authMethod.pap)
      return { isGood: isSameBytes(value, encoder.encode(password)), text: undefined, cause };
    if (method === authMethod.chapMd5)
      return { isGood: isSameBytes(value, chapDigest(id, password, challenge)), text: undefined, cause };
    const exchange: MsChapExchange = {
      authenticatorChallenge: challenge,
      peerChallenge: value.subarray(0, challengeBytes),
      userName: withoutDomain(userName),
      password,
    };
    const response = msChapResponse(exchange);
    const isGood = isSameBytes(value.subarray(24, 48), response);
    return isGood ? { isGood, text: `${msChapSuccess(exchange, response)} M=welcome`, cause } : refusal;
  }

  #decide(session: number, { method, id }: Attempt, { isGood, text, cause }: AuthDecision): void {
    const isPap = method === authMethod.pap;
    const protocol = isPap ? pppProtocol.pap : pppProtocol.chap;
    const refused = isPap ? 'refused' : 'E=691 R=0 M=refused';
    const message = encoder.encode(text ?? (isGood ? 'welcome' : refused));
    const codes = isPap ? [papCode.ack, papCode.nak] : [chapCode.success, chapCode.failure];
    const verdict = {
      code: codes[isGood ? 0 : 1] as number,
      protocol,
      body: isPap ? lengthPrefixed(message) : message,
    };
    this.#send(session, id, verdict);
    if (!isGood) {
      this.#fail(session, cause);
      return;
    }
    this.#accept(session);
    this.#verdicts.set(session, verdict);
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
