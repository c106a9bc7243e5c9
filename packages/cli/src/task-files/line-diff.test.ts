import { expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

it('marks what goes and what comes, with lines around', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const after = ['a', 'b', 'c', 'd', 'e', 'X', 'g', 'h'];
  const lines = lineDiff(before.join('\n'), after.join('\n')).split('\n');
  expect(lines).toEqual([
    '  c',
    '  d',
    '  e',
    expect.stringMatching(/^[-+] /),
    expect.stringMatching(/^[-+] /),
    '  g',
    '+ h',
  ]);
  expect(lines).toEqual(expect.arrayContaining(['- f', '+ X']));
});

it('is empty for equal texts', () => {
  expect(lineDiff('a\nb', 'a\nb')).toBe('');
});
