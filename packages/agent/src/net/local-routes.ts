import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

// Routes of ours carry this protocol number, and the process that made them as metric, so that
// another agent on the same machine is left alone and what a killed one left behind is found.
const protocol = '213';
const ip = (version: 4 | 6, ...args: string[]) => run('ip', [`-${version}`, ...args]);

/** Makes every address of a network this machine's own, without configuring each. Returns the way back. */
export const addLocalRoute = async (cidr: string, version: 4 | 6): Promise<() => Promise<void>> => {
  const route = ['local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', String(process.pid)];
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
    const { stdout } = await ip(version, 'route', 'show', 'table', 'local', 'proto', protocol).catch(() => ({
      stdout: '',
    }));
    for (const line of stdout.split('\n')) {
      const [, cidr, metric] = /^local (\S+) .*\bmetric (\d+)/.exec(line) ?? [];
      if (cidr === undefined || isAlive(Number(metric))) continue;
      await ip(version, 'route', 'del', 'local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', metric as string);
      swept++;
    }
  }
  return swept;
};
