import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cookieJar, createClient } from '@rushhour/client';
import { ensureDebianPackages } from '../scripts/debian-packages.ts';
import { spawnController } from '../tests/process/spawn-controller.ts';
import { type Row, report } from './report.ts';

const run = promisify(execFile);
ensureDebianPackages();

const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };
const rounds = 5;
// Many short alternating runs: each server gets some that other work does not disturb.
const loadRounds = 15;
const secondsPerRun = 1;
const warmUpRequests = 50_000;
const connections = 50;

// The server has one core, the load generator the other; both servers get the same.
const serverCore = 0;
const loadCore = 1;
execFileSync('taskset', ['-a', '-c', '-p', String(loadCore), String(process.pid)], { stdio: 'ignore' });

/** A bare Fastify route that returns a constant of the same size, in its own process. */
const spawnBare = (bytes: number) =>
  new Promise<{ url: string; stop(): void }>((resolve) => {
    const file = fileURLToPath(new URL('bare-fastify.ts', import.meta.url));
    const args = ['-c', String(serverCore), process.execPath, file, String(bytes)];
    const child = spawn('taskset', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.once('message', (url) => resolve({ url: String(url), stop: () => void child.kill() }));
  });

/** wrk uses the least CPU of the candidates, so that the server is the bottleneck. */
const requestsPerSecond = async (url: string, headers: Record<string, string> = {}) => {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${secondsPerRun}s`, ...given, url]);
  if (stdout.includes('Non-2xx')) throw new Error(`answers of ${url} were not 2xx:\n${stdout}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
};

const warmUp = async (measure: () => Promise<number>) => {
  for (let requests = 0; requests < warmUpRequests; ) requests += secondsPerRun * (await measure());
};

const bestOf = async (count: number, measures: (() => Promise<number>)[], best: (...values: number[]) => number) => {
  const values: number[][] = measures.map(() => []);
  for (let round = 0; round < count; round += 1) {
    for (const [i, measure] of measures.entries()) values[i]?.push(await measure());
  }
  return values.map((list) => best(...list));
};

const timeOf = async (work: () => Promise<unknown>, times: number) => {
  const start = performance.now();
  for (let n = 0; n < times; n += 1) await work();
  return (performance.now() - start) / times;
};

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
const env = { RUSHHOUR_DATA_DIR: dataDir, RUSHHOUR_ADMIN_EMAIL: admin.email, RUSHHOUR_ADMIN_PASSWORD: admin.password };
const rows: Row[] = [];
let controller = await spawnController(env, { core: serverCore });

const signIn = async () => {
  const send = cookieJar();
  const client = createClient(controller.url, send);
  await client.auth.login({ body: admin });
  return { client, cookie: [...send.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
};

const { client, cookie } = await signIn();
await client.settings.update({ body: { limits: { rate: 100_000_000 } } });
const { data: id } = await client.projects.create({
  body: { name: 'Measured', description: 'A project like any other' },
});
const size = (await (await fetch(`${controller.url}/v1/projects/${id}`, { headers: { cookie } })).text()).length;

const bare = await spawnBare(size);
const measureOurs = () => requestsPerSecond(`${controller.url}/v1/projects/${id}`, { cookie });
const measureBare = () => requestsPerSecond(`${bare.url}/`);
await warmUp(measureOurs);
await warmUp(measureBare);
const [ours = 0, theirs = 1] = await bestOf(loadRounds, [measureOurs, measureBare], Math.max);
bare.stop();
console.log(`GET /projects/{id}: ${ours.toFixed(0)}/s, bare Fastify: ${theirs.toFixed(0)}/s`);
rows.push({ name: 'project-get-vs-bare-fastify', value: ours / theirs, goal: 0.5 });

const list = () => client.groups.list({ query: { count: 100, offset: 0 } });
const addGroups = async (from: number, to: number) => {
  for (let n = from; n < to; n += 20) {
    const names = Array.from({ length: Math.min(20, to - n) }, (_, i) => `Group ${n + i}`);
    await Promise.all(names.map((name) => client.groups.create({ body: { name, permissions: [{ value: 41 }] } })));
  }
};
await addGroups(4, 200);
await timeOf(list, 50);
const [few = 1] = await bestOf(rounds, [() => timeOf(list, 100)], Math.min);
await addGroups(200, 10_000);
const [many = 0] = await bestOf(rounds, [() => timeOf(list, 100)], Math.min);
console.log(`GET /groups, first 100 of 200: ${few.toFixed(2)} ms, of 10,000: ${many.toFixed(2)} ms`);
rows.push({ name: 'groups-page-10000-vs-200', value: many / few, goal: 2, better: 'lower' });

await controller.kill('SIGTERM');
execFileSync('taskset', ['-a', '-c', '-p', `${serverCore},${loadCore}`, String(process.pid)], { stdio: 'ignore' });
const [startSec = 9] = await bestOf(
  rounds,
  [
    async () => {
      const start = performance.now();
      controller = await spawnController(env);
      const seconds = (performance.now() - start) / 1000;
      await controller.kill('SIGTERM');
      return seconds;
    },
  ],
  Math.min,
);
rows.push({ name: 'start-to-ready-seconds', value: startSec, goal: 1.5, better: 'lower' });

rmSync(dataDir, { recursive: true, force: true });
process.exit(report(rows) ? 0 : 1);
