import { expect, it } from 'vitest';
import { triableJourneys } from './try-journeys.ts';

it('lists the journeys of all entries with the names of their steps', () => {
  const journeys = [
    { name: 'shop', steps: [{ name: 'login' }, { kind: 'think' }, { path: '/a' }] },
    { steps: [{ method: 'POST' }] },
  ];
  const entries = [{ plugin: { id: 2 } }, { plugin: { id: 1 }, values: { httpParams: { journeys } } }];
  expect(triableJourneys(entries as never)).toEqual([
    { key: '1-0', index: 1, journey: 0, name: '2 shop', steps: ['1 login', '2 think', '3 GET /a'] },
    { key: '1-1', index: 1, journey: 1, name: '2 2', steps: ['1 POST /'] },
  ]);
});
