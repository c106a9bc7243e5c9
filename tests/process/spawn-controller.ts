import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programAt } from './program.ts';

export interface Spawned {
  process: ChildProcess;
  url: string;
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | string>;
  kill(signal: NodeJS.Signals): Promise<number | string>;
}

/** Starts the controller in its own process, as a user does, and waits for its ready line. */
export const spawnController = async (
  env: Record<string, string>,
  { core, uid }: { core?: number; uid?: number } = {},
): Promise<Spawned> => {
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [program = '', ...args] = [...pinned, process.execPath, programAt('packages/controller/src/main.ts')];
  const child = spawn(program, args, {
    ...(uid !== undefined && { uid, gid: uid }),
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: join(tmpdir(), 'rushhour-compile-cache'),
      RUSHHOUR_PORT: '0',
      RUSHHOUR_LOG_LEVEL: 'error',
      RUSHHOUR_LOCAL_AGENTS: '0',
      RUSHHOUR_ALLOW_HTTP: 'true',
      RUSHHOUR_LIBRARY: 'off',
      ...env,
    },
  });
  let output = '';
  const ended = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? '')),
  );
  const url = await new Promise<string>((resolve, reject) => {
    const onText = (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /ready at (\S+)/.exec(output)?.[1];
      if (ready) resolve(ready);
    };
    child.stdout?.on('data', onText);
    child.stderr?.on('data', onText);
    void ended.then((how) => reject(new Error(`ended with ${how}: ${output}`)));
  });
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return { process: child, url, output: () => output, ended, kill };
};
