import { expect, it } from 'vitest';
import { tableText } from './table.ts';

it('cuts long cells of a list, but nothing of a record', () => {
  const long = `curl -fsSL ${'x'.repeat(200)}`;
  expect(tableText({ data: { command: long } })).toBe(`command  ${long}`);
  expect(tableText({ data: [{ id: 1, name: long }] })).toMatch(/^ID {2}NAME\n1 {3}curl -fsSL x{36}…$/);
});
