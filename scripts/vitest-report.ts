import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

interface FileResult {
  readonly name: string;
  readonly status: string;
  /** Why the file could not be loaded or prepared. */
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName?: string;
    readonly failureMessages?: readonly string[];
  }[];
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

const firstLineOf = (text = '') => stripVTControlCharacters(text.split('\n', 1)[0] ?? '').slice(0, 300);

/** A line for each failed test, and for each file that failed without one. */
export const failureLinesOf = ({ testResults }: VitestReport): string[] =>
  testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0) return [`failed: ${name}: ${firstLineOf(message)}`];
      return failed.map((test) => `failed: ${name}: ${test.fullName}: ${firstLineOf(test.failureMessages?.[0])}`);
    });

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
