import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram, stopProcess } from '../engines/programs.ts';

const folderOfDaemons = '/usr/lib/frr';

export interface Frr {
  /** Output of a command of vtysh. */
  show(command: string): Promise<string>;
  json(command: string): Promise<unknown>;
  configure(...lines: string[]): Promise<void>;
  /** Ends a daemon at once, as a fault would. */
  kill(daemon: string): Promise<void>;
  /** Starts a daemon again, with another configuration. */
  start(daemon: string, config: string): Promise<void>;
  stop(): Promise<void>;
}

const kill = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

/** FRR with zebra and the given daemons in a namespace. */
export const startFrr = async (side: Side, daemons: readonly string[], config: string): Promise<Frr> => {
  requireProgram('vtysh');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-frr-'));
  const children = new Map<string, ChildProcess>();
  const all = ['zebra', ...daemons];
  const write = (daemon: string, own: string) =>
    writeFileSync(join(folder, `${daemon}.conf`), `hostname frr\nlog file ${folder}/${daemon}.log\n${own}\n`);
  for (const daemon of all) write(daemon, daemon === 'zebra' ? '' : config);
  // The daemons run as the user of the package.
  execFileSync('chown', ['-R', 'frr:frr', folder]);
  const stop = async () => {
    await Promise.all([...children.values()].map(stopProcess));
    rmSync(folder, { recursive: true, force: true });
  };
  onTestFinished(stop);
  const vtysh = async (...commands: string[]): Promise<string> => {
    const args = ['--vty_socket', folder, ...commands.flatMap((command) => ['-c', command])];
    const [program = '', ...before] = inside(side);
    const { stdout } = await execute(program, [...before, 'vtysh', ...args], { maxBuffer: 1 << 30 });
    return stdout;
  };
  const start = async (daemon: string) => {
    const files = ['-f', `${folder}/${daemon}.conf`, '-i', `${folder}/${daemon}.pid`, '-z', `${folder}/zserv.api`];
    const rights = ['-A', '127.0.0.1', '--vty_socket', folder];
    const [program = '', ...before] = inside(side);
    const child = spawn(program, [...before, `${folderOfDaemons}/${daemon}`, ...files, ...rights], { stdio: 'ignore' });
    children.set(daemon, child);
    await expect.poll(() => vtysh('show version').catch(() => ''), { interval: 50 }).toContain('FRRouting');
  };
  for (const daemon of all) await start(daemon);
  await expect.poll(() => vtysh('show daemons'), { interval: 50 }).toContain(all.at(-1) as string);
  return {
    show: (command) => vtysh(command),
    json: async (command) => JSON.parse(await vtysh(command)),
    configure: async (...lines) => {
      await vtysh('configure terminal', ...lines);
    },
    kill: (daemon) => kill(children.get(daemon) as ChildProcess),
    start: async (daemon, own) => {
      write(daemon, own);
      await start(daemon);
    },
    stop,
  };
};
