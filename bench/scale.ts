/**
 * How many agents controllers bear, with simulated agents that speak the real protocol in processes of their own: one
 * controller with 2,000 agents and runs of 100, 500 and 1,000 of them, three controllers with 10,000 idle agents and runs of
 * 100, 1,000 and 10,000 of them, and what three controllers can take in compared with one. The arguments `one`, `three` and `ingest` choose a part.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { ensureDebianPackages } from '../scripts/debian-packages.ts';
import { startNats } from '../scripts/nats.ts';
import { startPostgres } from '../scripts/postgres.ts';
import { type Spawned, spawnController } from '../tests/process/spawn-controller.ts';
import { AgentGroups } from './agent-groups.ts';
import { takePriority } from './priority.ts';
import { report } from './report.ts';

const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };
const connected = 2000;
const inRun = 500;
/** Agents of further runs, for the curve. */
const runSizes = [100, 1000];
const runSec = 10;
const beatsSec = 10;
const idleSizes = [100, 1000, 10_000];
/**
 * Agents that measure, in as many runs as there are controllers in the larger installation: so many that taking in what they
 * measure is the work, and not what each run and each write cost.
 */
const ingesting = 1200;
const ingestRuns = 3;
/** Ten thousand agents need not be heard every two seconds. */
const rareHeartbeats = { agents: { heartbeatSec: 10, suspectAfterSec: 30, lostAfterSec: 60, deadManSec: 120 } };

const percentile = (values: readonly number[], share: number) =>
  Float64Array.from(values).sort()[Math.ceil(values.length * share) - 1] ?? Infinity;

/** Memory and processor time of a process so far. */
const costOf = ({ process: { pid } }: Spawned) => {
  const megabytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // User and system time, in hundredths of a second.
  return { megabytes, cpuSec: (Number(fields[11]) + Number(fields[12])) / 100 };
};
const totalOf = (controllers: readonly Spawned[]) => {
  const costs = controllers.map(costOf);
  return {
    megabytes: costs.reduce((sum, { megabytes }) => sum + megabytes, 0),
    cpuSec: costs.reduce((sum, { cpuSec }) => sum + cpuSec, 0),
  };
};
/** Share of a core that they use. */
const loadOf = async (controllers: readonly Spawned[], seconds: number) => {
  const before = totalOf(controllers).cpuSec;
  await sleep(seconds * 1000);
  return (totalOf(controllers).cpuSec - before) / seconds;
};

const signIn = async (url: string) => {
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  return client;
};

const taskOf = (ids: readonly number[]) => {
  const [server = 0, ...clients] = ids;
  const values = {
    sources: clients.map((id) => ({ agent: { id } })),
    targets: [{ agent: { id: server }, ports: '8080' }],
    httpParams: { method: 'GET', path: '/' },
    requestsPerSecond: 50 * clients.length,
    duration: { mode: 'time', seconds: runSec },
  };
  return { comment: 'scale', configuration: [{ plugin: { id: 1 }, values }] };
};

const allIds = async (client: Client, count: number) => {
  const ids: number[] = [];
  for (let page = 1; ids.length < count; page += 1) {
    const { data } = await client.agents.list({ query: { page, count: 100 } });
    if (data.length === 0) throw new Error(`only ${ids.length} agents are listed`);
    ids.push(...data.map(({ id }) => id));
  }
  return ids.slice(0, count);
};

const runToEnd = async (client: Client, ids: readonly number[]) => {
  const { data: id } = await client.tasks.create({ body: taskOf(ids) as never });
  await client.tasks.start({ params: { id } });
  for (;;) {
    const { data } = await client.tasks.status({ params: { id } });
    if (data.status === 7) return;
    if (data.status > 7) throw new Error(`the run ended as ${JSON.stringify(data)}`);
    await sleep(500);
  }
};

