import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { livingOwners, ownerNumber } from './route-owners.ts';

const run = promisify(execFile);

// Routes of ours carry this protocol number, and as metric their owner with a number of its own choice.
// So several claims to one network live side by side, other agents are left alone, and what a killed one left is found.
const protocol = '213';
const claimsPerOwner = 1024;
const ip = (version: 4 | 6, ...args: string[]) => run('ip', [`-${version}`, ...args]);

/** Makes every address of a network this machine's own, without configuring each. Returns the way back. */
export const addLocalRoute = async (cidr: string, version: 4 | 6): Promise<() => Promise<void>> => {
  const metric = (await ownerNumber()) * claimsPerOwner + randomInt(claimsPerOwner);
  const route = ['local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', String(metric)];
  await ip(version, 'route', 'add', ...route);
  return async () => {
    await ip(version, 'route', 'del', ...route).catch(() => {});
  };
};

/** Removes what agents that no longer live have left behind. Says how many routes that were. */
export const sweepLocalRoutes = async (): Promise<number> => {
  if (process.platform !== 'linux') return 0;
  let swept = 0;
  for (const version of [4, 6] as const) {
    const list = ip(version, 'route', 'show', 'table', 'local', 'proto', protocol);
    const { stdout } = await list.catch(() => ({ stdout: '' }));
    if (stdout === '') continue;
    // Asked after the routes: whoever made one of them was there before it.
    const living = await livingOwners();
    for (const line of stdout.split('\n')) {
      const [, cidr, metric] = /^local (\S+) .*\bmetric (\d+)/.exec(line) ?? [];
      if (cidr === undefined || metric === undefined) continue;
      if (living.has(Math.floor(Number(metric) / claimsPerOwner))) continue;
      const route = ['local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', metric];
      // Another agent may sweep at the same time.
      await ip(version, 'route', 'del', ...route).then(
        () => swept++,
        () => {},
      );
    }
  }
  return swept;
};
