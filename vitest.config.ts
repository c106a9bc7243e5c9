import { defineConfig } from 'vitest/config';

const behaviour = 'packages/controller/src/**/*.behaviour.test.ts';
// Limits are for what hangs. What must be quick is measured by its test; everything else may take long on a busy machine.
const shared = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  setupFiles: ['./scripts/vitest-seed.ts'],
};
/** Files of a worker share the modules they import: loading them again for each file was half of the work. */
const together = { ...shared, isolate: false };

const inController = (names: readonly string[]) =>
  names.map((name) => `packages/controller/src/${name}.behaviour.test.ts`);

/** Behaviour of sockets, agents, formats and limits: the database has no part in it. */
const withoutSql = inController([
  'agents/{agent-files,liveness,session,telemetry,tls}',
  'ai/gateway/{economy,refusals}',
  'assets/applications/{archive,played,trim}',
  'assets/certificates/{generate,private-keys-log}',
  'assets/files/{captures/captures,upload/unpack}',
  'http/{anonymous-cost,fair-shares,sse,validation,mcp/*,guide/*}',
  'tasks/check/validate',
  'tasks/transfer/import/hostile-imports',
]);

/**
 * They measure when frames leave and arrive or how the event loop waits, or detect silence within milliseconds: nothing
 * else may run beside them, nor before them in the same process.
 */
const timed = [
  ...['engines/packets/{icmp,rfc2544,streams}', 'control/{bfd,convergence}'].map((name) => `tests/${name}.test.ts`),
  'packages/agent/src/net/loop/kernel-event-loop.test.ts',
];

/** Behaviour tests run on both databases, unless the database has no part in them; everything else runs once. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...together,
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [behaviour, ...timed],
        },
      },
      { test: { ...together, name: 'sqlite', include: [behaviour], env: { RUSHHOUR_TEST_ENGINE: 'sqlite' } } },
      {
        test: {
          ...together,
          name: 'postgres',
          include: [behaviour],
          exclude: withoutSql,
          env: { RUSHHOUR_TEST_ENGINE: 'postgres' },
          globalSetup: ['./scripts/vitest-postgres.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'system',
          include: ['tests/**/*.test.ts'],
          exclude: timed,
          retry: 1,
          // They wait for traffic half of the time: twice as many as processors at once, after all others.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'timed',
          include: timed,
          retry: 1,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
