import { expect, it } from 'vitest';
import { findRetiredWords } from './retired-words.ts';
import { retiredWords } from './retired-words-list.ts';

it.each([
  ['const mostBytes = 1;', 'a variable'],
  ['class Courier {}', 'a class'],
  ['class Sender { #ledger = 1; }', 'a private member'],
  ['// Whoever calls this waits.\nexport const x = 1;', 'a comment'],
  ["throw new Error('the agent is told to stop');", 'a message'],
  ['log(`the wish of a user`);', 'a template'],
])('%s: the retired word is found in %2$s', (text) => {
  expect(findRetiredWords('packages/pools/src/x.ts', text)).toHaveLength(1);
});

it('a retired word in the name of a file is found', () => {
  expect(findRetiredWords('packages/pools/src/run-ledger.ts', 'export const x = 1;')).toHaveLength(1);
});

it('values of the wire and longer words are no retired words', () => {
  expect(findRetiredWords('packages/pools/src/x.ts', "const almost = 'wish';")).toEqual([]);
});

it('documents are searched, too', () => {
  expect(findRetiredWords('docs/x.md', '# Title\n\nWhoever reads this.')).toHaveLength(1);
});

it('every rule has a pattern and a replacement, every exception a reason', () => {
  for (const { words, identifiers, prose, write, except } of retiredWords) {
    expect(words ?? identifiers ?? prose).toBeDefined();
    expect(write).not.toBe('');
    for (const { because } of except ?? []) expect(because).not.toBe('');
  }
});
