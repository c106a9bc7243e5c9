import type { RunReport } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { ChangingRun } from '../lifecycle/changes.ts';
import type { RunView } from '../lifecycle/run-view.ts';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { applyReport, noteLostAgent } from './apply-report.ts';

const of = { runId: 1, epoch: 1 };
const stateAfter = (view: RunView, report: RunReport) => applyReport(view, 1, report).agents?.[0]?.state;
const summaries: RunReport = { type: 'summaries', ...of, order: 0, summaries: [] };
const started: RunReport = { type: 'started', ...of, at: 1 };
const event = (kind: string): RunReport => ({
  ...{ type: 'event', ...of, at: 0, kind, severity: 'info', message: kind },
});

describe('a report', () => {
  it('says where the agent stands', () => {
    expect(stateAfter(viewOf({ status: 2 }, agentOf(1, 'preparing')), { type: 'prepared', ...of })).toBe('prepared');
    expect(stateAfter(viewOf({ status: 3 }, agentOf(1, 'armed')), summaries)).toBe('running');
    expect(stateAfter(viewOf({ status: 5 }, agentOf(1, 'running')), event('paused'))).toBe('paused');
    expect(stateAfter(viewOf({}, agentOf(1, 'paused')), event('resumed'))).toBe('running');
  });
  it('that it was started is enough only for an agent that begins later', () => {
    expect(stateAfter(viewOf({ status: 3 }, agentOf(1, 'armed')), started)).toBeUndefined();
    expect(stateAfter(viewOf({ status: 3 }, agentOf(1, 'armed', { startAfterSec: 30 })), started)).toBe('running');
  });
  it('of each of twenty thousand agents at once is applied without looking at the others', () => {
    const agents = Array.from({ length: 20_000 }, (_, i) => agentOf(i + 1, 'preparing'));
    const run = new ChangingRun(viewOf({ status: 2 }, ...agents));
    const before = process.cpuUsage();
    for (const { agentID } of agents) run.take((view) => applyReport(view, agentID, { type: 'prepared', ...of }));
    // It took minutes when each report copied and searched the list.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
    expect(run.changes.agents?.every(({ state }) => state === 'prepared')).toBe(true);
    expect(run.changes.agents).toHaveLength(20_000);
    expect(agents[0]?.state).toBe('preparing');
  });
  it('said twice means nothing the second time', () => {
    expect(applyReport(viewOf({ status: 2 }, agentOf(1, 'prepared')), 1, { type: 'prepared', ...of })).toEqual({});
    const ended: RunReport = { type: 'ended', ...of, endedByDeadMan: false };
    expect(applyReport(viewOf({ status: 6 }, agentOf(1, 'ended')), 1, ended)).toEqual({});
    const outcome = outcomeOf({ status: 'failed', error: 'broke' });
    const again = applyReport(viewOf({}, agentOf(1, 'running', { outcome })), 1, {
      type: 'orderEnded',
      ...of,
      order: 0,
      outcome,
    });
    expect(again.events).toBeUndefined();
  });
  it('of an agent or a job that has no part in the run means nothing', () => {
    expect(applyReport(viewOf({}, agentOf(2, 'running')), 1, summaries)).toEqual({});
    const strange: RunReport = { type: 'orderEnded', ...of, order: 9, outcome: outcomeOf() };
    expect(applyReport(viewOf({}, agentOf(1, 'running')), 1, strange)).toEqual({});
  });
  it('cannot pretend to be an event of the controller', () => {
    const typeOf = (kind: string) => applyReport(viewOf({}, agentOf(1, 'running')), 1, event(kind)).events?.[0]?.type;
    expect(['linkDown', 'thresholdBreached', 'status', 'agentLost'].map(typeOf)).toEqual([
      'linkDown',
      'agentEvent',
      'agentEvent',
      'agentEvent',
    ]);
  });
  it('with a time that is none leaves no event that cannot be read', () => {
    expect(() =>
      applyReport(viewOf({}, agentOf(1, 'running')), 1, { ...event('linkDown'), at: 1e300 } as RunReport),
    ).not.toThrow();
    // Dates of the API have years of four digits.
    const late = { ...event('linkDown'), at: Date.UTC(10_000, 0) } as RunReport;
    expect(applyReport(viewOf({}, agentOf(1, 'running')), 1, late).events?.[0]).not.toHaveProperty('ts');
  });
});

describe('a loss', () => {
  it('is a doubt when the run goes on, and none when it fails anyway', () => {
    const going = viewOf({ agentLossPolicy: 'continue' }, agentOf(1, 'running'), agentOf(2, 'running'));
    expect(noteLostAgent(going, agentOf(1, 'running'), 'gone').patch).toMatchObject({ validity: { valid: false } });
    const failing = viewOf({ agentLossPolicy: 'fail' }, agentOf(1, 'running'));
    expect(noteLostAgent(failing, agentOf(1, 'running'), 'gone')).toMatchObject({ toReset: [1] });
    expect(noteLostAgent(failing, agentOf(1, 'running'), 'gone').patch).toBeUndefined();
  });
});

it('several things that happen at once see each other', () => {
  const run = new ChangingRun(viewOf({ agentLossPolicy: 'continue' }, agentOf(1, 'running'), agentOf(2, 'running')));
  for (const id of [1, 2]) run.take((view) => noteLostAgent(view, agentOf(id, 'running'), 'gone'));
  expect(run.changes.agents?.map(({ state }) => state)).toEqual(['lost', 'lost']);
  expect(run.changes.patch?.validity?.reasons).toEqual(['agent-1 was lost: gone', 'agent-2 was lost: gone']);
  expect(run.changes.events).toHaveLength(2);
});
