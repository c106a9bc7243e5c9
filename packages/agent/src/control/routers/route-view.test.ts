import type { ResultRow } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { RouteView } from './route-view.ts';
import type { ProtocolInstance } from './router.ts';

const route = (text: string) => ({
  ...{ router: 'a', neighbour: 'b', protocol: 'bgp', family: 'ipv4-unicast', route: text, nextHop: '', detail: '' },
});

/** A view of instances with that many routes. */
const createView = (sizes: number[]) => {
  const instances = sizes.map(
    (_, i) =>
      ({
        routes: (limit: number) =>
          Array.from({ length: Math.min(limit, sizes[i] as number) }, (_route, k) => route(`${i}.${k}`)),
      }) as unknown as ProtocolInstance,
  );
  const seen = new Map<number, ResultRow>();
  const notes: string[] = [];
  const view = new RouteView(instances, { putRow: (row) => seen.set(row.index, row), note: (one) => notes.push(one) });
  const count = (state: string, from: string) =>
    [...seen.values()].filter((row) => row.state === state && String(row.cells['route']).startsWith(from)).length;
  return { sizes, instances, view, notes, count };
};

it('routers with few routes are listed whole beside those with many', () => {
  const { instances, view, notes, count } = createView([50_000, 7, 50_000]);
  view.list(instances);
  expect([count('received', '0.'), count('received', '1.'), count('received', '2.')]).toEqual([4996, 7, 4997]);
  expect(notes).toEqual(['the table of routes lists 10000 at most']);
});

it('routes of one router are listed again, and those that are left over are gone', () => {
  const { sizes, instances, view, notes, count } = createView([5, 5]);
  view.list(instances);
  sizes[1] = 2;
  view.list(instances.slice(1));
  expect([count('received', '0.'), count('received', '1.'), count('gone', '1.')]).toEqual([5, 2, 3]);
  sizes[1] = 4;
  view.list(instances.slice(1));
  expect([count('received', '1.'), count('gone', '1.')]).toEqual([4, 1]);
  expect(notes).toEqual([]);
});
