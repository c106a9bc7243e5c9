import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Health } from '../health.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Operation id of the route, for metrics. */
    operation?: string;
  }
}

/** `/livez`, `/readyz` and `/metrics`, for those who run the controller. */
export const serveProbes = async (app: FastifyInstance, health: Health) => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'rushhour_http_request_duration_seconds',
    help: 'Time to answer, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  const observers = new Map<string, (seconds: number) => void>();
  const observerOf = (operation: string, status: number) => {
    const key = `${operation} ${status}`;
    let observe = observers.get(key);
    if (observe === undefined) {
      const labelled = durations.labels(operation, String(status));
      observe = (seconds) => labelled.observe(seconds);
      observers.set(key, observe);
    }
    return observe;
  };
  app.addHook('onResponse', (request, reply, done) => {
    const { operation } = request.routeOptions.config;
    if (operation !== undefined) observerOf(operation, reply.statusCode)(reply.elapsedTime / 1000);
    done();
  });

  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await health.checks();
    const isReady = health.isReady() && checks.db === 'ok' && checks.storage === 'ok';
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'not ready', checks });
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
};
