import { expect, it } from 'vitest';
import { countsOf, failedFilesOf, runAgain } from './vitest-report.ts';

const file = (name: string, status: string, ...tests: string[]) => ({
  name,
  status,
  assertionResults: tests.map((one) => ({ status: one })),
});
const first = {
  testResults: [
    file('a', 'passed', 'passed', 'passed', 'skipped'),
    file('b', 'passed', 'passed'),
    file('b', 'failed', 'failed', 'passed'),
    file('broken', 'failed', 'skipped'),
  ],
};

it('tests are counted, and files that failed before their tests', () => {
  expect(countsOf(first)).toEqual({ passed: 4, failed: 2 });
  expect(failedFilesOf(first)).toEqual(['b', 'broken']);
});

it('repeated files count with their second result, all others with their first', () => {
  const second = { testResults: [file('b', 'passed', 'passed'), file('b', 'failed', 'failed', 'passed')] };
  expect(countsOf(runAgain(first, second))).toEqual({ passed: 4, failed: 2 });
  const third = {
    testResults: [...second.testResults.map(() => file('b', 'passed', 'passed')), file('broken', 'passed', 'passed')],
  };
  expect(countsOf(runAgain(first, third))).toEqual({ passed: 5, failed: 0 });
});
