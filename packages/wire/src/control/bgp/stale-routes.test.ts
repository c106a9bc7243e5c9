import { describe, expect, it } from 'vitest';
import { createBgpPair, sourceOf } from '../testing/bgp-pair.ts';
import { familyOf } from './families.ts';
import { StaleRoutes } from './stale-routes.ts';

const v4 = familyOf('ipv4-unicast');
const gracefulRestart = { restartSec: 60, isRestarting: false, families: [v4], forwarded: [] };

/** The right router holds ten routes of the left one, which can restart. */
const createPair = () => {
  const pair = createBgpPair({
    capabilities: { gracefulRestart },
    leftSources: [sourceOf({ first: '10.0.0.0/24', count: 10 })],
  });
  pair.run(1000);
  const stale = () => pair.right.rib.tables.flatMap((table) => table.list(0, 100)).map(({ isStale }) => isStale);
  return { pair, stale };
};

describe('routes of a BGP neighbour that restarts', () => {
  it('are stale until they are announced again', () => {
    const { pair, stale } = createPair();
    expect(stale()).toEqual(Array(10).fill(false));
    pair.left.restart(pair.now);
    pair.run(1000);
    expect(stale()).toEqual(Array(10).fill(true));
    pair.left.start(pair.now);
    pair.run(10_000);
    expect(stale()).toEqual(Array(10).fill(false));
  });

  it('stay where it has forwarded meanwhile, until it has announced all or time is up', () => {
    const { pair } = createPair();
    const { rib } = pair.right;
    const routes = new StaleRoutes(rib);
    routes.keep(gracefulRestart, 0);
    routes.resume([v4], 1000);
    routes.advance(360_999);
    expect(rib.count).toBe(10);
    routes.advance(361_000);
    expect(rib.count).toBe(0);
  });

  it('are removed when it is back without having forwarded', () => {
    const { pair } = createPair();
    const routes = new StaleRoutes(pair.right.rib);
    routes.keep(gracefulRestart, 0);
    routes.resume([], 1000);
    expect(pair.right.rib.count).toBe(0);
  });

  it('are kept when it calls again before its old session has ended', () => {
    const { pair, stale } = createPair();
    pair.isCut = true;
    pair.left.restart(pair.now);
    pair.run(1000);
    expect(pair.right.state).toBe('established');
    pair.isCut = false;
    pair.left.start(pair.now);
    pair.run(5);
    expect(stale()).toEqual(Array(10).fill(false));
    pair.run(10);
    expect(pair.right.lastError).toBe('the neighbour has restarted');
    expect(stale()).toEqual(Array(10).fill(true));
    pair.run(1000);
    expect(pair.right.counters).toMatchObject({ established: 2, flaps: 1 });
    expect(stale()).toEqual(Array(10).fill(false));
  });

  it('do not outlive a second restart', () => {
    const { pair } = createPair();
    const routes = new StaleRoutes(pair.right.rib);
    routes.keep(gracefulRestart, 0);
    routes.resume([v4], 1000);
    routes.keep(gracefulRestart, 2000);
    expect(pair.right.rib.count).toBe(0);
  });
});
