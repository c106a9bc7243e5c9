import { api, type Route } from '@rushhour/contract';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { advised } from '../../ai/gateway/advice.ts';
import { type AiHandler, createPipeline } from '../../ai/gateway/pipeline.ts';
import type { Bus } from '../../bus/local.ts';
import { forbidden } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { sendError, setSafeHeaders } from '../errors.ts';
import { runOnce } from '../idempotency.ts';
import type { RequestMetrics } from '../probes.ts';
import { isOwnOrigin } from '../session.ts';
import type { McpDeps, McpServing, Who } from './mcp.ts';
import { mountAi, visitOf } from './mount-ai.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The owner of the key of a request to `/mcp`. */
    mcpWho: Who | null;
  }
}

/** Serves MCP at `/mcp`. The MCP library is loaded by the first request with a key; most installations never need it. */
const mountMcp = (app: FastifyInstance, { settings, ...deps }: McpDeps & { settings: SettingsStore }) => {
  let loading: Promise<McpServing> | undefined;
  const serving = () => {
    loading ??= import('./mcp.ts').then(({ createMcp }) => createMcp(deps));
    return loading;
  };
  app.addHook('preClose', async () => (await loading)?.close());

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    errorHandler: (error, request, reply) => sendError(advised(error), request, reply),
    onRequest: async (request, reply) => {
      request.bodyLimitBytes = settings.current().limits.bodyBytes;
      setSafeHeaders(reply).header('x-request-id', request.id);
      assertOwnOrigin(request);
      request.mcpWho = await deps.ai.enter(visitOf('aiGateway.mcp', request, reply));
    },
    handler: async (request, reply) => (await serving()).answer(request, reply),
  });
};

/** Refuses pages of other origins, whatever key they send. */
const assertOwnOrigin = ({ headers: { origin, host }, protocol }: FastifyRequest) => {
  if (origin !== undefined && !isOwnOrigin(origin, protocol, host))
    throw forbidden('CROSS_ORIGIN', 'a page of another origin may not call this');
};

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  metrics: RequestMetrics;
  log: FastifyBaseLogger;
}

/** The routes of AI keys: the gateway over REST and over MCP, with one pipeline for both. */
export const serveAi = (app: FastifyInstance, handlers: Record<string, AiHandler>, deps: Deps) => {
  const ai = createPipeline({ ...deps, log: deps.log as never, once: runOnce });
  app.decorateRequest('aiCall', null);
  app.decorateRequest('mcpWho', null);
  app.addHook('onClose', () => ai.close());
  for (const [name, route] of Object.entries(api.aiGateway.routes) as [string, Route][]) {
    mountAi(app, `aiGateway.${name}`, route, handlers[name] as AiHandler, { ...deps, ai });
  }
  mountMcp(app, { ...deps, ai, handlers });
};
