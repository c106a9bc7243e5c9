import { type ChildProcess, spawn } from 'node:child_process';
import { onParentExit } from '../process/parent-watch.ts';
import { agentVersion } from '../version.ts';
import type { Current, Versions } from './versions.ts';

/** Exit code that requests a restart. */
export const restartCode = 75;

export interface LaunchOptions {
  readonly versions: Versions;
  readonly args: readonly string[];
  readonly endsWithParent: boolean;
  /** Time for a new version to reach the controller. */
  readonly trialMs?: number;
  /** Runs the agent in this process. */
  readonly runHere: () => Promise<number>;
}

const killAfterMs = 20_000;

const stop = (child: ChildProcess): void => {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.once('exit', () => clearTimeout(timer));
};

/** Forwards signals and the exit of the parent. */
const forwardEnd = (child: ChildProcess, endsWithParent: boolean): (() => boolean) => {
  let isEnding = false;
  const end = () => {
    isEnding = true;
    stop(child);
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  const unwatch = endsWithParent ? onParentExit(end) : () => {};
  child.once('exit', () => {
    process.off('SIGTERM', end).off('SIGINT', end);
    unwatch();
  });
  return () => isEnding;
};

/** Runs an installed version as a child process. Resolves with its exit code, or why the trial failed. */
const runVersion = async (current: Current, options: LaunchOptions): Promise<number | { failure: string }> => {
  const { versions, args, trialMs = 60_000 } = options;
  const child = spawn(process.execPath, [versions.mainOf(current.version), ...args, '--exit-with-parent'], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const isEnding = forwardEnd(child, options.endsWithParent);
  let failure = 'it ended before it reached the controller';
  let isTrial = current.isTrial;
  child.on('message', () => {
    isTrial = false;
    if (process.connected) process.send?.({ type: 'connected' });
  });
  const timer = setTimeout(() => {
    if (!isTrial) return;
    failure = `it did not reach the controller within ${trialMs / 1000} s`;
    stop(child);
  }, trialMs);
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (exitCode) => resolve(exitCode ?? 1)).once('error', () => resolve(1));
  });
  clearTimeout(timer);
  return isTrial && !isEnding() ? { failure } : code;
};

/** Runs the version in use: the one this process was started from, or an installed one. */
export const launch = async (options: LaunchOptions): Promise<number> => {
  const { versions, runHere } = options;
  for (;;) {
    const current = versions.isInstalled ? undefined : await versions.current();
    if (current === undefined || current.base !== agentVersion) return runHere();
    const result = await runVersion(current, options);
    if (typeof result === 'object') await versions.giveUp(current, result.failure);
    else if (result !== restartCode) return result;
  }
};
