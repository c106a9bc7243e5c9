import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { setV8WorkersIdle } from './v8-workers.ts';

/** How the kernel schedules each helper of this process: 0 as usual, 5 only on an idle core. */
const policies = (): Set<number> => {
  const folder = '/proc/self/task';
  const helpers = readdirSync(folder).filter((thread) =>
    readFileSync(`${folder}/${thread}/comm`, 'utf8').startsWith('V8Worker'),
  );
  const fields = helpers.map((thread) => readFileSync(`${folder}/${thread}/stat`, 'utf8').split(') ')[1]?.split(' '));
  return new Set(fields.map((after) => Number(after?.[38])));
};

it('gives V8 workers idle priority until it is undone', () => {
  expect(policies()).toEqual(new Set([0]));
  const undo = setV8WorkersIdle();
  expect(policies()).toEqual(new Set([5]));
  undo();
  expect(policies()).toEqual(new Set([0]));
});
