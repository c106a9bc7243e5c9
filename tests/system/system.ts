import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { freePort } from '../process/free-port.ts';
import { programAt } from '../process/program.ts';
import { type Spawned, spawnController } from '../process/spawn-controller.ts';

/** Longer than any step takes on a busy machine: it only ends a hang. */
const patienceMs = 180_000;
const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };

export interface AgentProcess {
  readonly name: string;
  readonly id: number;
  readonly dataDir: string;
  /** The port its server uses in the tasks of `httpTask`. */
  readonly port: number;
  process: ChildProcess;
  output(): string;
  /** Sends a signal and waits for the exit. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same data. */
  startAgain(): void;
}

interface AgentOptions {
  /** Network namespace it runs in. */
  readonly namespace?: string;
  /** The URL of the controller from there; its own URL by default. */
  readonly url?: string;
  readonly dataDir?: string;
  /** A wrapper program with arguments, such as one that drops capabilities. */
  readonly through?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A real controller and real agents, each in its own process. */
export interface System {
  readonly url: string;
  readonly client: Client;
  readonly dataDir: string;
  /** What the controller has written since its last start. */
  output(): string;
  addAgent(name: string, options?: AgentOptions): Promise<AgentProcess>;
  killController(signal: NodeJS.Signals): Promise<void>;
  restartController(): Promise<void>;
  close(): Promise<void>;
}

/** Polls until `check` returns a value, or fails with the last error. */
export const until = async <T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> => {
  const deadline = Date.now() + patienceMs;
  let problem: unknown;
  for (;;) {
    try {
      const found = await check();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      problem = error;
    }
    if (Date.now() > deadline) throw new Error(`waited ${patienceMs} ms for ${what}`, { cause: problem });
    // Less often than the controller allows.
    await sleep(150);
  }
};

export const startSystem = async (settings: object = {}, env: Record<string, string> = {}): Promise<System> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-system-'));
  const controllerEnv = {
    RUSHHOUR_DATA_DIR: dataDir,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
    ...env,
  };
  let controller: Spawned = await spawnController(controllerEnv);
  const { url } = controller;
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  if (Object.keys(settings).length > 0) await client.settings.update({ body: settings });
  const agents: AgentProcess[] = [];

  const addAgent: System['addAgent'] = async (name, options = {}) => {
    const { data: token } = await client.agents.createToken({ body: { name, ttlSec: 600, maxUses: 1 } });
    const port = await freePort();
    const agent = startAgent({ name, url: options.url ?? url, token: token.token, options, port });
    agents.push(agent);
    const isOnline = async () => {
      const { data } = await client.agents.list({ query: { search: name } });
      return data.find((one) => one.name === name && one.status === 1);
    };
    const found = await until(`agent ${name} to be online`, isOnline).catch((error) => {
      throw new Error(`agent ${name} wrote: ${agent.output()}`, { cause: error });
    });
    return Object.assign(agent, { id: found.id });
  };

  return {
    ...{ url, client, dataDir, addAgent },
    output: () => controller.output(),
    killController: async (signal) => void (await controller.kill(signal)),
    restartController: async () => {
      controller = await spawnController({ ...controllerEnv, RUSHHOUR_PORT: new URL(url).port });
    },
    close: async () => {
      for (const agent of agents) {
        agent.process.kill('SIGCONT');
        await agent.kill('SIGKILL');
        rmSync(agent.dataDir, { recursive: true, force: true });
      }
      await controller.kill('SIGKILL');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};

interface AgentStart {
  name: string;
  url: string;
  token: string;
  options: AgentOptions;
  port: number;
}

const startAgent = ({ name, url, token, options, port }: AgentStart): AgentProcess => {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), `rushhour-agent-${name}-`));
  const about = ['--token', token, '--name', name, '--data-dir', dataDir];
  const args = [programAt('packages/agent/src/main.ts'), '--controller', url, '--allow-http', ...about];
  const wrapped = options.namespace === undefined ? [] : ['ip', 'netns', 'exec', options.namespace];
  const [program = '', ...rest] = [...wrapped, ...(options.through ?? []), process.execPath, ...args];
  let output = '';
  const begin = () => {
    // Most of the start-up time is compilation: agents of all tests share a compile cache.
    const cache = join(tmpdir(), 'rushhour-agent-compile-cache');
    const env = { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: cache, ...options.env };
    const child = spawn(program, rest, { env });
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    return child;
  };
  const agent: AgentProcess = {
    name,
    id: 0,
    dataDir,
    port,
    process: begin(),
    output: () => output,
    kill: async (signal) => {
      const child = agent.process;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
      child.kill(signal);
      await gone;
    },
    startAgain: () => {
      agent.process = begin();
    },
  };
  return agent;
};

/** A task that requests `/` over HTTP from one agent to the other. */
export const httpTask = (client: AgentProcess, server: AgentProcess, values: object = {}) => ({
  comment: 'requests per second',
  configuration: [
    {
      plugin: { id: 1 },
      values: {
        sources: [{ agent: { id: client.id } }],
        targets: [{ agent: { id: server.id }, ports: String(server.port) }],
        httpParams: { method: 'GET', path: '/' },
        requestsPerSecond: 200,
        duration: { mode: 'time', seconds: 6 },
        ...values,
      },
    },
  ],
});

/** Waits until the task has one of the statuses. A run that has ended has no other any more: then it says why. */
export const untilStatus = async (client: Client, id: number, statuses: readonly number[]) => {
  const wanted = `task ${id} to have status ${statuses.join(' or ')}`;
  const found = await until(wanted, async () => {
    const { data } = await client.tasks.status({ params: { id } });
    return statuses.includes(data.status) || data.status >= 7 ? data : undefined;
  });
  if (statuses.includes(found.status)) return found;
  const { data: runs } = await client.tasks.runs({ params: { id } });
  throw new Error(`waited for ${wanted}, but it ended: ${JSON.stringify({ ...found, error: runs[0]?.error })}`);
};

/** Creates and starts a task and waits for its end. */
export const runToEnd = async (client: Client, task: object) => {
  const { data: id } = await client.tasks.create({ body: task as never });
  const { data } = await client.tasks.start({ params: { id } });
  await untilStatus(client, id, [7, 8, 9]);
  const { data: result } = await client.tasks.run({ params: { id, runId: data.runId }, query: { full: true } });
  return { id, result };
};

/** Values of a metric of one side. */
export const metricOf = (
  result: { summary: { role: string; metrics: { metric: string }[] }[] },
  role: 'client' | 'server',
  metric: string,
) => {
  const side = result.summary.find((entry) => entry.role === role);
  return side?.metrics.find((one) => one.metric === metric) as Record<string, number> | undefined;
};
