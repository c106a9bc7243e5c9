import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { DurationHistogram } from '../store/engine/timings.ts';
import type { Health } from '../system/health.ts';
import { type ControllerMetricsDeps, createControllerMetrics, histogramLines } from './controller-metrics.ts';

const metricName = 'rushhour_http_request_duration_seconds';

/** How long operations take, by status. */
export const createRequestMetrics = () => {
  let loading: Promise<Registry> | undefined;
  /** Loaded by the first reader, or once the controller is ready, so that starting does not wait. */
  const load = () => {
    loading ??= import('prom-client').then(({ collectDefaultMetrics, Registry }) => {
      const registry = new Registry();
      collectDefaultMetrics({ register: registry });
      return registry;
    });
    return loading;
  };
  const operations = new Map<string, Map<number, DurationHistogram>>();
  return {
    observerOf: (operation: string) => {
      const byStatus = new Map<number, DurationHistogram>();
      operations.set(operation, byStatus);
      return (status: number, seconds: number) => {
        let durations = byStatus.get(status);
        if (durations === undefined) {
          durations = new DurationHistogram();
          byStatus.set(status, durations);
        }
        durations.add(seconds);
      };
    },
    load,
    read: async () => {
      const registry = await load();
      const { contentType } = registry;
      return { contentType, text: `${await registry.metrics()}${[...linesOf(operations)].join('\n')}\n` };
    },
  };
};

/** The histogram in the text format of Prometheus. */
function* linesOf(operations: ReadonlyMap<string, ReadonlyMap<number, DurationHistogram>>) {
  yield `# HELP ${metricName} Time to answer, by operation and status`;
  yield `# TYPE ${metricName} histogram`;
  for (const [operation, byStatus] of operations) {
    for (const [status, durations] of byStatus) {
      yield* histogramLines(metricName, { operation, status: String(status) }, durations);
    }
  }
}

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

interface Probed extends ControllerMetricsDeps {
  readonly health: Health;
}

/** `/livez`, `/readyz` and `/metrics`, for operators. */
export const serveProbes = (app: FastifyInstance, services: Probed, requests: RequestMetrics) => {
  const { health } = services;
  const controllerMetrics = createControllerMetrics(services);
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await health.checks();
    const isReady = health.isReady() && checks.db === 'ok' && checks.storage === 'ok';
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'not ready', checks });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await requests.read();
    return reply.type(contentType).send(`${text}${await controllerMetrics()}\n`);
  });
};
