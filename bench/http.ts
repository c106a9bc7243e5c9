/**
 * Requests per second of our http engine on plain Node sockets against autocannon and wrk, and of a journey with two
 * steps against the fixed request, both on the fastest path of the machine.
 * The generator runs on one core; nginx with one worker answers on another. 50 connections, no pipelining.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeHost, engines, RunningJob } from '@rushhour/agent';
import { freePort } from '../tests/process/free-port.ts';
import { takePriority } from './priority.ts';

const execute = promisify(execFile);
const connections = 50;
const seconds = 4;
const rounds = 3;
const [generatorCore, serverCore] = ['0', '1'];
const goals = [
  ['ours', 'autocannon', 2, 'http-vs-autocannon'],
  ['ours', 'wrk', 0.3, 'http-vs-wrk'],
  ['journey', 'fixed', 0.7, 'journey-vs-fixed-request'],
  ['journey', 'autocannon', 3, 'journey-vs-autocannon'],
] as const;

const journey = {
  name: 'two',
  steps: [
    { name: 'a', path: '/a' },
    { name: 'b', path: '/b' },
  ],
};
/** What the generator does: on Node sockets, or on the fastest path. */
const modes: Record<string, object> = {
  ours: { dataPath: 'node' },
  fixed: {},
  journey: { journeys: { journeys: [journey], users: connections } },
};

/** The generator, in its own process: prints requests per second after a second of warm-up. */
const generate = async (port: number, mode: string): Promise<void> => {
  let [responses, ms] = [0, 0];
  const job = {
    runId: 1,
    epoch: 0,
    engine: 'http',
    config: { role: 'client', targets: [{ host: '127.0.0.1', port }], connections, ...modes[mode] },
    duration: { mode: 'time' as const, seconds: seconds + 1, count: 1, rampUpSec: 0, warmUpSec: 1, rampDownSec: 0 },
    cpuCores: 1,
  };
  await new RunningJob(job, {
    engines,
    host: describeHost(),
    barrier: async () => 0,
    stop: new AbortController().signal,
    onSummary(summary) {
      if (summary.phase !== 'steady' || summary.spanMs < 900) return;
      ms += summary.spanMs;
      for (const { counters } of summary.series) responses += counters['http.responses'] ?? 0;
    },
  }).outcome;
  console.log((responses * 1000) / ms);
};

const pinned = async (program: string, ...args: string[]): Promise<string> =>
  (await execute('taskset', ['-c', generatorCore, program, ...args], { maxBuffer: 1e8 })).stdout;

const own = (mode: string) => async (port: number) =>
  Number(await pinned(process.execPath, fileURLToPath(import.meta.url), 'generate', String(port), mode));

const generators: Record<string, (port: number) => Promise<number>> = {
  ours: own('ours'),
  fixed: own('fixed'),
  journey: own('journey'),
  autocannon: async (port) => {
    const script = createRequire(import.meta.url).resolve('autocannon');
    const options = ['-c', String(connections), '-d', String(seconds), '--json', '--no-progress'];
    const result = JSON.parse(await pinned(process.execPath, script, ...options, `http://127.0.0.1:${port}/`));
    return result.requests.average;
  },
  wrk: async (port) => {
    const text = await pinned('wrk', '-t1', `-c${connections}`, `-d${seconds}`, `http://127.0.0.1:${port}/`);
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  },
};

const startNginx = async (port: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events { worker_connections 1024; }
     http { access_log off; keepalive_requests 1000000000; ${paths.join(' ')}
       server { listen 127.0.0.1:${port}; location / { return 200 "hello world\\n"; } } }`,
  );
  const child = spawn(
    'taskset',
    ['-c', serverCore, 'nginx', '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')],
    {
      stdio: 'inherit',
    },
  );
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect({ port, host: '127.0.0.1' });
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) break;
    await sleep(50);
  }
  return async () => {
    child.kill();
    await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
};

const compare = async (): Promise<boolean> => {
  takePriority();
  const port = await freePort();
  const stop = await startNginx(port);
  const best: Record<string, number> = {};
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const [name, run] of Object.entries(generators)) {
        const rate = await run(port);
        best[name] = Math.max(best[name] ?? 0, rate);
        console.log(`round ${round} ${name} ${Math.round(rate)} requests/s`);
      }
    }
  } finally {
    await stop();
  }
  let isReached = true;
  for (const [one, peer, goal, name] of goals) {
    const ratio = (best[one] ?? 0) / (best[peer] ?? Number.NaN);
    console.log(`ratio ${name} ${ratio.toFixed(2)} goal ${goal}`);
    if (!(ratio >= goal)) isReached = false;
  }
  return isReached;
};

if (process.argv[2] === 'generate') await generate(Number(process.argv[3]), process.argv[4] ?? 'ours');
else process.exitCode = (await compare()) ? 0 : 1;
