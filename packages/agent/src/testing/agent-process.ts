import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MessageOf, ProtocolServer } from './protocol-server.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const endWithinMs = 60_000;

export const createDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'rushhour-agent-'));

/** An agent in a process of its own. */
export class AgentProcess {
  readonly dataDir: string;
  readonly exited: Promise<number | string>;
  readonly #process: ChildProcess;
  output = '';

  constructor(dataDir: string, args: readonly string[]) {
    this.dataDir = dataDir;
    this.#process = spawn(process.execPath, [main, '--data-dir', dataDir, '--log-level', 'debug', ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Compiled code is shared by all agents of all tests: most of a start is spent on compiling.
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(tmpdir(), 'rushhour-agent-compile-cache') },
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
    this.exited = new Promise((resolve) => {
      // Not `close`: a successor inherits the same output.
      this.#process.on('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  closeInput(): void {
    this.#process.stdin?.end();
  }

  /** Simulates a closed terminal. */
  closeOutput(): void {
    this.#process.stdout?.destroy();
    this.#process.stderr?.destroy();
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Sends SIGTERM, and SIGKILL after a timeout. Resolves with the exit code. */
  async stop(): Promise<number | string> {
    this.kill('SIGTERM');
    const timer = setTimeout(() => this.kill('SIGKILL'), endWithinMs);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }
}

export interface Joined {
  readonly uuid: string;
  readonly agent: AgentProcess;
  readonly greeting: MessageOf<'enrol'> | MessageOf<'hello'>;
}

/** Everything a test has started, to be ended with it. */
export class Bench {
  readonly #agents: AgentProcess[] = [];
  readonly #folders: string[] = [];

  async folder(): Promise<string> {
    const folder = await createDataDir();
    this.#folders.push(folder);
    return folder;
  }

  run(dataDir: string, args: readonly string[]): AgentProcess {
    const agent = new AgentProcess(dataDir, args);
    this.#agents.push(agent);
    return agent;
  }

  /** Starts an agent with a fresh token, or without one in a folder where an agent was before. */
  async join(server: ProtocolServer, dataDir?: string, args: readonly string[] = []): Promise<Joined> {
    const after = server.heard.length;
    const folder = dataDir ?? (await this.folder());
    const token = dataDir === undefined ? ['--token', server.createToken(), '--name', folder] : [];
    const agent = this.run(folder, ['--controller', server.url, ...token, ...args]);
    const greeting = await Promise.race([
      dataDir === undefined
        ? server.until({ type: 'enrol', after, fits: ({ name }) => name === folder })
        : server.until({ type: 'hello', after, uuid: await uuidIn(dataDir) }),
      agent.exited.then((code) => Promise.reject(new Error(`the agent ended with ${code}:\n${agent.output}`))),
    ]);
    const uuid = await uuidIn(folder);
    await server.until({ type: 'heartbeat', uuid, after });
    return { uuid, agent, greeting };
  }

  /** Ends all agents, including restarted ones. */
  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    for (const folder of this.#folders) {
      await endProcessesOf(folder);
      await rm(folder, { recursive: true, force: true });
    }
    this.#agents.length = 0;
    this.#folders.length = 0;
  }
}

/** Ends what runs with this data folder: an agent that starts again is another process. */
export const endProcessesOf = async (dataDir: string): Promise<void> => {
  // One of them may be about to start the version before an upgrade again.
  for (let pids = processesOf(dataDir); pids.length > 0; pids = processesOf(dataDir)) {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await sleep(20);
  }
};

/** Processes that were started with this data folder. */
const processesOf = (dataDir: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(dataDir) ? [Number(name)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });

const uuidIn = async (dataDir: string): Promise<string> =>
  (JSON.parse(await readFile(join(dataDir, 'identity.json'), 'utf8')) as { uuid: string }).uuid;

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
