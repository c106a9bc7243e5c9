import { execFileSync } from 'node:child_process';
import type { PlaneCommand, Summary } from '@rushhour/protocol';
import { programAt } from '../process/program.ts';
import type { JobOptions, Totals } from './job.ts';
import { inside, startJobChild } from './job-child.ts';
import { execute, requireProgram } from './programs.ts';

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** One end of the cable. */
export interface Side {
  readonly namespace: string;
  readonly device: string;
  readonly address: string;
  /** Runs a program in the namespace and returns its stdout. */
  run(program: string, ...args: string[]): string;
}

export interface Cable {
  readonly left: Side;
  readonly right: Side;
  remove(): void;
}

let count = 0;

/** The kernel reports a link as up with a delay, and lists no addresses before. */
const untilUp = (side: Side): void => {
  const deadline = Date.now() + 60_000;
  while (side.run('cat', `/sys/class/net/${side.device}/operstate`).trim() !== 'up') {
    if (Date.now() > deadline) throw new Error(`the link of ${side.device} does not come up`);
  }
};

/** Two network namespaces joined by a veth pair. Always remove it at the end. */
export const createCable = (): Cable => {
  for (const program of ['ip', 'nft', 'tc']) requireProgram(program);
  const id = `rh${process.pid}x${count++}`;
  const sides = ['l', 'r'].map((end, index): Side => {
    const namespace = `${id}${end}`;
    return {
      namespace,
      device: `${end}0`,
      address: `10.99.0.${index + 1}`,
      run: (program, ...args) =>
        execFileSync('ip', ['netns', 'exec', namespace, program, ...args], { encoding: 'utf8', timeout: 120_000 }),
    };
  });
  const [left, right] = sides as [Side, Side];
  const remove = () => {
    for (const { namespace } of sides) {
      try {
        ip('netns', 'del', namespace);
      } catch {
        // It was never created.
      }
    }
  };
  try {
    for (const { namespace } of sides) ip('netns', 'add', namespace);
    ip(
      'link',
      'add',
      left.device,
      'netns',
      left.namespace,
      'type',
      'veth',
      'peer',
      right.device,
      'netns',
      right.namespace,
    );
    for (const { namespace, device, address } of sides) {
      ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', device);
      ip('-n', namespace, 'link', 'set', 'lo', 'up');
      ip('-n', namespace, 'link', 'set', device, 'up');
    }
    for (const side of sides) untilUp(side);
  } catch (error) {
    remove();
    throw error;
  }
  return { left, right, remove };
};

/** Runs a script of the repository in the left namespace, with the controller and one agent; returns its last line as JSON. */
export const runScenario = async ({ left, right }: Cable, script: string, ...more: string[]) => {
  const [program = '', ...args] = [
    ...inside(left),
    process.execPath,
    programAt(script),
    left.address,
    right.namespace,
    ...more,
  ];
  const { stdout } = await execute(program, args, { timeout: 280_000, maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};

export interface JobProcess {
  readonly totals: Promise<Totals>;
  /** Summaries since the first command, of a job that is watched from its start. */
  readonly summaries: readonly Summary[];
  /** Gives the plane of the job a command. */
  command(command: PlaneCommand): void;
  /** Halts the process of the job, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<Totals>;
}

/** The link-local address that the kernel has given the device itself. */
export const linkLocalOf = ({ device, run }: Side): string => {
  const [, address = ''] = /inet6 (fe80::[0-9a-f:]+)/.exec(run('ip', '-6', 'addr', 'show', 'dev', device)) ?? [];
  return address;
};

/** Starts a job in a namespace, wrapped by the programs in `behind`; resolves once it is started. */
export const startJobIn = (side: Side, options: JobOptions, behind: readonly string[] = []): Promise<JobProcess> =>
  startJobProcess(options, [...inside(side), ...behind]);

/** Starts a job in its own process. The totals reject when the job fails. */
export const startJobProcess = async (options: JobOptions, behind: readonly string[] = []): Promise<JobProcess> => {
  const started = await startJobChild('job-process.ts', options, behind);
  const totals = started.totals.then((all) => {
    if (all.outcome.error !== undefined) throw new Error(all.outcome.error);
    return all;
  });
  totals.catch(() => {});
  return {
    totals,
    summaries: started.summaries,
    command(command) {
      started.child.stdin.write(`${JSON.stringify(command)}\n`);
    },
    signal: (signal) => started.child.kill(signal),
    stop() {
      started.child.stdin.end();
      return totals;
    },
  };
};

export const runJobIn = async (side: Side, options: JobOptions): Promise<Totals> =>
  (await startJobIn(side, options)).totals;

/** Bytes and packets an interface has sent or received. */
export const deviceCounter = (side: Side, counter: 'tx_bytes' | 'rx_bytes' | 'tx_packets' | 'rx_packets'): number =>
  Number(side.run('cat', `/sys/class/net/${side.device}/statistics/${counter}`));
