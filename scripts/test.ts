import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './check.ts';
import { ensureDebianPackages } from './debian-packages.ts';
import { run } from './run.ts';

// `npm test`: installs what the tests need, then lint, types, import rules, dead code and every test, on both databases.
ensureDebianPackages();
const gates = await check();

const dir = mkdtempSync(join(tmpdir(), 'rushhour-report-'));
const file = join(dir, 'report.json');
const { code } = await run('vitest', [
  'run',
  ...process.argv.slice(2),
  '--reporter=default',
  '--reporter=json',
  '--reporter=./scripts/vitest-second-tries.ts',
  `--outputFile.json=${file}`,
]);
const report = readReport(file);
rmSync(dir, { recursive: true, force: true });

const passed = gates.passed + report.numPassedTests;
// A file that could not be loaded or prepared has no failed tests, but it has failed.
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
).length;
const known = gates.failed + report.numFailedTests + brokenFiles;
const failed = known === 0 && code !== 0 ? 1 : known;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  }
}
