import { expect, it } from 'vitest';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { reactionTo } from './loss-policy.ts';

const server = { role: 'server' } as const;

it.each(['fail', 'continue', 'stop'] as const)('the policy %s is obeyed', (agentLossPolicy) => {
  expect(reactionTo(viewOf({ agentLossPolicy }, agentOf(1, 'lost')), 1)).toBe(agentLossPolicy);
});

it.each([
  ['the only client', [agentOf(1, 'lost'), agentOf(2, 'running', server)], 'fail'],
  ['the only server', [agentOf(1, 'lost', server), agentOf(2, 'running')], 'fail'],
  ['one of two clients', [agentOf(1, 'lost'), agentOf(2, 'running')], 'continue'],
  ['one of two servers', [agentOf(1, 'lost', server), agentOf(2, 'running', server)], 'continue'],
  ['the second of two that are lost', [agentOf(1, 'lost'), agentOf(2, 'lost')], 'fail'],
  ['the client of another entry', [agentOf(1, 'lost', { entry: 1 }), agentOf(2, 'running', { entry: 0 })], 'fail'],
  [
    'one beside whom the other broke',
    [agentOf(1, 'lost'), agentOf(2, 'running', { outcome: outcomeOf({ status: 'failed' }) })],
    'fail',
  ],
  ['a client that also serves alone', [agentOf(1, 'lost', {}, server), agentOf(2, 'running')], 'fail'],
])('auto: without %s → %s', (_, agents, reaction) => {
  expect(reactionTo(viewOf({}, ...agents), 1)).toBe(reaction);
});

it.each(['accessPlane', 'controlPlane'])('auto: an agent of the %s cannot be missed', (plane) => {
  const definition = {
    comment: '',
    accessPlane: [],
    controlPlane: [],
    configuration: [],
    dumps: {},
    [plane]: [{ agent: { id: 1 } }],
  };
  expect(reactionTo(viewOf({ definition }, agentOf(1, 'lost'), agentOf(2, 'running')), 1)).toBe('fail');
});
