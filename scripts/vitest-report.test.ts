import { expect, it } from 'vitest';
import { countsOf, failedFilesOf, failureLinesOf, runAgain } from './vitest-report.ts';

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

it('each failure has a line with its file, its test and its reason', () => {
  const [test, broken] = failureLinesOf({
    testResults: [
      {
        ...file('b', 'failed'),
        assertionResults: [
          { status: 'failed', fullName: 'b counts', failureMessages: ['\u001b[31mError\u001b[0m: 2\nat'] },
        ],
      },
      { ...file('broken', 'failed', 'skipped'), message: 'no such module\nat' },
    ],
  });
  expect(test).toBe('failed: b: b counts: Error: 2');
  expect(broken).toBe('failed: broken: no such module');
});
