import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Health } from '../system/health.ts';

const bucketsSec = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** Durations of one operation and status. Recorded cheaply and aggregated when read, so that requests do not wait. */
class Durations {
  readonly counts = new Float64Array(bucketsSec.length + 1);
  sumSec = 0;
  add(seconds: number) {
    let bucket = 0;
    while (bucket < bucketsSec.length && seconds > (bucketsSec[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSec += seconds;
  }
}

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
  const operations = new Map<string, Map<number, Durations>>();
  return {
    observerOf: (operation: string) => {
      const byStatus = new Map<number, Durations>();
      operations.set(operation, byStatus);
      return (status: number, seconds: number) => {
        let durations = byStatus.get(status);
        if (durations === undefined) {
          durations = new Durations();
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
function* linesOf(operations: ReadonlyMap<string, ReadonlyMap<number, Durations>>) {
  yield `# HELP ${metricName} Time to answer, by operation and status`;
  yield `# TYPE ${metricName} histogram`;
  for (const [operation, byStatus] of operations) {
    for (const [status, { counts, sumSec }] of byStatus) {
      const labels = `operation="${operation}",status="${status}"`;
      let below = 0;
      for (const [bucket, count] of counts.entries()) {
        below += count;
        yield `${metricName}_bucket{${labels},le="${bucketsSec[bucket] ?? '+Inf'}"} ${below}`;
      }
      yield `${metricName}_sum{${labels}} ${sumSec}`;
      yield `${metricName}_count{${labels}} ${below}`;
    }
  }
}

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

/** `/livez`, `/readyz` and `/metrics`, for operators. */
export const serveProbes = (app: FastifyInstance, health: Health, metrics: RequestMetrics) => {
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const checks = await health.checks();
    const isReady = health.isReady() && checks.db === 'ok' && checks.storage === 'ok';
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'not ready', checks });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.read();
    return reply.type(contentType).send(text);
  });
};
