import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Wrong pointers corrupt the memory of the process they are used in, so that it is another one. */
const runScript = (name: string, ...args: number[]) => {
  const script = new URL(`./testing/${name}`, import.meta.url).pathname;
  const result = spawnSync(process.execPath, ['--expose-gc', script, ...args.map(String)], { encoding: 'utf8' });
  expect(result.signal, result.stderr).toBeNull();
  expect(result.status, result.stderr).toBe(0);
  return JSON.parse(result.stdout) as Record<string, number>;
};

describe('TLS sessions', () => {
  it('survive changed records: every session ends, and nothing is left behind', () => {
    const sessions = 3000;
    const counts = runScript('mutate-records.ts', sessions, 7);
    expect(counts['closed']).toBe(sessions);
    expect(counts['mutated']).toBeGreaterThan(sessions / 2);
    expect((counts['served'] ?? 0) + (counts['handshakeErrors'] ?? 0)).toBe(sessions);
    expect(counts['grownBytes']).toBeLessThan(16_000_000);
  });
});
