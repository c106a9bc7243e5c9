import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addresses, attack, createLab, type Lab, reportOf, tally } from './lab.ts';
import { startModSecurity } from './modsecurity.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await createLab();
});
afterAll(() => lab?.close());

const port = 8080;
const upstream = `${addresses.server}:${port}`;

const modules = [
  'sql-injection',
  'xss',
  'rce',
  'command-injection',
  'path-traversal',
  'lfi',
  'ssti',
  'ssi',
  'xxe',
  'ldap-injection',
  'nosql-injection',
].map((name) => ({
  name,
  encoders: ['plain', 'url'],
  placeholders: name === 'xxe' ? ['xml-body'] : ['url-param', 'form', 'json-body'],
}));
const values = {
  wafModules: {
    modules,
    benign: { enabled: true, sample: 500, placeholders: ['url-param', 'form', 'json-body'] },
    http: { hosts: ['app.test'] },
    ratePerSecond: 400,
    concurrency: 8,
    detection: { control: { everyAttempts: 50 } },
  },
};

describe('a web application firewall between our two agents', () => {
  it('blocks most attacks and few harmless requests when it blocks', async () => {
    const stop = await startModSecurity(lab, { engine: 'On', port, upstream });
    const { rates, attempts, id, runId, result } = await attack(lab, {
      values,
      to: addresses.device,
      port,
      thresholds: [
        { name: 'blocks', metric: 'waf.blockRate', aggregation: 'last', operator: '>=', value: 85 },
        { name: 'spares', metric: 'waf.falsePositiveRate', aggregation: 'last', operator: '<=', value: 5 },
        { name: 'decided', metric: 'waf.coverage', aggregation: 'last', operator: '>=', value: 99 },
      ],
    });
    await stop();
    console.log(tally(attempts), rates);
    expect(result).toMatchObject({ status: 7, verdict: 1 });
    expect(rates.blockRate.value).toBeGreaterThanOrEqual(0.85);
    expect(rates.falsePositiveRate.value).toBeLessThanOrEqual(0.05);
    expect(rates.falsePositiveRate.n).toBeGreaterThanOrEqual(400);
    const csv = await reportOf(lab, id, runId, 'csv');
    expect(csv.trim().split('\r\n').length).toBeGreaterThanOrEqual(attempts.length);
    expect(await reportOf(lab, id, runId, 'junit')).toContain('waf: sql-injection 1');
    expect(await reportOf(lab, id, runId, 'html')).toContain('Attacks that got through');
  });
});
