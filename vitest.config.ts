import { defineConfig } from 'vitest/config';

const behaviour = 'packages/controller/src/**/*.behaviour.test.ts';
// Limits are for what hangs. What must be quick is measured by its test; everything else may take long on a busy machine.
const shared = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  setupFiles: ['./scripts/vitest-seed.ts'],
};

/** Behaviour tests run on both databases; everything else runs once. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [behaviour],
        },
      },
      { test: { ...shared, name: 'sqlite', include: [behaviour], env: { RUSHHOUR_TEST_ENGINE: 'sqlite' } } },
      {
        test: {
          ...shared,
          name: 'postgres',
          include: [behaviour],
          env: { RUSHHOUR_TEST_ENGINE: 'postgres' },
          globalSetup: ['./scripts/vitest-postgres.ts'],
        },
      },
      { test: { ...shared, name: 'system', include: ['tests/**/*.test.ts'], retry: 1 } },
    ],
  },
});
