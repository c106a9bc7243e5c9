import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('servers over HTTP/2 survive changed frames: every connection ends, and nothing is left behind', () => {
  const script = new URL('../testing/mutate-frames.ts', import.meta.url).pathname;
  const result = spawnSync(process.execPath, ['--expose-gc', script, '5000', '7'], { encoding: 'utf8' });
  expect(result.signal, result.stderr).toBeNull();
  expect(result.status, result.stderr).toBe(0);
  const counts = JSON.parse(result.stdout) as Record<string, number>;
  expect(counts['mutated']).toBeGreaterThanOrEqual(5000);
  expect(counts['served']).toBe(counts['connections']);
  expect(counts['closed']).toBe(counts['connections']);
  expect(counts['answered']).toBeGreaterThan(1000);
  expect(counts['left']).toBe(0);
  expect(counts['grownBytes']).toBeLessThan(4_000_000);
});
