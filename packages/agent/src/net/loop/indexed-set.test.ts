import { expect, it } from 'vitest';
import { IndexedSet } from './indexed-set.ts';

interface Person {
  readonly id: number;
  setIndex: number;
}

const people = (count: number): Person[] => Array.from({ length: count }, (_, id) => ({ id, setIndex: -1 }));
const idsIn = (members: IndexedSet<Person>) => [...members].map(({ id }) => id).sort();

it('holds each added element once until it is deleted', () => {
  const [a, b, c, d] = people(4) as [Person, Person, Person, Person];
  const members = new IndexedSet<Person>();
  for (const one of [a, b, c, b]) members.add(one);
  for (const one of [a, d, a]) members.delete(one);
  expect(idsIn(members)).toEqual([1, 2]);
  members.add(a);
  expect(members.size).toBe(3);
  expect([a, b, c, d].map((one) => members.has(one))).toEqual([true, true, true, false]);
});

it('visits every element although each removes itself and others are added', () => {
  const members = new IndexedSet<Person>();
  for (const one of people(5)) members.add(one);
  const seen: number[] = [];
  for (const one of members) {
    seen.push(one.id);
    members.delete(one);
    members.add({ id: one.id + 100, setIndex: -1 });
  }
  expect(seen.sort()).toEqual([0, 1, 2, 3, 4]);
  expect(idsIn(members)).toEqual([100, 101, 102, 103, 104]);
});
