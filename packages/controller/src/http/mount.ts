import { Readable } from 'node:stream';
import { type Permission, permissionOf, type Route } from '@rushhour/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, forbidden, unauthenticated } from '../errors.ts';
import { matchesEtag } from '../etag.ts';
import type { Download } from '../handler.ts';
import { accessTokenIn, needsPerson } from '../people/access-tokens.ts';
import { allows } from '../people/permissions.ts';
import type { Store } from '../store/store.ts';
import type { SettingsStore } from '../store/system/settings.ts';
import { setSafeHeaders } from './errors.ts';
import { runOnce } from './idempotency.ts';
import { tooLarge } from './json-body.ts';
import type { RequestMetrics } from './probes.ts';
import type { RateLimit } from './rate.ts';
import { RequestCaller } from './request-caller.ts';
import { assertSameOrigin, cookieOf, findSession, findTokenSession, type SessionFacts } from './session.ts';
import { type Streams, sendEvents } from './sse.ts';
import { openUpload, type Uploads } from './upload.ts';
import { type Parts, validatorFor } from './validation.ts';

export interface MountDeps {
  store: Store;
  settings: SettingsStore;
  rate: RateLimit;
  streams: Streams;
  uploads: Uploads;
  metrics: RequestMetrics;
}

/** Largest body of a request without a session: an e-mail address and a password. */
const anonymousBodyBytes = 4096;

export type AnyHandler = (request: object, caller: RequestCaller) => unknown;

declare module 'fastify' {
  interface FastifyRequest {
    caller: RequestCaller;
    startedMs: number;
    bodyLimitBytes: number;
    /** Size of the JSON body that was read. */
    bodyBytes: number;
  }
}

/** Turns one entry of the route table into a route: authenticate, permit, validate, handle, answer. */
export const mount = (app: FastifyInstance, operation: string, route: Route, handler: AnyHandler, deps: MountDeps) => {
  const partsOf = validatorFor(route);
  const run = runnerFor(route, handler, deps);
  app.route({
    method: route.method,
    url: `/v1${route.path}`,
    exposeHeadRoute: route.events === undefined,
    ...(route.reply && { schema: { response: { 200: route.reply } } }),
    // Access is decided before the body is read, so an unauthorized caller learns nothing about the schema.
    onRequest: (request, reply, done) => {
      request.startedMs = performance.now();
      request.bodyLimitBytes =
        route.access === 'public'
          ? anonymousBodyBytes
          : Math.max(route.bodyLimit ?? 0, deps.settings.current().limits.bodyBytes);
      settle(
        () => admit(operation, route, request, reply, deps),
        (caller) => {
          request.caller = caller;
          setSafeHeaders(reply);
          assertMedia(route, request);
          done();
        },
        done,
      );
    },
    ...measuring(route, deps.metrics.observerOf(operation)),
    handler: (request, reply): Promise<unknown> => {
      if (route.upload && request.isMultipart()) return upload(request, reply);
      if (route.chunk) return deps.uploads.admit<unknown>(request, async () => run(partsOf(request), request, reply));
      return run(partsOf(request), request, reply);
    },
  });

  const upload = (request: FastifyRequest, reply: FastifyReply) =>
    deps.uploads.admit(request, async () => {
      const opened = await openUpload(request);
      try {
        return await run(partsOf(request, opened), request, reply);
      } catch (error) {
        throw opened.explain(error);
      } finally {
        // Drains the unread rest, so that the response can be sent.
        opened.stream.resume();
      }
    });
};

/**
 * A stream is measured until its last byte. Any other response is measured when it is handed over: waiting for its
 * end would cost four listeners per request.
 */
const measuring = (route: Route, observe: (status: number, seconds: number) => void) => {
  const note = ({ startedMs }: FastifyRequest, { statusCode }: FastifyReply, done: () => void) => {
    observe(statusCode, (performance.now() - startedMs) / 1000);
    done();
  };
  return route.download || route.events
    ? { onResponse: note }
    : {
        onSend: (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void) =>
          note(request, reply, done),
      };
};

const runnerFor = (route: Route, handler: AnyHandler, deps: MountDeps) => {
  if (route.events) return streaming(handler, deps);
  return route.download ? downloading(handler) : answering(route, handler, deps);
};

/** Continues synchronously with a plain result and asynchronously with a promise; an unneeded await is not free. */
const settle = <T>(work: () => T | Promise<T>, next: (result: T) => void, fail: (error: Error) => void) => {
  try {
    const result = work();
    if (result instanceof Promise) result.then(next).catch(fail);
    else next(result);
  } catch (error) {
    fail(error as Error);
  }
};

const admit = (operation: string, route: Route, request: FastifyRequest, reply: FastifyReply, deps: MountDeps) => {
  const { store, settings, rate } = deps;
  assertSameOrigin(request.raw, request.protocol);
  assertNoAiKey(request.headers);
  const { limits } = settings.current();
  const limitBytes = limitOf(route, request, limits);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  if (route.access === 'public') {
    rate.take(request.ip, limits.rate);
    return new RequestCaller(operation, request, reply, store.read);
  }
  const token = accessTokenIn(request.headers.authorization);
  const enter = (session: SessionFacts | undefined) => {
    rate.take(session?.sessionId ?? request.ip, limits.rate);
    if (session === undefined) throw refusalOf(token);
    if (session.isToken && needsPerson(operation)) {
      throw forbidden('TOKEN_NOT_ALLOWED', 'an access token cannot do this: sign in');
    }
    return permit(route, new RequestCaller(operation, request, reply, store.read, session), session, deps);
  };
  const session =
    token === undefined
      ? findSession(store.read, cookieOf(request, 'accessToken'))
      : findTokenSession(store.read, token);
  return session instanceof Promise ? session.then(enter) : enter(session);
};

