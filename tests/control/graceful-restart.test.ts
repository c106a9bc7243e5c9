import { describe, expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { type Frr, startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const [kept, lost] = ['198.51.100.0/24', '203.0.113.0/24'];

/** FRR that restarts gracefully; `more` are lines of its configuration. */
const configOf = (networks: readonly string[], more: readonly string[]): string =>
  [
    'router bgp 65001',
    'bgp router-id 10.99.0.2',
    'bgp graceful-restart',
    ...more,
    'no bgp ebgp-requires-policy',
    'no bgp network import-check',
    'neighbor 10.99.0.10 remote-as 65000',
    'neighbor 10.99.0.10 passive',
    'address-family ipv4 unicast',
    ...networks.map((network) => `network ${network}`),
  ].join('\n');

describe('routes of FRR that is killed', () => {
  const cable = useCable('test');

  /** FRR has announced two routes to our router, and is killed. */
  const startKilled = async (more: readonly string[]) => {
    const frr: Frr = await startFrr(cable.right, ['bgpd'], configOf([kept, lost], more));
    const session = { connectRetrySec: 1, localAddress: '10.99.0.10', peerAddress: '10.99.0.2' };
    const profile = profileOf('bgp', { session, capabilities: { gracefulRestartSec: 30 } });
    const job = await startRouters(cable.left, { bgp: [profile] });
    const routes = () => listedRoutes(job).map(({ state, cells }) => `${cells['route']} ${state}`);
    await expect.poll(routes, { interval: 300 }).toEqual([`${kept} received`, `${lost} received`]);
    const killedAt = performance.now();
    await frr.kill('bgpd');
    await expect.poll(() => rowsOf(job, 'neighbours')[0]?.cells['flaps'], { interval: 100 }).toBe(1);
    await expect.poll(routes, { interval: 300 }).toEqual([`${kept} stale`, `${lost} stale`]);
    return { frr, job, routes, killedAt };
  };

  it('stay as stale until it has announced all of its routes again', async () => {
    const more = ['bgp graceful-restart preserve-fw-state'];
    const { frr, job, routes } = await startKilled(more);
    const seen = new Set<string>();
    await frr.start('bgpd', configOf([kept], more));
    const look = () => {
      const now = routes().filter((text) => text !== `${lost} stale`);
      seen.add(now.join());
      return routes();
    };
    await expect.poll(look, { interval: 100 }).toEqual([`${kept} received`]);
    expect([...seen]).toEqual([`${kept} stale`, `${kept} received`]);
    await job.stop();
  });

  it('are removed when it does not come back in the time that it has named', async () => {
    const more = ['bgp graceful-restart restart-time 8', 'bgp graceful-restart stalepath-time 8'];
    const { job, routes, killedAt } = await startKilled(more);
    await expect.poll(routes, { interval: 100 }).toEqual([]);
    expect(performance.now() - killedAt).toBeGreaterThan(7900);
    await job.stop();
  });
});
