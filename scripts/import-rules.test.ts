import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './run.ts';

/** How many import rules a file in the folder breaks when it imports the module. */
const violations = (folder: string, module: string) => {
  const file = join(root, 'packages', folder, 'import-rule-fixture.ts');
  writeFileSync(file, `import { x } from '${module}';\nx();\n`);
  try {
    const { stdout, stderr } = spawnSync(
      'node_modules/.bin/biome',
      ['lint', '--only=style/noRestrictedImports', file],
      { cwd: root },
    );
    return `${stdout}${stderr}`.split('lint/style/noRestrictedImports').length - 1;
  } finally {
    rmSync(file);
  }
};

it.each([
  ['contract/src', '@rushhour/client'],
  ['pcap/src', '@rushhour/protocol'],
  ['client/src', '@rushhour/controller'],
  ['agent/src', '@rushhour/contract'],
  ['agent/src/engines/http', '../../runs/job/running-job.ts'],
  ['controller/src', 'fastify'],
  ['controller/src/collections', '../http/app.ts'],
  ['controller/src/collections', './groups.ts'],
  ['controller/src/collections/files', '../groups.ts'],
  ['controller/src/store', '../collections/groups.ts'],
  ['controller/src/runs', '../metrics/ingest.ts'],
  ['controller/src/agents', '../runs/conductor.ts'],
  ['controller/src/metrics', '../collections/groups.ts'],
])('%s may not import %s', (folder, module) => {
  expect(violations(folder, module)).toBe(1);
});

it('a file may import what the table of imports allows', () => {
  expect(violations('controller/src/collections', '../store/users.ts')).toBe(0);
  expect(violations('controller/src/http', 'fastify')).toBe(0);
});
