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
// A file that could not be loaded has no tests, but it has failed.
const failed = gates.failed + report.numFailedTests + (code !== 0 && report.numFailedTests === 0 ? 1 : 0);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function readReport(path: string): { numPassedTests: number; numFailedTests: number } {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}
