import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describeHost, engines, RunningJob } from '@rushhour/agent';
import { expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { startServer } from '../job.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const heapBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const [warmIterations, allIterations] = [5000, 35_000];
/** A leak of 100 bytes in each iteration would be 3 MB. */
const maxGrowth = 2_000_000;

const configOf = (port: number) => {
  const names = { id: 1, type: 'list', selection: 'random', values: ['x', 'y', 'z'] };
  const steps = [
    { name: 'a', path: '/{{name}}/{{$iteration}}', extract: [{ variable: 'id', from: 'json', expression: '$.id' }] },
    { name: 'b', path: '/{{id}}', checks: [{ kind: 'contains', value: '{{id}}' }] },
  ];
  const journey = { name: 'j', steps, dictionaries: [{ name: 'name', id: 1 }] };
  return {
    role: 'client',
    targets: [{ host: '127.0.0.1', port }],
    connections: 10,
    journeys: { journeys: [journey], dictionaries: [names], users: 10 },
  };
};

it('journeys need no more memory after many iterations', { timeout: 180_000 }, async () => {
  const port = await freePort();
  const server = await startServer('http', {
    listen: [{ host: '127.0.0.1', port }],
    responses: [{ headers: [{ name: 'Set-Cookie', value: 'a=b; Path=/' }], body: { type: 'text', data: '{"id":7}' } }],
  });
  const stop = new AbortController();
  const heap: number[] = [];
  let [iterations, checksFailed] = [0, 0];
  const duration = { mode: 'continuous' as const, seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 };
  const job = { runId: 1, epoch: 0, engine: 'http', config: configOf(port), duration, cpuCores: 1 };
  const { outcome } = new RunningJob(job, {
    engines,
    host: describeHost(),
    barrier: async () => 0,
    stop: stop.signal,
    onSummary({ series }) {
      for (const { counters } of series) {
        iterations += counters['http.iterations'] ?? 0;
        checksFailed += counters['http.checksFailed'] ?? 0;
      }
      if (heap.length === 0 && iterations >= warmIterations) heap.push(heapBytes());
      if (heap.length === 1 && iterations >= allIterations) {
        heap.push(heapBytes());
        stop.abort();
      }
    },
  });
  await outcome;
  await server.stop();
  const [before = 0, after = Number.POSITIVE_INFINITY] = heap;
  expect(checksFailed).toBe(0);
  expect(after - before).toBeLessThan(maxGrowth);
});
