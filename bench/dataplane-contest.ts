import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { engineFlags } from '@rushhour/agent';
import type { Row } from './report.ts';

const execute = promisify(execFile);
const defaultRounds = Number(process.env['RUSHHOUR_BENCH_ROUNDS'] ?? 5);
export const seconds = Number(process.env['RUSHHOUR_BENCH_SECONDS'] ?? 3);
/** V8 compiles for some seconds, on the core that generates the traffic. */
export const warmUpSec = 4;
const [generatorCore, serverCore] = ['0', '1'];

/** Generators that do the same work in alternating rounds; the best round of each counts. */
export interface Contest {
  readonly name: string;
  /** Which of two amounts is better; the higher by default. */
  readonly better?: 'lower';
  /** Where one run is long. */
  readonly rounds?: number;
  prepare(): Promise<{
    /** Each returns its rate per second, or another amount to compare. */
    readonly contenders: Readonly<Record<string, () => Promise<number>>>;
    close(): Promise<void>;
  }>;
  readonly goals: readonly {
    readonly of: string;
    /** Another contender, or an amount that is the unit of the goal. */
    readonly to: string | number;
    readonly goal: number;
  }[];
}

/** A program on the core of the generators. */
export const generate = async (program: string, ...args: string[]): Promise<string> =>
  (await execute('taskset', ['-c', generatorCore, program, ...args], { maxBuffer: 1e8 })).stdout;

/** A program on the core of the servers. */
export const answer = (program: string, ...args: string[]): ChildProcess =>
  spawn('taskset', ['-c', serverCore, program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });

export const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
};

export const untilListening = async (port: number): Promise<void> => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect({ port, host: '127.0.0.1' });
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`nothing listens on ${port}`);
};

/** The program that runs one job, started like the run process of an agent. */
export const jobProgram = [
  process.execPath,
  ...engineFlags,
  fileURLToPath(new URL('./dataplane-job.ts', import.meta.url)),
] as const;
const jobArgument = (engine: string, config: object, length: number) =>
  JSON.stringify({ engine, config, seconds: length });

/** Runs one of our engines as generator; returns a metric per second. */
export const generateJob = async (engine: string, config: object, metric: string): Promise<number> => {
  const argument = jobArgument(engine, { role: 'client', ...config }, seconds);
  const text = await generate(...jobProgram, argument);
  const counted = JSON.parse(text.trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
  return counted[metric] ?? 0;
};

/** Starts one of our engines as server; resolves once it listens. */
export const answerJob = async (engine: string, config: object): Promise<ChildProcess> => {
  const child = answer(...jobProgram, jobArgument(engine, { role: 'server', ...config }, 86_400));
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
};

/** Runs a contest and returns its rows. */
export const hold = async ({ name, better, rounds = defaultRounds, prepare, goals }: Contest): Promise<Row[]> => {
  const best: Record<string, number> = {};
  const choose = better === 'lower' ? Math.min : Math.max;
  const { contenders, close } = await prepare();
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const [contender, run] of Object.entries(contenders)) {
        const amount = await run();
        best[contender] = choose(best[contender] ?? amount, amount);
        console.log(
          `round ${round} ${name} ${contender} ${amount < 1000 ? amount.toPrecision(4) : Math.round(amount)}`,
        );
      }
    }
  } finally {
    await close();
  }
  return goals.map(({ of, to, goal }) => ({
    name: typeof to === 'number' ? `${name}-${of}` : `${name}-${of}-vs-${to}`,
    value: (best[of] ?? Number.NaN) / (typeof to === 'number' ? to : (best[to] ?? Number.NaN)),
    goal,
    ...(better && { better }),
  }));
};
