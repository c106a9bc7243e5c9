import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CaseFormat, compareVerdicts } from './agreement/agreement.ts';
import { addresses, createLab, type Lab } from './lab.ts';
import { startModSecurity } from './modsecurity.ts';

const [port, plainPort] = [8080, 8090];
let lab: Lab;
beforeAll(async () => {
  lab = await createLab();
  await startModSecurity(lab, { engine: 'On', port, plainPort, upstream: `${addresses.server}:${port}` });
});
afterAll(() => lab?.close());

/** How many cases of each sample can be compared. */
const samples: readonly (readonly [CaseFormat, number])[] = [
  ['http-raw', 6],
  ['ftw', 6],
  ['gotestwaf', 100],
  ['nuclei', 5],
];

it.each(samples)(
  'a device treats cases of %s from us as from a client that shares nothing with us',
  async (format, min) => {
    const folder = join(import.meta.dirname, 'agreement/samples', format);
    const found = await compareVerdicts(lab, { format, folder, port, plainPort });
    expect(found.disagreements).toEqual([]);
    expect(found.refused).toEqual(new Map());
    expect(found.compared, found.apart.join('\n')).toBeGreaterThanOrEqual(min);
    expect(found.blocked).toBeGreaterThan(0);
    expect(found.blocked).toBeLessThan(found.compared);
  },
);
