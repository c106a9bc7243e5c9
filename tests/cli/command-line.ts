import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../packages/cli/src/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** Called with the output so far; may end the program. */
  readonly onOutput?: (stdout: string, kill: (signal: NodeJS.Signals) => void) => void;
  /** Runs beside the program. */
  readonly onStart?: () => Promise<void>;
}

/** The command line as people call it: one process for each command, with its own configuration and a shared cache. */
export const commandLine = (common: Readonly<Record<string, string>> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-cli-'));
  const environment = {
    PATH: process.env['PATH'] ?? '',
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: join(tmpdir(), 'rushhour-cli-cache'),
    ...common,
  };
  const call = (args: readonly string[], { env = {}, input = '', cwd = folder, onOutput, onStart }: CallOptions = {}) =>
    new Promise<Ended>((resolve) => {
      const child = spawn(process.execPath, [program, ...args], { env: { ...environment, ...env }, cwd });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
        onOutput?.(stdout, (signal) => child.kill(signal));
      });
      child.stderr.on('data', (chunk) => (stderr += chunk));
      child.on('close', (code) => resolve({ code, stdout, stderr }));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      void onStart?.();
    });
  return { call, folder, program, environment, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
