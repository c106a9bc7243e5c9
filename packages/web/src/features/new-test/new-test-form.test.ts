import type { TaskTemplate } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { formOf, problemOf, questionOf } from './new-test-form.ts';

const template = {
  name: 'Rate',
  slots: [
    { name: 'client', role: 'client', requires: [] },
    { name: 'server', role: 'server', requires: [] },
  ],
  parameters: [
    { name: 'rps', type: 'integer', default: 100, min: 1, max: 1000 },
    { name: 'network', type: 'integer', min: 1 },
  ],
} as unknown as TaskTemplate;

it('suggests agents by role and starts with the defaults', () => {
  const agents = [
    { id: 1, name: 'rack-server' },
    { id: 2, name: 'rack-client' },
  ];
  expect(formOf(template, agents)).toMatchObject({
    name: '',
    agentMap: { client: 2, server: 1 },
    values: { rps: 100 },
  });
});

it('does not accept an emptied field', () => {
  const [rate] = template.parameters;
  if (rate === undefined) throw new Error('no parameter');
  expect(problemOf(rate, undefined)).toBe('Required');
  expect(problemOf(rate, 0)).toBe('Must be between 1 and 1,000');
  expect(problemOf(rate, 1.5)).toBe('Must be a whole number');
  expect(problemOf(rate, 5)).toBeUndefined();
});

it('files templates under the question of their tag', () => {
  expect(questionOf({ tags: 'waf,security' })).toBe('security');
  expect(questionOf({ tags: 'mine' })).toBe('other');
});
