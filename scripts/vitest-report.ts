import { readFileSync } from 'node:fs';

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** What Vitest's JSON reporter wrote. A behaviour test is in it once for each database. */
export interface VitestReport {
  readonly testResults: readonly FileResult[];
}

export const readReport = (path: string): VitestReport => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { testResults: [] };
  }
};

export const failedFilesOf = ({ testResults }: VitestReport): string[] => [
  ...new Set(testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)),
];

/** Files that were run again count as they came out then. */
export const runAgain = (first: VitestReport, second: VitestReport): VitestReport => {
  const again = new Set(second.testResults.map(({ name }) => name));
  return { testResults: [...first.testResults.filter(({ name }) => !again.has(name)), ...second.testResults] };
};

export const countsOf = ({ testResults }: VitestReport): { passed: number; failed: number } => {
  const count = (status: string) =>
    testResults.flatMap(({ assertionResults }) => assertionResults).filter((test) => test.status === status).length;
  // A file that could not be loaded or prepared has no failed tests, but it has failed.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  return { passed: count('passed'), failed: count('failed') + broken.length };
};
