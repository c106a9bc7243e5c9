import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Side } from '../tests/engines/namespaces.ts';

const execute = promisify(execFile);
const outputBytes = 1 << 30;
const startMs = 60_000;

const running = new Set<Program>();

/** A program in a namespace, with a folder of its own. */
export class Program {
  readonly folder = mkdtempSync(join(tmpdir(), 'rushhour-bench-'));
  readonly #side: Side;
  readonly #children: ChildProcess[] = [];

  constructor(side: Side) {
    this.#side = side;
    running.add(this);
  }

  start(program: string, ...args: string[]): ChildProcess {
    const child = spawn('ip', ['netns', 'exec', this.#side.namespace, program, ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin?.on('error', () => {});
    child.stdout?.resume();
    this.#children.push(child);
    return child;
  }

  async run(program: string, ...args: string[]): Promise<string> {
    const all = ['netns', 'exec', this.#side.namespace, program, ...args];
    return (await execute('ip', all, { maxBuffer: outputBytes })).stdout;
  }

  /** Memory of a child in MiB: the most it has had, or what it has now. */
  memoryMib(child: ChildProcess, kind: 'VmHWM' | 'VmRSS'): number {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  }

  async stop(): Promise<void> {
    running.delete(this);
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      const ended = once(child, 'exit');
      if (!(await Promise.race([ended.then(() => true), sleep(5000).then(() => false)]))) child.kill('SIGKILL');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const stopAll = async (): Promise<void> => {
  for (const program of [...running]) await program.stop();
};

/** Looks until it is so and returns the time. */
export const until = async (
  what: string,
  isSo: () => Promise<boolean>,
  timeoutMs = 240_000,
  pauseMs = 20,
): Promise<number> => {
  const deadline = performance.now() + timeoutMs;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1000} s`);
    await sleep(pauseMs);
  }
  return performance.now();
};

/** What receives routes. */
export interface Receiver {
  isUp(): Promise<boolean>;
  routes(): Promise<number>;
  stop(): Promise<void>;
}

export interface Frr extends Receiver {
  /** Output of a command of vtysh. */
  show(command: string): Promise<string>;
  json(command: string): Promise<unknown>;
}

/** FRR with zebra, which gets no routes of BGP, and daemons with one configuration. */
export const startFrr = async (side: Side, daemons: readonly string[], config: string): Promise<Frr> => {
  const program = new Program(side);
  const { folder } = program;
  for (const daemon of ['zebra', ...daemons])
    writeFileSync(join(folder, `${daemon}.conf`), daemon === 'zebra' ? '' : `${config}\n`);
  execFileSync('chown', ['-R', 'frr:frr', folder]);
  const show = (command: string) => program.run('vtysh', '--vty_socket', folder, '-c', command);
  const json = async (command: string): Promise<unknown> => JSON.parse(await show(command));
  for (const daemon of ['zebra', ...daemons]) {
    const files = ['-f', `${folder}/${daemon}.conf`, '-i', `${folder}/${daemon}.pid`, '-z', `${folder}/zserv.api`];
    const more = daemon === 'bgpd' ? ['-n'] : [];
    program.start(`/usr/lib/frr/${daemon}`, ...files, ...more, '-A', '127.0.0.1', '--vty_socket', folder);
    const isThere = async () =>
      (await program.run('vtysh', '--vty_socket', folder, '-c', 'show daemons')).includes(daemon);
    await until(daemon, isThere, startMs);
  }
  const peer = async () => {
    const summary = (await json('show bgp ipv4 unicast summary json')) as {
      peers: Record<string, { state: string; pfxRcd: number }>;
    };
    return Object.values(summary.peers)[0];
  };
  return {
    show,
    json,
    isUp: async () => (await peer())?.state === 'Established',
    routes: async () => (await peer())?.pfxRcd ?? 0,
    stop: () => program.stop(),
  };
};

export interface Bird extends Receiver {
  show(command: string): Promise<string>;
}

/** BIRD, which leaves the routes of the kernel alone. */
export const startBird = async (side: Side, config: string): Promise<Bird> => {
  const program = new Program(side);
  const control = join(program.folder, 'ctl');
  writeFileSync(join(program.folder, 'bird.conf'), `protocol device {}\n${config}\n`);
  program.start('bird', '-f', '-c', join(program.folder, 'bird.conf'), '-s', control);
  const show = (command: string) => program.run('birdc', '-s', control, ...command.split(' '));
  await until('bird', async () => (await show('show status')).includes('up and running'), startMs);
  return {
    show,
    isUp: async () => (await show('show protocols')).includes('Established'),
    routes: async () => {
      const counts = (await show('show route count table all')).matchAll(/(\d+) of \d+ routes for .* in table/g);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    },
    stop: () => program.stop(),
  };
};

/** One of our jobs in a process of its own. */
export interface OwnJob {
  memoryMib(kind: 'VmHWM' | 'VmRSS'): number;
  /** Ends the job and returns its totals. */
  stop(): Promise<{ readonly flaps: number; readonly sessionsUp: number }>;
}

export const startOwn = async (side: Side, config: object): Promise<OwnJob> => {
  const program = new Program(side);
  const file = join(program.folder, 'job.json');
  writeFileSync(file, JSON.stringify({ engine: 'plane.control', config, duration: { mode: 'continuous' } }));
  const child = program.start(process.execPath, join(import.meta.dirname, 'control-job.ts'), file);
  let text = '';
  child.stdout?.on('data', (bytes) => {
    text += bytes;
  });
  const isStarted = async () => {
    if (child.exitCode !== null) throw new Error(`the job has ended: ${text}`);
    return text.includes('started');
  };
  await until('the job', isStarted, startMs);
  return {
    memoryMib: (kind) => program.memoryMib(child, kind),
    stop: async () => {
      const ended = once(child, 'exit');
      child.stdin?.end();
      await ended;
      await program.stop();
      return JSON.parse(text.slice(text.indexOf('{')));
    },
  };
};
