import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimFolder } from './instance-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rushhour-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

const program = (dataDir: string) => `
  const { claimFolder } = await import(${JSON.stringify(new URL('./instance-lock.ts', import.meta.url).href)});
  await claimFolder(${JSON.stringify(dataDir)});
  console.log('claimed');
  setInterval(() => {}, 1000);`;

describe('claim to a data folder', () => {
  it('is exclusive and can be released, however long the path', async () => {
    const long = join(folder, 'x'.repeat(120));
    await mkdir(long);
    for (const dataDir of [folder, long]) {
      const release = await claimFolder(dataDir);
      await expect(claimFolder(dataDir, 150)).rejects.toThrow('another agent uses');
      const waiting = claimFolder(dataDir, 3000);
      await release();
      await (await waiting)();
    }
  });

  it('ends with its process, also when that is killed', async () => {
    const holder = spawn(process.execPath, ['--input-type=module', '-e', program(folder)], { stdio: 'pipe' });
    await once(holder.stdout, 'data');
    await expect(claimFolder(folder, 150)).rejects.toThrow('another agent uses');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await (await claimFolder(folder, 150))();
  });
});
