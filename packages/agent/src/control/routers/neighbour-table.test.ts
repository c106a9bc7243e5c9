import type { ResultRow } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { NeighbourTable } from './neighbour-table.ts';
import type { NeighbourRow, ProtocolInstance } from './router.ts';

const rowOf = (router: string, neighbour: string, state = 'up'): NeighbourRow => ({
  ...{ router, protocol: 'ospf', neighbour, state, isUp: state === 'up', uptimeMs: 1000, flaps: 0 },
  ...{ routesSent: 0, routesReceived: 0, databaseSize: 0, lastError: '' },
});

/** A table of two routers whose neighbours can be set. */
const createTable = () => {
  const rows: NeighbourRow[][] = [[rowOf('a', '', 'down')], [rowOf('b', '', 'down')]];
  const instances = rows.map((_, i) => ({ protocol: String(i) }) as ProtocolInstance);
  const seen = new Map<number, ResultRow>();
  let reports = 0;
  const table = new NeighbourTable(instances, (row) => {
    reports++;
    seen.set(row.index, row);
  });
  const texts = () =>
    [...seen.values()]
      .sort((a, b) => a.index - b.index)
      .map(({ index, state, cells }) => `${index} ${cells['router']} ${cells['neighbour']} ${state}`);
  return { rows, instances, table, texts, reports: () => reports };
};

it('every neighbour on a network has a row, and keeps it', () => {
  const { rows, instances, table, texts, reports } = createTable();
  table.report(rows, false);
  expect(texts()).toEqual(['0 a  down', '1 b  down']);
  rows[0] = ['x', 'y', 'z'].map((name) => rowOf('a', name));
  table.report(rows, false);
  expect(texts()).toEqual(['0 a x up', '1 b  down', '2 a y up', '3 a z up']);
  const before = reports();
  table.report(rows, false);
  expect(reports()).toBe(before);
  // The first one is gone, then all of them; one comes back.
  rows[0] = [rowOf('a', 'z'), rowOf('a', 'y')];
  rows[1] = [rowOf('b', 'x')];
  table.report(rows, false);
  expect(texts()).toEqual(['0 a x down', '1 b x up', '2 a y up', '3 a z up']);
  rows[0] = [rowOf('a', '', 'down')];
  table.report(rows, false);
  expect(texts()).toEqual(['0 a x down', '1 b x up', '2 a y down', '3 a z down']);
  rows[0] = [rowOf('a', 'y')];
  table.report(rows, false);
  expect(texts()).toEqual(['0 a x down', '1 b x up', '2 a y up', '3 a z down']);
  expect(table.size).toBe(4);
  expect(table.instancesAt(2, 3)).toEqual([instances[0]]);
  expect(table.instancesAt(1, 2)).toEqual([instances[1], instances[0]]);
  expect(table.instancesAt(4, 9)).toEqual([]);
});
