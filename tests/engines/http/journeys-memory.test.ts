import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describeHost, engines, RunningJob } from '@rushhour/agent';
import { expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { startServer } from '../job.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory of values and buffers, and of the process with everything that the kernel has mapped for it. */
const memory = () => {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { values: heapUsed + external, rss };
};

/** The long form is `RUSHHOUR_JOURNEY_ITERATIONS=1000000`; it prints what it has measured on its way. */
const allIterations = Number(process.env['RUSHHOUR_JOURNEY_ITERATIONS'] ?? 35_000);
const isLong = allIterations > 35_000;
/** Code is compiled and pools are filled until then. */
const warmIterations = isLong ? 100_000 : 5000;
const stepIterations = 100_000;
/** A leak of 100 bytes in each iteration would be 3 MB, and 90 MB in the long form. */
const maxGrowth = { values: 2_000_000, rss: 48_000_000 };

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

it('journeys need no more memory after many iterations', { timeout: 900_000 }, async () => {
  const port = await freePort();
  const server = await startServer('http', {
    listen: [{ host: '127.0.0.1', port }],
    responses: [{ headers: [{ name: 'Set-Cookie', value: 'a=b; Path=/' }], body: { type: 'text', data: '{"id":7}' } }],
  });
  const stop = new AbortController();
  const measured: ReturnType<typeof memory>[] = [];
  let nextPrint = warmIterations;
  const print = () => {
    nextPrint += stepIterations;
    const { values, rss } = memory();
    console.log(
      `${iterations} iterations: ${(values / 1e6).toFixed(1)} MB of values, RSS ${(rss / 1e6).toFixed(1)} MB`,
    );
  };
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
      if (isLong && iterations >= nextPrint) print();
      const wanted = measured.length === 0 ? warmIterations : allIterations;
      if (iterations < wanted || stop.signal.aborted) return;
      measured.push(memory());
      if (measured.length === 2) stop.abort();
    },
  });
  await outcome;
  await server.stop();
  const [before, after] = measured;
  expect(checksFailed).toBe(0);
  expect((after?.values ?? Number.NaN) - (before?.values ?? 0)).toBeLessThan(maxGrowth.values);
  expect((after?.rss ?? Number.NaN) - (before?.rss ?? 0)).toBeLessThan(maxGrowth.rss);
});
