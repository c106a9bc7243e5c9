import { describe, expect, it } from 'vitest';
import { AccessEvents } from './access-events.ts';

const create = () => {
  const lines: string[] = [];
  const events = new AccessEvents((line) => void lines.push(line));
  const reported = (isLast?: boolean) => {
    events.report(isLast);
    return lines.splice(0);
  };
  return { events, lines, reported };
};

describe('events of the access plane', () => {
  it('list sessions that break off with their causes, many of them together', () => {
    const { events, reported } = create();
    events.onFlap(3, 'PPPoE: ended by the concentrator');
    for (let row = 0; row < 40; row++) events.onFlap(row, 'LCP: echo without answer');
    expect(reported()).toEqual([
      'session 3: down: PPPoE: ended by the concentrator',
      '40 sessions: down: LCP: echo without answer',
    ]);
    expect(reported()).toEqual([]);
  });

  it('list setups that fail every ten reports, and at the end', () => {
    const { events, reported } = create();
    expect(reported()).toEqual([]);
    for (let report = 1; report < 10; report++) {
      events.onFailed(1, 'stopped');
      for (const row of [1, 2, 3]) events.onFailed(row, 'DHCP: no offer');
      expect(reported()).toEqual([]);
    }
    expect(reported()).toEqual(['27 sessions: setup failed: DHCP: no offer']);
    events.onFailed(7, 'DHCP: no offer');
    expect(reported(true)).toEqual(['session 7: setup failed: DHCP: no offer']);
  });

  it('say when all sessions are up, each time', () => {
    const { events, lines } = create();
    for (const established of [0, 9, 10, 10, 9, 10]) events.followCount({ wanted: 10, established });
    events.followCount({ wanted: 0, established: 0 });
    expect(lines).toEqual(['all 10 sessions are up', 'all 10 sessions are up']);
  });

  it('list changes of ports, not the state in which they begin', () => {
    const { events, reported } = create();
    const lacp = (state: string) =>
      events.followPort({ index: 1, state, cells: { interface: 'l1', protocol: 'LACP' } });
    for (const state of ['detached', 'distributing', 'distributing', 'down']) lacp(state);
    const tree = (role: string, state: string) =>
      events.followPort({ index: 2, state, cells: { interface: 'l2', protocol: 'MSTP', instance: 3, role } });
    tree('designated', 'discarding');
    tree('root', 'forwarding');
    const clock = { interface: 'l3', clock: 'a', leader: 'b' };
    for (const state of ['listening', 'follower']) events.followPort({ index: 3, state, cells: clock });
    events.onLink('l0', false);
    expect(reported()).toEqual([
      'l1: LACP distributing',
      'l1: LACP down',
      'l2 (instance 3): MSTP forwarding root',
      'l3: follower of b',
      'l0: link down',
    ]);
  });
});
