import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { statusOf } from '../../../errors.ts';

const source = fileURLToPath(new URL('../../../', import.meta.url));

/** The functions of `errors.ts` that make an error of their own kind, with the code as first argument. */
const makers: Readonly<Record<string, keyof typeof statusOf>> = {
  conflict: 'conflict',
  forbidden: 'forbidden',
  unauthenticated: 'unauthenticated',
  tooMany: 'tooMany',
  unavailable: 'unavailable',
};

const patterns = [
  /new ApiError\(\s*'(?<kind>\w+)',\s*'(?<code>[A-Z][A-Z0-9_]+)'/g,
  new RegExp(`\\b(?<maker>${Object.keys(makers).join('|')})\\(\\s*'(?<code>[A-Z][A-Z0-9_]+)'`, 'g'),
];

/**
 * Every code with its statuses, read from the sources of the controller, which are what runs: a list beside them would
 * be one to forget.
 */
export const errorCodes = (): [code: string, statuses: number[]][] => {
  const found = new Map<string, Set<number>>([
    ['INVALID_REQUEST', new Set([statusOf.invalid])],
    ['NOT_FOUND', new Set([statusOf.notFound])],
  ]);
  for (const file of globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts', '**/testing/**'] })) {
    const text = readFileSync(join(source, file), 'utf8');
    for (const pattern of patterns)
      for (const { groups } of text.matchAll(pattern)) {
        const kind = (groups?.['kind'] ?? makers[groups?.['maker'] ?? '']) as keyof typeof statusOf;
        const code = groups?.['code'] ?? '';
        found.set(code, (found.get(code) ?? new Set()).add(statusOf[kind]));
      }
  }
  return [...found].map(([code, statuses]): [string, number[]] => [code, [...statuses].toSorted()]).toSorted();
};
