import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './run.ts';

it('unused code is found', () => {
  const file = join(root, 'packages/pools/src/dead-code-fixture.ts');
  writeFileSync(file, 'export const unused = 1;\n');
  try {
    const { status, stdout } = spawnSync('node_modules/.bin/knip', ['--no-progress'], { cwd: root });
    expect(stdout.toString()).toContain('packages/pools/src/dead-code-fixture.ts');
    expect(status).toBe(1);
  } finally {
    rmSync(file);
  }
});