const refusalOf = (token: string | undefined) =>
  token === undefined
    ? unauthenticated('UNAUTHENTICATED', 'sign in first')
    : unauthenticated('INVALID_TOKEN', 'the access token is unknown, expired or revoked');

/** Keys of the AI gateway are refused everywhere else, even together with a session. */
const assertNoAiKey = ({ 'x-api-key': key, authorization }: FastifyRequest['headers']) => {
  if (key !== undefined || authorization?.startsWith('Bearer rh_ai_'))
    throw unauthenticated('AI_KEY_NOT_ALLOWED', 'AI keys are accepted by the AI gateway only');
};

const permit = (route: Route, caller: RequestCaller, session: SessionFacts, { store, settings }: MountDeps) => {
  const permission = permissionOf(route);
  if (permission !== undefined && !allows(session.permissions, permission)) return deny(caller, permission, store);
  if (session.isRequiredToSetPassword && !route.beforePassword) {
    throw forbidden('PASSWORD_CHANGE_REQUIRED', 'set your own password first');
  }
  const isAgreed = session.agreementAccepted || route.beforePassword || route.beforeAgreement;
  if (!isAgreed && settings.current().agreement.required)
    throw forbidden('AGREEMENT_REQUIRED', 'accept the agreement first');
  return caller;
};

const deny = async (caller: RequestCaller, permission: Permission, store: Store): Promise<never> => {
  await store.change(caller, async (tx) => tx.deny({ permission }));
  throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
};

/** Forms and plain bytes are for the routes that say so; everything else is JSON. */
const assertMedia = (route: Route, request: FastifyRequest) => {
  const type = request.headers['content-type'] ?? '';
  if (type === '' && !route.chunk) return;
  const isForm = /^multipart\//i.test(type);
  const isBytes = /^application\/octet-stream/i.test(type);
  const isFine = route.chunk ? isBytes : !isBytes && (!isForm || route.upload !== undefined);
  if (isFine) return;
  const wanted = route.chunk
    ? 'application/octet-stream'
    : `application/json${route.upload ? ' or multipart/form-data' : ''}`;
  throw new ApiError('unsupportedMedia', 'UNSUPPORTED_MEDIA_TYPE', `the body must be ${wanted}`);
};

/** Uploads have a limit of their own. */
const limitOf = (route: Route, request: FastifyRequest, { uploadBytes }: { uploadBytes: number }) => {
  const isUpload = route.chunk || (route.upload && /^multipart\//.test(request.headers['content-type'] ?? ''));
  return isUpload ? uploadBytes + 1_048_576 : request.bodyLimitBytes;
};

const answering = (route: Route, handler: AnyHandler, { store }: MountDeps) => {
  const mayRepeat = route.method === 'POST' && route.access !== 'public';
  return (parts: Parts, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { caller } = request;
    const key = mayRepeat ? request.headers['idempotency-key'] : undefined;
    const work =
      typeof key === 'string'
        ? runOnce(store, caller, key, repeatable(parts, request), async () => handler(parts, caller))
        : handler(parts, caller);
    // Fastify never answers when a handler resolves to undefined, so an empty reply is sent by hand.
    return Promise.resolve(work).then((result) => (result === undefined ? reply.send() : result));
  };
};

/** The parts that must be equal in two requests with one key. For a streamed file: its name and length. */
const repeatable = ({ upload, ...parts }: Parts, { headers }: FastifyRequest) =>
  upload ? { ...parts, fields: upload.fields, filename: upload.filename, length: headers['content-length'] } : parts;

const downloading = (handler: AnyHandler) => async (parts: Parts, request: FastifyRequest, reply: FastifyReply) => {
  const { type, body, status = 200, headers = {} } = (await handler(parts, request.caller)) as Download;
  const { etag } = headers;
  const isCurrent = status === 200 && etag !== undefined && matchesEtag(request.headers['if-none-match'], etag);
  if (isCurrent) {
    if (typeof body === 'object' && 'destroy' in body) body.destroy();
    return reply.code(304).header('etag', etag).send();
  }
  if (request.method === 'HEAD' && typeof body === 'object' && 'destroy' in body) {
    // Only the headers are requested, so the content is not read.
    body.destroy();
    return reply.code(status).headers(headers).type(type).send(Readable.from([]));
  }
  return reply.code(status).headers(headers).type(type).send(body);
};

const streaming =
  (handler: AnyHandler, { settings, streams }: MountDeps) =>
  async (parts: Parts, request: FastifyRequest, reply: FastifyReply) => {
    const { caller } = request;
    const leave = streams.admit(caller, settings.current().limits.streamsPerUser);
    try {
      // A refusal of the handler is answered before the stream begins.
      const events = (await handler(parts, caller)) as Parameters<typeof sendEvents>[0];
      await sendEvents(events, caller, request, reply);
    } finally {
      leave();
    }
  };
