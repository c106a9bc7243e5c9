import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import type { MissingSeconds } from '../verdict/run-metrics.ts';
import { nextStep } from './next-step.ts';
import type { RunView } from './run-view.ts';

const now = 5000;
const past = new Date(now - 1).toISOString();
const later = new Date(now + 1000).toISOString();
const nothing: MissingSeconds = new Map();
const decide = (view: RunView, missing?: MissingSeconds) => nextStep(view, { now, missing });
const ended = { outcome: outcomeOf() };
const failed = { outcome: outcomeOf({ status: 'failed', error: 'broke' }) };
const server = { role: 'server' } as const;

describe('while preparing', () => {
  it('everything is armed once all are prepared', () => {
    expect(decide(viewOf({ status: 2 }, agentOf(1, 'prepared'), agentOf(2, 'preparing')))).toBeUndefined();
    expect(decide(viewOf({ status: 2 }, agentOf(1, 'prepared'), agentOf(2, 'prepared')))).toEqual({ kind: 'arm' });
  });
  it.each([
    ['failed', 'engineError'],
    ['ended', 'engineError'],
    ['lost', 'agentLost'],
  ])('an agent that is %s fails the run', (state, reason) => {
    expect(decide(viewOf({ status: 2 }, agentOf(1, 'prepared'), agentOf(2, state)))).toMatchObject({
      kind: 'fail',
      reason,
    });
  });
  it('the deadline names those who are late', () => {
    const step = decide(viewOf({ status: 2, deadlineAt: past }, agentOf(1, 'prepared'), agentOf(2, 'preparing')));
    expect(step).toEqual({ kind: 'fail', reason: 'prepareTimeout', error: 'not prepared in time: agent-2' });
  });
});

describe('while armed', () => {
  const armed = { status: 3, deadlineAt: later };
  it('nothing runs before the common start, and nothing before everybody shows traffic', () => {
    expect(decide(viewOf({ ...armed, t0: now + 1 }, agentOf(1, 'running')))).toBeUndefined();
    expect(decide(viewOf(armed, agentOf(1, 'running'), agentOf(2, 'armed')))).toBeUndefined();
    expect(decide(viewOf(armed, agentOf(1, 'running'), agentOf(2, 'ended')))).toEqual({ kind: 'run' });
  });
  it('a lost agent fails the run, unless it can be done without', () => {
    expect(decide(viewOf(armed, agentOf(1, 'lost')))).toMatchObject({ kind: 'fail', reason: 'agentLost' });
    expect(decide(viewOf(armed, agentOf(1, 'lost'), agentOf(2, 'running')))).toEqual({ kind: 'run' });
    const stop = decide(viewOf({ ...armed, agentLossPolicy: 'stop' }, agentOf(1, 'lost')));
    expect(stop).toMatchObject({ kind: 'stop', endStatus: 8 });
  });
  it('an agent that does not know the run fails it', () => {
    expect(decide(viewOf(armed, agentOf(1, 'failed')))).toMatchObject({ kind: 'fail', reason: 'engineError' });
  });
});

describe('while running', () => {
  it('the run ends with its clients, not with its servers', () => {
    const servers = agentOf(2, 'running', { ...server, ...ended });
    expect(decide(viewOf({}, agentOf(1, 'running'), servers))).toBeUndefined();
    const open = agentOf(2, 'running', server);
    const end = { kind: 'stop', endStatus: 7, reason: 'duration', error: '' };
    expect(decide(viewOf({}, agentOf(1, 'ended', ended), open))).toEqual(end);
  });
  it('a run of servers alone ends with them', () => {
    expect(decide(viewOf({}, agentOf(1, 'running', server)))).toBeUndefined();
    expect(decide(viewOf({}, agentOf(1, 'running', { ...server, ...ended })))).toMatchObject({
      kind: 'stop',
      endStatus: 7,
    });
  });
  it('an engine that broke ends the run as a fault, whatever is said about losses', () => {
    for (const agentLossPolicy of ['auto', 'fail', 'stop']) {
      const step = decide(viewOf({ agentLossPolicy }, agentOf(1, 'running', failed)));
      expect(step).toMatchObject({ kind: 'stop', endStatus: 9, reason: 'engineError', error: 'agent-1: broke' });
    }
  });
  it('goes on without one of several, but not without all', () => {
    const run = { agentLossPolicy: 'continue' };
    expect(decide(viewOf(run, agentOf(1, 'lost'), agentOf(2, 'running')))).toBeUndefined();
    const step = decide(viewOf(run, agentOf(1, 'lost'), agentOf(2, 'lost')));
    expect(step).toMatchObject({ kind: 'stop', endStatus: 9, reason: 'agentLost' });
  });
  it('a fault counts more than the end that comes with it', () => {
    expect(decide(viewOf({}, agentOf(1, 'ended', failed)))).toMatchObject({ endStatus: 9, reason: 'engineError' });
  });
});

describe('while stopping', () => {
  const stopping = { status: 6, endStatus: 7, deadlineAt: later };
  it('the end waits for every agent and every sample', () => {
    expect(decide(viewOf(stopping, agentOf(1, 'running', ended)), nothing)).toBeUndefined();
    expect(decide(viewOf(stopping, agentOf(1, 'ended', ended)), new Map([[1, 2]]))).toBeUndefined();
    expect(decide(viewOf(stopping, agentOf(1, 'ended', ended)))).toBeUndefined();
    expect(decide(viewOf(stopping, agentOf(1, 'ended', ended)), nothing)).toEqual({ kind: 'end', problems: [] });
  });

  it('the result names the agents and the number of seconds that are missing when it waited long enough', () => {
    const late = viewOf({ ...stopping, deadlineAt: past }, agentOf(1, 'ended', ended), agentOf(2, 'ended', ended));
    expect(decide(late, new Map([[2, 3]]))).toEqual({
      kind: 'end',
      problems: ['3 measured seconds of agent-2 did not arrive'],
    });
    expect(decide(late)).toMatchObject({ problems: ['it is not known whether all results of the agents arrived'] });
  });
});

const states = fc.constantFrom('preparing', 'prepared', 'armed', 'running', 'paused', 'ended', 'failed', 'lost');
const agents = fc.array(
  fc.record({
    state: states,
    role: fc.constantFrom('client' as const, 'server' as const),
    outcome: fc.constantFrom(null, outcomeOf(), outcomeOf({ status: 'failed' })),
    entry: fc.integer({ min: 0, max: 1 }),
  }),
  { minLength: 1, maxLength: 5 },
);

it('no state outlives its deadline, whatever the agents do', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(2, 3, 4, 5, 6),
      fc.constantFrom('auto', 'fail', 'continue', 'stop'),
      agents,
      (status, agentLossPolicy, list) => {
        const rows = list.map(({ state, ...order }, i) => agentOf(i + 1, state, order));
        expect(decide(viewOf({ status, agentLossPolicy, deadlineAt: past, endStatus: 7 }, ...rows))).toBeDefined();
      },
    ),
  );
});

it('what waits or is over is left alone', () => {
  for (const status of [0, 1, 7, 8, 9])
    expect(decide(viewOf({ status, deadlineAt: past }, agentOf(1, 'lost')))).toBeUndefined();
});
