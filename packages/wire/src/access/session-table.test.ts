import { expect, it } from 'vitest';
import { SessionTable, sessionState } from './session-table.ts';

it('a session that is up knows how long, and keeps the length of its last time up', () => {
  const table = new SessionTable(2);
  expect(table.uptimeOf(1, 500)).toBe(0);
  table.begin(1, 1000);
  expect(table.uptimeOf(1, 1500)).toBe(0);
  table.establish(1, 2000);
  expect([table.uptimeOf(1, 2000), table.uptimeOf(1, 9000)]).toEqual([0, 7000]);
  table.setState(1, sessionState.closing, 10_000);
  table.setState(1, sessionState.waiting, 10_500);
  expect(table.uptimeOf(1, 60_000)).toBe(8000);
  table.begin(1, 61_000);
  table.establish(1, 62_000);
  expect([table.uptimeOf(1, 63_000), table.uptimeOf(0, 63_000)]).toEqual([1000, 0]);
});
