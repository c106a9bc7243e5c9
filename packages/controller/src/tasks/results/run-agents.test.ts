import { expect, it } from 'vitest';
import type { RunRow } from '../../store/runs/run-rows.ts';
import { tableRowsOf } from './run-agents.ts';

const rowOf = (cells: RunRow['cells']): RunRow => ({
  ...{ runID: 1, tableName: 'sessions', agentID: 2, orderIndex: 0, rowIndex: 3, state: 'up', cells },
});
const uptimeOf = (cells: RunRow['cells'], finishedAt: string | null) =>
  tableRowsOf([rowOf(cells)], { finishedAt })[0]?.cells['uptimeSec'];

it('sessions that are up have the uptime of the moment, or of the end of the run', () => {
  const minuteAgo = new Date(Date.now() - 60_000).toISOString();
  const uptime = Number(uptimeOf({ upSince: minuteAgo, uptimeSec: 0 }, null));
  expect(uptime).toBeGreaterThanOrEqual(60);
  expect(uptime).toBeLessThan(70);
  expect(uptimeOf({ upSince: '2026-01-01T00:00:00.000Z', uptimeSec: 0 }, '2026-01-01T00:01:30.500Z')).toBe(90.5);
  // The clock of the agent is ahead.
  expect(uptimeOf({ upSince: '2026-01-01T00:00:05.000Z', uptimeSec: 0 }, '2026-01-01T00:00:00.000Z')).toBe(0);
  expect(uptimeOf({ upSince: null, uptimeSec: 12.5 }, null)).toBe(12.5);
  expect(uptimeOf({ uptimeSec: 7 }, null)).toBe(7);
});
