import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Outcome } from '@rushhour/agent';
import type { Summary } from '@rushhour/protocol';
import { engineFlags } from '../../packages/agent/src/runs/supervisor/run-child.ts';
import { programAt } from '../process/program.ts';
import { type Totals, totalsOf } from './job.ts';

interface JobChild {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Its result; rejects when it printed none. */
  readonly totals: Promise<Totals>;
  /** Summaries that it has printed as they came. */
  readonly summaries: Summary[];
}

const summaryMark = 'summary ';

/**
 * Runs a script of this folder with a job, in a process like that of an agent, started by the programs in `behind`;
 * resolves at its first line or its end.
 */
export const startJobChild = async (script: string, job: object, behind: readonly string[]): Promise<JobChild> => {
  const [program = '', ...args] = [
    ...behind,
    process.execPath,
    ...engineFlags,
    programAt(`tests/engines/${script}`),
    JSON.stringify(job),
  ];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  // A failed child no longer reads; its totals hold the reason.
  child.stdin.on('error', () => {});
  let answer = '';
  const summaries: Summary[] = [];
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('{')) answer = line;
    else if (line.startsWith(summaryMark)) summaries.push(JSON.parse(line.slice(summaryMark.length)));
    resolve();
  });
  const totals = new Promise<Totals>((done, fail) => {
    child.on('close', () => {
      resolve();
      try {
        const { outcome, summaries } = JSON.parse(answer) as { outcome: Outcome; summaries: Summary[] };
        done(totalsOf(outcome, summaries));
      } catch (cause) {
        fail(new Error(`the job printed no result: ${behind.join(' ')}`, { cause }));
      }
    });
  });
  totals.catch(() => {});
  await heard;
  return { child, totals, summaries };
};

/** The command that runs a program in a namespace. */
export const inside = ({ namespace }: { readonly namespace: string }): string[] => ['ip', 'netns', 'exec', namespace];