/** What the agents saw of runs, and what they cost the controllers beyond the load without them. */
const measureRuns = async (
  groups: AgentGroups,
  { controllers, load, work }: { controllers: readonly Spawned[]; load: number; work: () => Promise<unknown> },
) => {
  await groups.ask({ kind: 'measure' });
  const [cpuBefore, startedAt] = [totalOf(controllers).cpuSec, performance.now()];
  await work();
  const lastedSec = (performance.now() - startedAt) / 1000;
  const cpuSec = totalOf(controllers).cpuSec - cpuBefore - load * lastedSec;
  const states = await groups.ask({ kind: 'state' });
  const acknowledged = states.flatMap(({ acknowledgedMs }) => acknowledgedMs);
  const skews = states.flatMap(({ startSkewsMs }) => startSkewsMs);
  return {
    skewMs: percentile(skews, 0.99),
    behindMs: percentile(acknowledged, 1),
    cpuMs: (cpuSec * 1000) / acknowledged.length,
    unacknowledged: states.reduce((sum, { unacknowledged }) => sum + unacknowledged, 0),
  };
};

const controllerEnv = (dataDir: string) => ({
  RUSHHOUR_DATA_DIR: dataDir,
  RUSHHOUR_ADMIN_EMAIL: admin.email,
  RUSHHOUR_ADMIN_PASSWORD: admin.password,
});

/** One controller with SQLite. */
const measureOne = async () => {
  await using open = new AsyncDisposableStack();
  const dataDir = open.adopt(mkdtempSync(join(tmpdir(), 'rushhour-bench-')), (dir) => rmSync(dir, { recursive: true }));
  const controller = open.adopt(await spawnController(controllerEnv(dataDir)), (it) => void it.kill('SIGKILL'));
  const client = await signIn(controller.url);
  const groups = open.adopt(new AgentGroups(2), (it) => it.close());
  const before = performance.now();
  await groups.join(client, [controller.url], connected);
  const perSecond = (connected / (performance.now() - before)) * 1000;
  await sleep(3000);
  await groups.ask({ kind: 'measure' });
  const load = await loadOf([controller], beatsSec);
  const states = await groups.ask({ kind: 'state' });
  const beatMs = percentile(
    states.flatMap(({ roundTripsMs }) => roundTripsMs),
    0.99,
  );
  const inside = groups.insideOf(states);
  console.log(
    `${connected} agents: ${costOf(controller).megabytes.toFixed(0)} MiB, ${(load * 100).toFixed(0)} % of a core`,
  );
  const runOf = async (size: number) => {
    const ids = await allIds(client, size);
    const run = await measureRuns(groups, { controllers: [controller], load, work: () => runToEnd(client, ids) });
    console.log(`a run of ${size} agents: ${run.cpuMs.toFixed(2)} ms of a core for each second of an agent`);
    return run;
  };
  const run = await runOf(inRun);
  for (const size of runSizes) await runOf(size);
  return [
    { name: 'scale-agents-connected', value: inside, goal: connected },
    { name: 'scale-enrolments-per-second', value: perSecond, goal: 200 },
    { name: 'scale-heartbeat-p99-ms', value: beatMs, goal: 50, better: 'lower' as const },
    { name: 'scale-start-skew-p99-ms', value: run.skewMs, goal: 50, better: 'lower' as const },
    { name: 'scale-acknowledged-behind-ms', value: run.behindMs, goal: 2000, better: 'lower' as const },
    { name: 'scale-seconds-not-acknowledged', value: run.unacknowledged, goal: 0, better: 'lower' as const },
  ];
};

/** Controllers with PostgreSQL; several have NATS, too. */
const startShared = async (open: AsyncDisposableStack, count: number) => {
  const postgres = open.adopt(await startPostgres(), (it) => it.stop());
  const nats = count > 1 ? open.adopt(await startNats(), (it) => it.stop()) : undefined;
  const shared = {
    DATABASE_URL: postgres.url,
    RUSHHOUR_SECRET_KEY: randomBytes(32).toString('base64'),
    ...(nats && { NATS_URL: nats.url }),
  };
  const controllers: Spawned[] = [];
  for (let i = 0; i < count; i += 1) {
    const dir = open.adopt(mkdtempSync(join(tmpdir(), 'rushhour-bench-')), (it) => rmSync(it, { recursive: true }));
    const controller = await spawnController({ ...controllerEnv(dir), ...shared });
    controllers.push(open.adopt(controller, (it) => void it.kill('SIGKILL')));
  }
  const clients = await Promise.all(controllers.map(({ url }) => signIn(url)));
  return { controllers, clients, urls: controllers.map(({ url }) => url), client: clients[0] as Client };
};

