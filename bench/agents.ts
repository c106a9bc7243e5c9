/**
 * A thousand agents on one controller: they stay connected, heartbeats are answered quickly, and all reconnect soon after
 * the controller is killed and restarted. Agents are real protocol clients in separate processes.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cookieJar, createClient } from '@rushhour/client';
import type { Command, GroupState } from '../packages/controller/src/testing/simulated-agents.ts';
import { ensureDebianPackages } from '../scripts/debian-packages.ts';
import { spawnController } from '../tests/process/spawn-controller.ts';
import { takePriority } from './priority.ts';
import { report } from './report.ts';

const agents = 1000;
const groupCount = 2;
const usesOfToken = 100;
const steadySec = 60;
const settleSec = 5;
const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };
const goals = { heartbeatMs: 50, backSec: 30 };

/** Node raises its soft limit to the hard limit; only the administrator can raise that. */
const assertOpenFiles = () => {
  const limit = Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  if (limit < agents + 100) throw new Error(`${limit} open files are too few for ${agents} connections: ulimit -n`);
};

const ask = async (group: ChildProcess, command: Command): Promise<GroupState> => {
  group.send(command);
  const [state] = await once(group, 'message');
  return state as GroupState;
};
const askAll = (command: Command) => Promise.all(groups.map((one) => ask(one, command)));
const insideOf = (states: readonly GroupState[]) => states.reduce((sum, { inside }) => sum + inside, 0);
const percentile = (sorted: Float64Array, share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Infinity;
const memoryMb = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

ensureDebianPackages();
assertOpenFiles();
takePriority();
// The controller has one core, the agents the other, so that the controller's latency is measured.
const [controllerCore, agentCore] = cpus().length > 1 ? [0, 1] : [0, 0];
execFileSync('taskset', ['-a', '-c', '-p', String(agentCore), String(process.pid)], { stdio: 'ignore' });

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
const env = { RUSHHOUR_DATA_DIR: dataDir, RUSHHOUR_ADMIN_EMAIL: admin.email, RUSHHOUR_ADMIN_PASSWORD: admin.password };
let controller = await spawnController(env, { core: controllerCore });
const { url } = controller;
const groups = Array.from({ length: groupCount }, () =>
  fork(fileURLToPath(new URL('../packages/controller/src/testing/simulated-agents.ts', import.meta.url))),
);

const signIn = async () => {
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  return client;
};
const onlineByApi = async () => (await (await signIn()).agents.list({ query: { status: '1,2' } })).cursor.totalRows;

const enrolAll = async () => {
  const client = await signIn();
  const count = agents / groupCount;
  const start = performance.now();
  await Promise.all(
    groups.map(async (one, i) => {
      const names = Array.from({ length: Math.ceil(count / usesOfToken) }, (_, n) => `group ${i} ${n}`);
      const tokens: string[] = [];
      for (const name of names) {
        const { data } = await client.agents.createToken({ body: { name, ttlSec: 600, maxUses: usesOfToken } });
        tokens.push(data.token);
      }
      await ask(one, { kind: 'join', url, tokens, count, name: `group-${i}` });
    }),
  );
  return (performance.now() - start) / 1000;
};

const measureHeartbeats = async () => {
  await sleep(settleSec * 1000);
  await askAll({ kind: 'measure' });
  await sleep(steadySec * 1000);
  const states = await askAll({ kind: 'state' });
  const sorted = Float64Array.from(states.flatMap(({ roundTripsMs }) => roundTripsMs)).sort();
  return {
    beats: sorted.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    worst: percentile(sorted, 1),
    inside: insideOf(states),
    drops: states.reduce((sum, { drops }) => sum + drops, 0),
  };
};

const measureReturn = async () => {
  const start = performance.now();
  await controller.kill('SIGKILL');
  controller = await spawnController({ ...env, RUSHHOUR_PORT: new URL(url).port }, { core: controllerCore });
  const restartedSec = (performance.now() - start) / 1000;
  while (insideOf(await askAll({ kind: 'state' })) < agents && performance.now() - start < 2000 * goals.backSec) {
    await sleep(50);
  }
  return { restartedSec, backSec: (performance.now() - start) / 1000 };
};

let isFine = false;
try {
  const enrolSec = await enrolAll();
  console.log(`${agents} agents enrolled in ${enrolSec.toFixed(1)} s`);
  const { beats, p50, p99, worst, inside, drops } = await measureHeartbeats();
  const spread = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, worst ${worst.toFixed(2)} ms`;
  console.log(
    `${beats} heartbeats in ${steadySec} s: ${spread}; controller ${memoryMb(controller.process.pid).toFixed(0)} MiB`,
  );
  const online = await onlineByApi();
  const { restartedSec, backSec } = await measureReturn();
  console.log(`after a kill: ready again in ${restartedSec.toFixed(1)} s, all agents back in ${backSec.toFixed(1)} s`);
  const back = await onlineByApi();
  isFine = report([
    { name: 'agents-connected', value: Math.min(inside, online), goal: agents },
    { name: 'agents-dropped', value: drops, goal: 0, better: 'lower' },
    { name: 'agent-heartbeats-of-expected', value: beats / ((agents * steadySec) / 2), goal: 0.95 },
    { name: 'agent-heartbeat-p99-ms', value: p99, goal: goals.heartbeatMs, better: 'lower' },
    { name: 'agents-back-after-kill', value: back, goal: agents },
    { name: 'agents-back-seconds', value: backSec, goal: goals.backSec, better: 'lower' },
  ]);
} finally {
  for (const one of groups) one.kill();
  await controller.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(isFine ? 0 : 1);
