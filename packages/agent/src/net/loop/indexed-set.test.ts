import { expect, it } from 'vitest';
import { Crowd } from './indexed-set.ts';

interface Person {
  readonly id: number;
  place: number;
}

const people = (count: number): Person[] => Array.from({ length: count }, (_, id) => ({ id, place: -1 }));
const idsIn = (crowd: Crowd<Person>) => [...crowd].map(({ id }) => id).sort();

it('holds whoever came and has not left, once each', () => {
  const [a, b, c, d] = people(4) as [Person, Person, Person, Person];
  const crowd = new Crowd<Person>();
  for (const one of [a, b, c, b]) crowd.add(one);
  for (const one of [a, d, a]) crowd.delete(one);
  expect(idsIn(crowd)).toEqual([1, 2]);
  crowd.add(a);
  expect(crowd.size).toBe(3);
  expect([a, b, c, d].map((one) => crowd.has(one))).toEqual([true, true, true, false]);
});

it('comes to everyone who was there, though each leaves at its turn and others come', () => {
  const crowd = new Crowd<Person>();
  for (const one of people(5)) crowd.add(one);
  const seen: number[] = [];
  for (const one of crowd) {
    seen.push(one.id);
    crowd.delete(one);
    crowd.add({ id: one.id + 100, place: -1 });
  }
  expect(seen.sort()).toEqual([0, 1, 2, 3, 4]);
  expect(idsIn(crowd)).toEqual([100, 101, 102, 103, 104]);
});
