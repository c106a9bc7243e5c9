import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Two fifths of all that is changed in the long form: RUSHHOUR_SECURE_MUTATIONS=500000. */
const frames = Math.max(5000, (Number(process.env['RUSHHOUR_SECURE_MUTATIONS'] ?? 0) * 2) / 5);

it(
  'servers over HTTP/2 survive changed frames: every connection ends, and nothing is left behind',
  () => {
    const script = new URL('../testing/mutate-frames.ts', import.meta.url).pathname;
    const result = spawnSync(process.execPath, ['--expose-gc', script, String(frames), '7'], { encoding: 'utf8' });
    expect(result.signal, result.stderr).toBeNull();
    expect(result.status, result.stderr).toBe(0);
    const counts = JSON.parse(result.stdout) as Record<string, number>;
    expect(counts['mutated']).toBeGreaterThanOrEqual(frames);
    expect(counts['served']).toBe(counts['connections']);
    expect(counts['closed']).toBe(counts['connections']);
    expect(counts['answered']).toBeGreaterThan(1000);
    expect(counts['left']).toBe(0);
    expect(counts['grownBytes']).toBeLessThan(4_000_000);
  },
  120_000 + frames * 10,
);
