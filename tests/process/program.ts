import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file that runs a program of this repository: its bundle if the test run has made one, otherwise its source. */
export const programAt = (path: string): string => {
  const bundles = process.env['RUSHHOUR_TEST_BUNDLES'];
  const bundle = join(bundles ?? '', `${path.replaceAll('/', '-').replace(/\.ts$/, '')}.mjs`);
  return bundles !== undefined && existsSync(bundle)
    ? bundle
    : fileURLToPath(new URL(`../../${path}`, import.meta.url));
};
