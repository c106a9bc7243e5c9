import { readFileSync } from 'node:fs';

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/** The output of Vitest's JSON reporter. It contains a behaviour test once for each database. */
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

/** Replaces the results of repeated files by their second results. */
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
