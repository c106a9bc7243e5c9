import type { Job } from '@rushhour/protocol';
import type { Problem } from '../runs/child/child-messages.ts';
import { RunChild } from '../runs/supervisor/run-child.ts';

const patienceMs = 20_000;
const silenceMs = 60_000;

/** What the kernel calls the reasons why a socket cannot be opened, in words of ours. */
const codeNames: Record<string, string> = {
  EADDRINUSE: 'PORT_IN_USE',
  EADDRNOTAVAIL: 'ADDRESS_NOT_AVAILABLE',
  EACCES: 'NOT_PERMITTED',
  EPERM: 'NOT_PERMITTED',
  ENOTFOUND: 'NAME_NOT_FOUND',
  EAI_AGAIN: 'NAME_NOT_FOUND',
};

const ofAll = (jobs: readonly Job[], code: string, message: string): Problem[] =>
  jobs.map((_, jobIndex) => ({ order: jobIndex, code, message }));

/**
 * Prepares all jobs in a process of their own, as a run would, and ends them before anything is sent.
 * When it resolves everything is closed again.
 */
export const rehearse = async (
  jobs: readonly Job[],
  files: ReadonlyMap<string, string>,
  cacheFolder: string,
): Promise<readonly Problem[]> => {
  const exited = Promise.withResolvers<void>();
  let problems: readonly Problem[] | undefined;
  const child = new RunChild(cacheFolder, {
    message: (message) => {
      if (message.type === 'prepareFailed') problems = message.problems;
      if (message.type !== 'prepared') return;
      problems = [];
      child.send({ type: 'stop', mode: 'abort', orders: [...jobs.keys()] });
    },
    line: () => {},
    exited: (how) => {
      problems ??= ofAll(jobs, 'ENGINE_CRASHED', how);
      exited.resolve();
    },
  });
  const timer = setTimeout(() => {
    problems ??= ofAll(jobs, 'TIMEOUT', `not prepared within ${patienceMs / 1000} s`);
    child.kill();
  }, patienceMs);
  child.send({ type: 'prepare', orders: jobs, files, silenceMs, isCaptured: false });
  await exited.promise;
  clearTimeout(timer);
  return (problems ?? []).map((problem) => ({ ...problem, code: codeNames[problem.code] ?? problem.code }));
};
