import { expect, it } from 'vitest';
import type { RunDefinition } from '../../store/runs/runs.ts';
import { limitedTo } from './approval-plan.ts';

const limited = (duration: object) => {
  const definition = { configuration: [{ plugin: { id: 1 }, values: { duration } }] } as unknown as RunDefinition;
  const [entry] = limitedTo(definition, 10).configuration as { values: { duration: object } }[];
  return entry?.values.duration;
};

it('the length of every entry is limited, in stages too', () => {
  expect(limited({ mode: 'time', seconds: 8 })).toEqual({ mode: 'time', seconds: 8 });
  expect(limited({ mode: 'continuous' })).toEqual({ mode: 'time', seconds: 10 });
  const stage = { seconds: 6, target: 100, shape: 'step' };
  expect(limited({ stages: [stage, stage, stage] })).toEqual({
    stages: [stage, { ...stage, seconds: 4 }],
    seconds: 10,
  });
});
