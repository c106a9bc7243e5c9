import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Tokens } from '../caller.ts';
import { unauthenticated } from '../errors.ts';
import { accessTokenIn } from '../people/access-tokens.ts';
import type { Executor } from '../store/engine/database.ts';
import { cookieOf, cookiesFor, findSession, findTokenSession, type SessionFacts } from './session.ts';

/** An HTTP request as handlers see it. */
export class RequestCaller implements Caller {
  readonly operation: string;
  readonly requestId: string;
  idempotency: { key: string; fingerprint: string } | undefined;
  #request: FastifyRequest;
  #reply: FastifyReply;
  #read: Executor;
  #session: SessionFacts | undefined;
  #abort: AbortController | undefined;

  constructor(operation: string, request: FastifyRequest, reply: FastifyReply, read: Executor, session?: SessionFacts) {
    this.operation = operation;
    this.requestId = request.id;
    this.#request = request;
    this.#reply = reply;
    this.#read = read;
    this.#session = session;
  }

  get #known() {
    if (this.#session === undefined) throw unauthenticated('UNAUTHENTICATED', 'sign in first');
    return this.#session;
  }
  get userId() {
    return this.#session?.userId as number;
  }
  get sessionId() {
    return this.#known.sessionId;
  }
  get isRequiredToSetPassword() {
    return this.#known.isRequiredToSetPassword;
  }
  get agreementAccepted() {
    return this.#known.agreementAccepted;
  }
  get permissions() {
    return this.#known.permissions;
  }
  get address() {
    return this.#request.ip;
  }
  get refreshToken() {
    return cookieOf(this.#request, 'refreshToken');
  }
  get lastEventId() {
    const id = this.#request.headers['last-event-id'];
    return typeof id === 'string' ? id : undefined;
  }
  get signal() {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      // Also emitted after the response was sent, when nothing is left to abort.
      this.#reply.raw.once('close', () => this.abort());
    }
    return this.#abort.signal;
  }
  abort() {
    this.#abort ??= new AbortController();
    this.#abort.abort();
  }
  header(name: string) {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }
  setHeader(name: string, value: string) {
    this.#reply.header(name, value);
  }
  setSession(tokens: Tokens | undefined) {
    this.#reply.header('set-cookie', cookiesFor(tokens, this.#request.protocol === 'https'));
  }
  async caller() {
    const token = accessTokenIn(this.#request.headers.authorization);
    const found = () =>
      token === undefined
        ? findSession(this.#read, cookieOf(this.#request, 'accessToken'))
        : findTokenSession(this.#read, token);
    const session = this.#session ?? (await found());
    return session && new RequestCaller(this.operation, this.#request, this.#reply, this.#read, session);
  }
}
