import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

// Routes of ours carry this protocol number, and as metric the process that made them with a number of its own choice.
// So several claims to one network live side by side, other agents are left alone, and what a killed one left is found.
const protocol = '213';
const claimsPerProcess = 1024;
const ip = (version: 4 | 6, ...args: string[]) => run('ip', [`-${version}`, ...args]);

/** Makes every address of a network this machine's own, without configuring each. Returns the way back. */
export const addLocalRoute = async (cidr: string, version: 4 | 6): Promise<() => Promise<void>> => {
  const metric = process.pid * claimsPerProcess + randomInt(claimsPerProcess);
  const route = ['local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', String(metric)];
  await ip(version, 'route', 'add', ...route);
  return async () => {
    await ip(version, 'route', 'del', ...route).catch(() => {});
  };
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Removes what agents that no longer live have left behind. Says how many routes that were. */
export const sweepLocalRoutes = async (): Promise<number> => {
  let swept = 0;
  for (const version of [4, 6] as const) {
    const list = ip(version, 'route', 'show', 'table', 'local', 'proto', protocol);
    const { stdout } = await list.catch(() => ({ stdout: '' }));
    for (const line of stdout.split('\n')) {
      const [, cidr, metric] = /^local (\S+) .*\bmetric (\d+)/.exec(line) ?? [];
      if (cidr === undefined || metric === undefined) continue;
      if (isAlive(Math.floor(Number(metric) / claimsPerProcess))) continue;
      await ip(version, 'route', 'del', 'local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', metric);
      swept++;
    }
  }
  return swept;
};
