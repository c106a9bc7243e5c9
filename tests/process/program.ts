import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The main module of the controller or of agents: its bundle if the test run has made one, otherwise its source. */
export const programOf = (name: 'controller' | 'agent'): string => {
  const bundles = process.env['RUSHHOUR_TEST_BUNDLES'];
  return bundles === undefined
    ? fileURLToPath(new URL(`../../packages/${name}/src/main.ts`, import.meta.url))
    : join(bundles, `packages-${name}-src-main.mjs`);
};
