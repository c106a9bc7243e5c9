import { describe, expect, it } from 'vitest';
import type { RunView } from '../lifecycle/run-view.ts';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { commandsOf } from './commands.ts';

const server = { role: 'server' } as const;
const ended = { outcome: outcomeOf() };
const due = (view: RunView, agentId: number) =>
  commandsOf(view, undefined).flatMap((found) => (found.agentId === agentId ? [found.command] : []));
const of = { runId: 1, epoch: 1 };

describe('commands an agent must have received', () => {
  it('to start, when the run is armed', () => {
    expect(due(viewOf({ status: 3, t0: 77 }, agentOf(1, 'armed')), 1)).toEqual([{ type: 'start', ...of, at: 77 }]);
  });
  it('to pause while the run is paused, and to resume afterwards', () => {
    const pause = due(viewOf({ status: 5, pausedAt: '2026' }, agentOf(1, 'running')), 1);
    expect(pause).toEqual([{ type: 'pause', ...of }]);
    expect(due(viewOf({ status: 4, pausedMs: 0 }, agentOf(1, 'running')), 1)).toEqual([]);
    expect(due(viewOf({ status: 4, pausedMs: 9 }, agentOf(1, 'paused')), 1)).toEqual([{ type: 'resume', ...of }]);
  });
  it('each of two pauses', () => {
    const key = (pausedMs: number) => commandsOf(viewOf({ pausedMs }, agentOf(1, 'paused')), undefined)[0]?.key;
    expect(key(10)).not.toBe(key(20));
  });
  it('the load of each job that was changed and has not ended', () => {
    const load = { requestsPerSecond: 5 };
    const agent = agentOf(1, 'running', {}, { load }, { load, ...ended });
    expect(due(viewOf({}, agent), 1)).toEqual([{ type: 'changeLoad', ...of, order: 1, change: load }]);
  });
});

describe('stopping', () => {
  const stopping = { status: 6, stopMode: 'graceful' };
  it('begins with the clients', () => {
    const view = viewOf(stopping, agentOf(1, 'running', server, {}), agentOf(2, 'running', server));
    expect(due(view, 1)).toEqual([{ type: 'stop', ...of, mode: 'graceful', orders: [1] }]);
    expect(due(view, 2)).toEqual([]);
  });
  it('goes on with the servers', () => {
    const view = viewOf(stopping, agentOf(1, 'ended', ended), agentOf(2, 'running', server));
    expect(due(view, 1)).toEqual([]);
    expect(due(view, 2)).toEqual([{ type: 'stop', ...of, mode: 'graceful' }]);
  });
  it('does not wait for clients that are lost', () => {
    const view = viewOf(stopping, agentOf(1, 'lost'), agentOf(2, 'running', server));
    expect(due(view, 2)).toEqual([{ type: 'stop', ...of, mode: 'graceful' }]);
  });
  it('reaches servers that have no clients here', () => {
    const view = viewOf(stopping, agentOf(2, 'running', server));
    expect(due(view, 2)).toEqual([{ type: 'stop', ...of, mode: 'graceful' }]);
  });
  it('at once means all together', () => {
    const view = viewOf({ status: 6, stopMode: 'abort' }, agentOf(1, 'running'), agentOf(2, 'running', server));
    expect([1, 2].map((id) => due(view, id))).toEqual([
      [{ type: 'stop', ...of, mode: 'abort' }],
      [{ type: 'stop', ...of, mode: 'abort' }],
    ]);
  });
});
