import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';

const program = fileURLToPath(new URL('../../agent/src/main.ts', import.meta.url));
/** How an agent says that it wants to be started again. */
const startAgainCode = 75;
const firstDelayMs = 500;
const longestDelayMs = 30_000;

interface LocalAgentsOptions {
  readonly count: number;
  readonly url: string;
  readonly fingerprint: string | undefined;
  readonly dataDir: string;
  readonly log: Logger;
  /** A fresh token: an agent whose enrolment is known does not use it. */
  newToken(name: string): Promise<string>;
}

/** Agents on this machine, each a process of its own, so that a newcomer has a client and a server at once. */
export const startLocalAgents = ({ count, url, fingerprint, dataDir, log, newToken }: LocalAgentsOptions) => {
  const children = new Map<string, ChildProcess>();
  let isStopping = false;

  const run = async (name: string, delayMs: number): Promise<void> => {
    const token = await newToken(name);
    if (isStopping) return;
    const folder = join(dataDir, 'agents', name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const pinned = fingerprint === undefined ? [] : ['--fingerprint', fingerprint];
    const args = ['--controller', url, '--name', name, '--data-dir', folder, '--exit-with-parent', ...pinned];
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, RUSHHOUR_JOIN_TOKEN: token },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    children.set(name, child);
    const startedAt = Date.now();
    child.once('exit', (code, signal) => {
      children.delete(name);
      if (isStopping) return;
      const isSteady = Date.now() - startedAt > longestDelayMs;
      const next = isSteady || code === startAgainCode ? firstDelayMs : Math.min(delayMs * 2, longestDelayMs);
      log.warn({ agent: name, code, signal, againInMs: next }, 'a local agent ended');
      setTimeout(() => begin(name, next), next).unref();
    });
  };
  const begin = (name: string, delayMs: number) => {
    if (isStopping) return;
    run(name, delayMs).catch((error) => log.error({ err: error, agent: name }, 'a local agent could not be started'));
  };

  for (let i = 0; i < count; i += 1) begin(nameOf(i), firstDelayMs);
  return {
    close: async () => {
      isStopping = true;
      const ended = [...children.values()].map(
        (child) => new Promise<void>((resolve) => void child.once('exit', () => resolve())),
      );
      for (const child of children.values()) child.kill('SIGTERM');
      await Promise.all(ended);
    },
  };
};

const nameOf = (i: number) => ['local-client', 'local-server'][i] ?? `local-${i + 1}`;
