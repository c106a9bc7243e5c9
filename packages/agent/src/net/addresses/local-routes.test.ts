import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { addLocalRoute, liveRouteOwners, routeOwnerId, sweepLocalRoutes } from './local-routes.ts';

const routes = () => execFileSync('ip', ['route', 'show', 'table', 'local'], { encoding: 'utf8' });

/** A process that claims a network and then does nothing. Says its number. */
const startClaimant = async (cidr: string) => {
  const file = (name: string) => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)));
  const script = `
    const { addLocalRoute } = await import(${file('local-routes.ts')});
    const { routeOwnerId } = await import(${file('local-routes.ts')});
    await addLocalRoute('${cidr}', 4);
    console.log(await routeOwnerId());
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async () => {
    if (child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return { number: Number(output.toString()), kill };
};

it('an owner id is stable and unique while its process runs', async () => {
  const number = await routeOwnerId();
  expect(await routeOwnerId()).toBe(number);
  expect(await liveRouteOwners()).toContain(number);
});

it('routes of a killed process are removed, those of running processes and of others are not', async () => {
  const [killed, running] = [await startClaimant('10.213.30.0/24'), await startClaimant('10.213.31.0/24')];
  const release = await addLocalRoute('10.213.32.0/24', 4);
  const foreign = ['local', '10.213.33.0/24', 'dev', 'lo', 'metric', '5'];
  execFileSync('ip', ['route', 'add', ...foreign]);
  try {
    expect(killed.number).not.toBe(running.number);
    await killed.kill();
    expect(await liveRouteOwners()).not.toContain(killed.number);
    expect(routes()).toContain('10.213.30.0/24');
    expect(await sweepLocalRoutes()).toBeGreaterThanOrEqual(1);
    expect(routes()).not.toContain('10.213.30.0/24');
    for (const kept of ['10.213.31.0/24', '10.213.32.0/24', '10.213.33.0/24']) expect(routes()).toContain(kept);
    await running.kill();
    await sweepLocalRoutes();
    expect(routes()).not.toContain('10.213.31.0/24');
  } finally {
    for (const claimant of [killed, running]) await claimant.kill();
    await release();
    execFileSync('ip', ['route', 'del', ...foreign]);
  }
});
