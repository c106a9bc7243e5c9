import { run } from './run.ts';

interface Gate {
  name: string;
  command: [string, ...string[]];
  /** Reads the number of checked items from the output: a gate that checked none has failed. */
  counted(output: string): number;
}

const numberIn = (pattern: RegExp) => (output: string) => Number(pattern.exec(output)?.[1] ?? 0);

const gates: Gate[] = [
  {
    name: 'format and lint',
    command: ['biome', 'ci', '--error-on-warnings', '.'],
    counted: numberIn(/Checked (\d+) files/),
  },
  {
    name: 'import rules',
    command: ['node', 'scripts/imports.ts'],
    counted: numberIn(/Checked (\d+) imports/),
  },
  {
    name: 'retired words',
    command: ['node', 'scripts/retired-words.ts'],
    counted: numberIn(/Checked (\d+) files/),
  },
  { name: 'types', command: ['tsc', '-p', '.', '--diagnostics'], counted: numberIn(/Files:\s+(\d+)/) },
  {
    name: 'types of the web interface',
    command: ['tsc', '-p', 'packages/web', '--diagnostics'],
    counted: numberIn(/Files:\s+(\d+)/),
  },
  {
    name: 'dead code',
    command: [
      'knip',
      '--no-progress',
      '--no-config-hints',
      '--reporter',
      'symbols',
      '--reporter',
      './scripts/knip-count.ts',
    ],
    counted: numberIn(/Checked (\d+) files/),
  },
  {
    name: 'API document (Spectral, Redocly)',
    command: ['node', 'scripts/api-document.ts'],
    counted: numberIn(/Checked (\d+) operations/),
  },
];

/** Runs every gate and returns how many passed, and which failed. */
export const check = async () => {
  const results = { passed: 0, failed: 0, failures: [] as string[] };
  for (const {
    name,
    command: [program, ...args],
    counted,
  } of gates) {
    const { code, output } = await run(program, args);
    const isFine = code === 0 && counted(output) > 0;
    console.log(`${isFine ? 'ok' : 'FAILED'}: ${name} (${counted(output)} checked)`);
    results[isFine ? 'passed' : 'failed'] += 1;
    if (!isFine) results.failures.push(`failed: ${name}`);
  }
  return results;
};

if (import.meta.main) {
  const { failed } = await check();
  process.exit(failed === 0 ? 0 : 1);
}
