import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { inside } from '../engines/job-child.ts';
import type { Side } from '../engines/namespaces.ts';
import { execute, requireProgram, stopProcess } from '../engines/programs.ts';

export interface Bird {
  /** Output of a command of birdc. */
  show(command: string): Promise<string>;
}

/** BIRD in a namespace; it leaves the routes of the kernel alone. */
export const startBird = async (side: Side, config: string): Promise<Bird> => {
  requireProgram('bird');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-bird-'));
  writeFileSync(join(folder, 'bird.conf'), `protocol device {}\n${config}\n`);
  const [program = '', ...before] = inside(side);
  const files = ['-f', '-c', join(folder, 'bird.conf'), '-s', join(folder, 'ctl'), '-P', join(folder, 'pid')];
  const child = spawn(program, [...before, 'bird', ...files], { stdio: 'ignore' });
  onTestFinished(async () => {
    await stopProcess(child);
    rmSync(folder, { recursive: true, force: true });
  });
  const show = async (command: string): Promise<string> => {
    const { stdout } = await execute('birdc', ['-s', join(folder, 'ctl'), ...command.split(' ')], {
      maxBuffer: 1 << 30,
    });
    return stdout;
  };
  await expect.poll(() => show('show status').catch(() => ''), { interval: 50 }).toContain('up and running');
  return { show };
};
