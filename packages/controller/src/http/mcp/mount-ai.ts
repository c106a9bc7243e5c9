import type { Route } from '@rushhour/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { advised } from '../../ai/gateway/advice.ts';
import type { AiCall, Visit } from '../../ai/gateway/call.ts';
import type { AiHandler, Pipeline } from '../../ai/gateway/pipeline.ts';
import { ApiError } from '../../errors.ts';
import { matchesEtag } from '../../etag.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { sendError, setSafeHeaders } from '../errors.ts';
import { tooLarge } from '../json-body.ts';
import type { RequestMetrics } from '../probes.ts';
import { validatorFor } from '../validation.ts';

interface Deps {
  ai: Pipeline;
  settings: SettingsStore;
  metrics: RequestMetrics;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The call of an AI key, once the key is accepted. */
    aiCall: AiCall | null;
  }
}

/** A route of the AI gateway: authenticated by the key; cookies are ignored. */
export const mountAi = (app: FastifyInstance, operation: string, route: Route, handler: AiHandler, deps: Deps) => {
  const { ai, settings, metrics } = deps;
  const partsOf = validatorFor(route);
  const observe = metrics.observerOf(operation);
  app.route({
    method: route.method,
    url: `/v1${route.path}`,
    ...(route.reply && { schema: { response: { 200: route.reply } } }),
    errorHandler: (error, request, reply) => sendError(advised(error), request, reply),
    onRequest: async (request, reply) => {
      request.startedMs = performance.now();
      request.bodyLimitBytes = settings.current().limits.bodyBytes;
      setSafeHeaders(reply).header('x-request-id', request.id);
      request.aiCall = await ai.admit(visitOf(operation, request, reply), route);
      assertJson(request);
    },
    handler: async (request, reply) => {
      const answer = await ai.run(request.aiCall as AiCall, () => partsOf(request), handler);
      const etag = reply.getHeader('etag');
      return etag !== undefined && matchesEtag(request.headers['if-none-match'], String(etag))
        ? reply.code(304 as 200).send()
        : answer;
    },
    onResponse: async ({ aiCall, startedMs, log }, { statusCode }) => {
      observe(statusCode, (performance.now() - startedMs) / 1000);
      // Bodies that could not be read never reach the pipeline, which would have audited them.
      if (aiCall && !aiCall.isAudited) {
        const refused = new ApiError(statusCode >= 500 ? 'internal' : 'invalid', 'INVALID_REQUEST', 'not read');
        await ai.settle(aiCall, refused).catch((error) => log.error({ err: error }, 'audit'));
      }
    },
  });
};

const assertJson = (request: FastifyRequest) => {
  if (Number(request.headers['content-length'] ?? 0) > request.bodyLimitBytes) throw tooLarge(request.bodyLimitBytes);
  const type = request.headers['content-type'];
  if (type === undefined || /^application\/json\b/i.test(type)) return;
  throw new ApiError('unsupportedMedia', 'UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json');
};

/** A REST request as the pipeline sees it. */
export const visitOf = (operation: string, request: FastifyRequest, reply: FastifyReply): Visit => {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return {
    operation,
    requestId: request.id,
    address: request.ip,
    transport: 'rest',
    signal: gone.signal,
    header: (name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : undefined;
    },
    setHeader: (name, value) => void reply.header(name, value),
  };
};