/** Idle agents, more and more of them; then runs of as many. */
const measureThree = async () => {
  await using open = new AsyncDisposableStack();
  const { controllers, urls, client } = await startShared(open, 3);
  await client.settings.update({ body: rareHeartbeats });
  const groups = open.adopt(new AgentGroups(6), (it) => it.close());
  for (const [i, size] of idleSizes.entries()) {
    await groups.join(client, urls, size - (idleSizes[i - 1] ?? 0));
    const load = await loadOf(controllers, 5);
    const { megabytes } = totalOf(controllers);
    console.log(
      `three controllers, ${size} agents: ${megabytes.toFixed(0)} MiB, ${(load * 100).toFixed(0)} % of a core`,
    );
  }
  const inside = groups.insideOf(await groups.ask({ kind: 'state' }));
  const { megabytes } = totalOf(controllers);
  const load = await loadOf(controllers, beatsSec);
  const unacknowledged: number[] = [];
  for (const size of idleSizes) {
    const ids = await allIds(client, size);
    const run = await measureRuns(groups, { controllers, load, work: () => runToEnd(client, ids) });
    console.log(
      `three controllers, a run of ${size} agents: ${run.cpuMs.toFixed(2)} ms of a core for each second of an agent, ${run.behindMs} ms behind`,
    );
    unacknowledged.push(run.unacknowledged);
  }
  return [
    { name: 'scale-idle-agents-of-three', value: inside, goal: idleSizes.at(-1) ?? 0 },
    { name: 'scale-idle-agents-of-three-mib', value: megabytes, goal: 1536, better: 'lower' as const },
    {
      name: 'scale-seconds-not-acknowledged-of-three',
      value: Math.max(...unacknowledged),
      goal: 0,
      better: 'lower' as const,
    },
  ];
};

/** Processor time of all controllers for a second of an agent; the agents of every run are spread over the controllers. */
const costOfIngest = async (count: number) => {
  await using open = new AsyncDisposableStack();
  const { controllers, clients, urls, client } = await startShared(open, count);
  await client.settings.update({ body: rareHeartbeats });
  const groups = open.adopt(new AgentGroups(ingestRuns), (it) => it.close());
  await groups.join(client, urls, ingesting);
  const ids = await allIds(client, ingesting);
  const load = await loadOf(controllers, beatsSec);
  const work = () =>
    Promise.all(
      Array.from({ length: ingestRuns }, (_, i) =>
        runToEnd(
          clients[i % clients.length] as Client,
          ids.filter((id) => id % ingestRuns === i),
        ),
      ),
    );
  // What every process does once, such as compiling what it runs, is not measured.
  await work();
  const { cpuMs, behindMs } = await measureRuns(groups, { controllers, load, work });
  console.log(
    `${count} controllers: ${cpuMs.toFixed(2)} ms of a core for each second of an agent, ${behindMs} ms behind`,
  );
  return cpuMs;
};

/** A controller takes in what one core can: with a core for each, three take in three times as much, less what they add. */
const measureIngest = async () => {
  const [alone, together] = [await costOfIngest(1), await costOfIngest(3)];
  return [{ name: 'scale-ingest-of-three-by-that-of-one', value: (3 * alone) / together, goal: 2 }];
};

ensureDebianPackages();
takePriority();
const parts = { one: measureOne, three: measureThree, ingest: measureIngest };
const isPart = (name: string): name is keyof typeof parts => name in parts;
const wanted = process.argv.slice(2).filter(isPart);
const outcomes: boolean[] = [];
// What is known is printed at once: the second part takes minutes.
for (const name of wanted.length > 0 ? wanted : Object.keys(parts).filter(isPart)) {
  outcomes.push(report(await parts[name]()));
}
process.exit(outcomes.every(Boolean) ? 0 : 1);
