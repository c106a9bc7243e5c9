import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packBytes, unpackBytes } from './packed-bytes.ts';

it('any bytes come back as they were', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9000 }), (bytes) => {
      expect(unpackBytes(packBytes(bytes))).toEqual(bytes);
    }),
    { numRuns: 50 },
  );
});
