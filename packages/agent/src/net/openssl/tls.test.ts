import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Sessions with changed records in the long form: RUSHHOUR_SECURE_MUTATIONS=500000 is that many records, frames and datagrams. */
const mutations = Number(process.env['RUSHHOUR_SECURE_MUTATIONS'] ?? 0);

/** Wrong pointers corrupt the memory of the process they are used in, so that it is another one. */
const runScript = (name: string, ...args: number[]) => {
  const script = new URL(`./testing/${name}`, import.meta.url).pathname;
  const result = spawnSync(process.execPath, ['--expose-gc', script, ...args.map(String)], { encoding: 'utf8' });
  expect(result.signal, result.stderr).toBeNull();
  expect(result.status, result.stderr).toBe(0);
  return JSON.parse(result.stdout) as Record<string, number>;
};

describe('TLS sessions', () => {
  it(
    'survive changed records: every session ends, and nothing is left behind',
    () => {
      const sessions = Math.max(3000, mutations / 5);
      const counts = runScript('mutate-records.ts', sessions, 7);
      expect(counts['closed']).toBe(sessions);
      expect(counts['mutated']).toBeGreaterThan(sessions / 2);
      expect((counts['served'] ?? 0) + (counts['handshakeErrors'] ?? 0)).toBe(sessions);
      expect(counts['grownBytes']).toBeLessThan(16_000_000);
    },
    120_000 + mutations * 10,
  );

  it.each([
    ['one after the other', 1, 55_000],
    ['all at once, whose handshakes need far more', 1200, 70_000],
  ])('that are idle need little memory on both sides when opened %s', (_, burst, maxBytes) => {
    const counts = runScript('idle-memory.ts', 1200, burst);
    expect(counts['answered']).toBe(1300);
    expect(counts['pairBytes']).toBeLessThan(maxBytes);
    expect(counts['heapBytes']).toBeLessThan(3000);
  });
});
