import { expect, it } from 'vitest';
import { filledTask } from './filled-task.ts';

it('puts agents and values in their positions and leaves thresholds out', () => {
  const task = {
    comment: 'Rate',
    configuration: [{ values: { sources: [{ agent: { id: { $slot: 'client' } } }], rate: { $param: 'rps' } } }],
    thresholds: [{ name: 'none' }],
  };
  const form = { agentMap: { client: 7 }, values: { rps: 50 } };
  expect(filledTask({ task }, form as never)).toEqual({
    comment: 'Rate',
    configuration: [{ values: { sources: [{ agent: { id: 7 } }], rate: 50 } }],
  });
});
