/**
 * The cases of other tools through ModSecurity, sent by us and by an independent client: how many verdicts agree. Takes
 * folders of their files, such as `http-raw=blazehttp/testcases ftw=coreruleset/tests/regression/tests`.
 */

import { type CaseFormat, compareVerdicts } from '../tests/security/agreement/agreement.ts';
import { addresses, createLab } from '../tests/security/lab.ts';
import { startModSecurity } from '../tests/security/modsecurity.ts';
import { type Row, report } from './report.ts';

const [port, plainPort] = [8080, 8090];
const goal = 99.5;
const shownDisagreements = 20;

const measure = async (given: readonly string[]): Promise<Row[]> => {
  const lab = await createLab();
  try {
    await startModSecurity(lab, { engine: 'On', port, plainPort, upstream: `${addresses.server}:${port}` });
    const rows: Row[] = [];
    for (const argument of given) {
      const [format = '', folder = ''] = argument.split('=');
      const found = await compareVerdicts(lab, { format: format as CaseFormat, folder, port, plainPort });
      console.log(`${format}: ${found.compared} compared, ${found.blocked} blocked, ${found.apart.length} apart`);
      const step = Math.max(1, Math.floor(found.apart.length / shownDisagreements));
      for (const one of found.apart.filter((_, i) => i % step === 0)) console.log(`  ${one}`);
      for (const [reason, count] of [...found.refused].toSorted(([, a], [, b]) => b - a).slice(0, shownDisagreements))
        console.log(`  ${count} refused: ${reason}`);
      for (const one of found.disagreements.slice(0, shownDisagreements)) console.log(`  ${JSON.stringify(one)}`);
      const value = (100 * found.agreed) / Math.max(1, found.compared);
      rows.push({ name: `verdicts-${format}-percent`, value, goal, better: 'higher' });
    }
    return rows;
  } finally {
    await lab.close();
  }
};

process.exitCode = report(await measure(process.argv.slice(2))) ? 0 : 1;
