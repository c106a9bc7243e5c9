import { expect, it } from 'vitest';
import { commandsOf } from '../commands/commands.ts';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { addCommands } from './plane-commands.ts';

const plane = (planeEntry: number, more: object = {}) => ({ pluginId: 101, planeEntry, ...more });

it('a command goes to every agent that runs the entry, numbered by job', () => {
  const view = viewOf({}, agentOf(1, 'running', plane(0), plane(1)), agentOf(2, 'running', plane(0)));
  const stop = { plane: 'access', index: 0, action: 'stop', from: 2, to: 9 } as const;
  const { outcomes, agents } = addCommands(view, [stop, { plane: 'access', index: 0, action: 'start' }]);
  expect(outcomes).toEqual([
    { agents: 2, reason: '' },
    { agents: 2, reason: '' },
  ]);
  const sent = commandsOf({ ...view, agents }, undefined).filter(({ command }) => command.type === 'command');
  expect(sent).toMatchObject([
    { agentId: 1, command: { order: 0, number: 1, command: { action: 'stop', from: 2, to: 9 } } },
    { agentId: 1, command: { order: 0, number: 2, command: { action: 'start' } } },
    { agentId: 2, command: { order: 0, number: 1 } },
    { agentId: 2, command: { order: 0, number: 2 } },
  ]);
  expect(view.agents[0]?.orders[0]?.commands).toBeUndefined();
});

it('is refused where no agent runs the entry, or it has ended', () => {
  const view = viewOf({}, agentOf(1, 'running', plane(0, { outcome: outcomeOf() })));
  const commands = [
    { plane: 'access', index: 0, action: 'restart' },
    { plane: 'control', index: 0, action: 'restart' },
  ] as const;
  const { outcomes } = addCommands(view, commands);
  expect(outcomes.map(({ agents, reason }) => [agents, reason])).toEqual([
    [0, 'no agent runs this entry'],
    [0, 'no agent runs this entry'],
  ]);
});

it('receivers of convergence tests observe the commands of planes', () => {
  const convergence = (role: 'client' | 'server', more: object = {}) => ({ pluginId: 20, role, ...more });
  const view = viewOf(
    {},
    agentOf(1, 'running', plane(0), convergence('client')),
    agentOf(2, 'running', convergence('server'), convergence('server', { outcome: outcomeOf() })),
  );
  const { outcomes, agents } = addCommands(view, [{ plane: 'access', index: 0, action: 'linkDown', from: 1 }]);
  expect(outcomes).toEqual([{ agents: 1, reason: '' }]);
  expect(agents.map(({ orders }) => orders.map(({ commands }) => commands))).toEqual([
    [[{ action: 'linkDown', from: 1 }], undefined],
    [[{ action: 'linkDown', from: 1, isObserved: true }], undefined],
  ]);
});
