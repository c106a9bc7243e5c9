import { describe, expect, it } from 'vitest';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { changeLoads } from './load-change.ts';

const definitionOf = (...entries: object[]) => ({
  definition: { comment: '', accessPlane: [], controlPlane: [], configuration: entries, dumps: {} },
});
const http = { plugin: { id: 1 }, values: { requestsPerSecond: 100 } };

describe('a new load', () => {
  it('is divided as the first one was', () => {
    const view = viewOf(
      definitionOf(http),
      agentOf(1, 'running', { share: 0.75 }),
      agentOf(2, 'running', { share: 0.25 }),
    );
    const { accepted, agents } = changeLoads(view, [{ index: 0, requestsPerSecond: 1000 }]);
    expect(accepted).toHaveLength(1);
    expect(agents.map(({ orders }) => orders[0]?.load)).toEqual([
      { requestsPerSecond: 750 },
      { requestsPerSecond: 250 },
    ]);
    expect(view.agents[0]?.orders[0]?.load).toBeNull();
  });
  it('comes on top of the ones before', () => {
    const both = { plugin: { id: 1 }, values: { requestsPerSecond: 1, sessionsPerSecond: 1 } };
    const view = viewOf(definitionOf(both), agentOf(1, 'running', { load: { requestsPerSecond: 9 } }));
    const { agents } = changeLoads(view, [{ index: 0, sessionsPerSecond: 4 }]);
    expect(agents[0]?.orders[0]?.load).toEqual({ requestsPerSecond: 9, sessionsPerSecond: 4 });
  });
  it('leaves servers and other entries alone', () => {
    const jobs = [{ role: 'server' as const }, { entry: 1 }, {}];
    const { agents } = changeLoads(viewOf(definitionOf(http, http), agentOf(1, 'running', ...jobs)), [
      { index: 0, requestsPerSecond: 7 },
    ]);
    expect(agents[0]?.orders.map(({ load }) => load)).toEqual([null, null, { requestsPerSecond: 7 }]);
  });
});

describe('a new load is refused', () => {
  const agent = agentOf(1, 'running');
  const suite = { plugin: { id: 21 }, values: {} };
  it.each([
    ['for an entry that is not there', http, agent, { index: 3, requestsPerSecond: 1 }, /no such entry/],
    ['that says nothing', http, agent, { index: 0 }, /no new load/],
    ['of what cannot change', http, agent, { index: 0, initialTps: 5 }, /initialTps cannot be changed/],
    ['for a suite', suite, agent, { index: 0, requestsPerSecond: 1 }, /suite/],
    [
      'for servers',
      http,
      agentOf(1, 'running', { role: 'server' }),
      { index: 0, requestsPerSecond: 1 },
      /makes no load/,
    ],
    [
      'by the plugin',
      http,
      agentOf(1, 'running', { canChangeLoad: false }),
      { index: 0, requestsPerSecond: 1 },
      /plugin/,
    ],
    ['for a rate the entry has not', http, agent, { index: 0, packetsPerSecond: 1 }, /no packetsPerSecond/],
    [
      'for an entry that has ended',
      http,
      agentOf(1, 'ended', { outcome: outcomeOf() }),
      { index: 0, requestsPerSecond: 1 },
      /ended/,
    ],
  ])('%s', (_, entry, row, change, reason) => {
    const { accepted, rejected } = changeLoads(viewOf(definitionOf(entry), row), [change]);
    expect(accepted).toEqual([]);
    expect(rejected).toEqual([{ index: change.index, reason: expect.stringMatching(reason) }]);
  });
});
