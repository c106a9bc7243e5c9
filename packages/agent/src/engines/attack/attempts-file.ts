import { readFileSync } from 'node:fs';
import type { Attempt } from '@rushhour/protocol';

/** All attempts of an entry. Its hash was checked when it came. */
export const readAttempts = (path: string): Attempt[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);
