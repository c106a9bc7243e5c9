import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

const errorPatterns = [
  /new ApiError\(\s*'(?<kind>\w+)',\s*'(?<code>[A-Z][A-Z0-9_]+)'/g,
  new RegExp(`\\b(?<maker>${Object.keys(makers).join('|')})\\(\\s*'(?<code>[A-Z][A-Z0-9_]+)'`, 'g'),
];
/** Of an issue, and of the tables that issues and errors are made from. */
const issuePatterns = [/\bcode: '(?<code>[A-Z][A-Z0-9_]{2,})'/g, /'(?<code>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g];
/** Words in capitals that are something else: variables, codes of Node.js and of its libraries, TLS suites. */
const notOurs = /^(RUSHHOUR|NODE|LC|ERR|FST|HPE|TLS)_|_URL$/;
/** Contents of tests. */
const contents = ['security/content/**', 'security/campaigns/**', 'assets/applications/library/**', 'store/**'];

export interface KnownCode {
  readonly code: string;
  /** None: it is the code of an issue. */
  readonly statuses: Set<number>;
  /** Folders of the sources that it comes from. */
  readonly folders: Set<string>;
}

/**
 * Every code with its statuses, read from the sources of the controller, which are what runs: a list beside them would
 * be one to forget.
 */
export const errorCodes = (): KnownCode[] => {
  const found = new Map<string, KnownCode>();
  const known = (code: string): KnownCode => {
    const entry = found.get(code) ?? { code, statuses: new Set<number>(), folders: new Set<string>() };
    found.set(code, entry);
    return entry;
  };
  known('INVALID_REQUEST').statuses.add(statusOf.invalid);
  known('NOT_FOUND').statuses.add(statusOf.notFound);
  for (const file of globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts', '**/testing/**', ...contents] })) {
    const text = readFileSync(join(source, file), 'utf8');
    const folder = dirname(file);
    for (const pattern of errorPatterns)
      for (const { groups = {} } of text.matchAll(pattern)) {
        const kind = (groups['kind'] ?? makers[groups['maker'] ?? '']) as keyof typeof statusOf;
        known(groups['code'] ?? '').statuses.add(statusOf[kind]);
      }
    for (const pattern of [...errorPatterns, ...issuePatterns])
      for (const { groups = {} } of text.matchAll(pattern))
        if (!notOurs.test(groups['code'] ?? '')) known(groups['code'] ?? '').folders.add(folder);
  }
  return [...found.values()].toSorted((one, other) => (one.code < other.code ? -1 : 1));
};
