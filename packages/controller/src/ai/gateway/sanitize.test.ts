import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sanitizeForModel } from './sanitize.ts';

it.each([
  ['plain text\n\tstays', 'plain text\n\tstays'],
  ['\u001B[31mred\u001B[0m', 'red'],
  ['\u001B]0;title\u0007shown', 'shown'],
  ['a\u200Bb\u00ADc\uFEFFd\u2060e', 'abcde'],
  ['\u202Ereversed\u2066', 'reversed'],
  ['tag\u{E0068}\u{E0069}s', 'tags'],
  ['\u0000\u0085x', 'x'],
  [' \uFE0Flone', ' lone'],
  ['✔\uFE0F kept', '✔\uFE0F kept'],
  ['日本語 naïve', '日本語 naïve'],
])('%j becomes %j', (given, wanted) => expect(sanitizeForModel(given)).toBe(wanted));

it('is short and well formed whatever comes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2500 }), (text) => {
      const once = sanitizeForModel(text);
      expect(once.length).toBeLessThanOrEqual(2000);
      expect(once.isWellFormed()).toBe(true);
    }),
    { numRuns: 30 },
  );
});
