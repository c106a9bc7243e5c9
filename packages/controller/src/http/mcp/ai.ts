import { api, type Route } from '@rushhour/contract';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type AiHandler, createPipeline } from '../../ai/gateway/pipeline.ts';
import type { Bus } from '../../bus/local.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { runOnce } from '../idempotency.ts';
import type { RequestMetrics } from '../probes.ts';
import { mountAi } from './mount-ai.ts';
import { mountMcp } from './mount-mcp.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  metrics: RequestMetrics;
  log: FastifyBaseLogger;
}

/** What AI keys can reach: the gateway over REST and over MCP, one pipeline for both. */
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
