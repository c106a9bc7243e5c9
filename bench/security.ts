/**
 * The catalogue of signatures: search among 50,000 of them, their planning, the import of 5,000 templates; and reports of
 * thousands of attempts.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookieJar, createClient } from '@rushhour/client';
import { writeZip } from '../packages/controller/src/assets/archives/write-zip.ts';
import {
  completeSignature,
  madeByUser,
} from '../packages/controller/src/security/signatures/expressions/complete-signature.ts';
import { insertSignature } from '../packages/controller/src/store/security/cve.ts';
import { openStore } from '../packages/controller/src/store/store.ts';
import { spawnController } from '../tests/process/spawn-controller.ts';
import { type Row, report } from './report.ts';
import { measurePlanning, measureReports, storeAttackRun } from './security-scale.ts';

const signatures = 50_000;
const templates = 5000;
const searches = 400;
const batch = 5000;
const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };

const pick = <T>(values: readonly T[], n: number) => values[n % values.length] as T;
const severities = ['info', 'low', 'medium', 'high', 'critical'] as const;
const vendors = Array.from({ length: 400 }, (_, i) => `vendor${i}`);
const words = ['portal', 'gateway', 'router', 'printer', 'shop', 'wiki', 'camera', 'mailer', 'queue', 'vault'];
const tags = ['rce', 'sqli', 'xss', 'lfi', 'ssrf', 'panel', 'exposure', 'wordpress', 'apache', 'oast'];
const categories = ['rce', 'sqli', 'xss', 'lfi', 'ssrf'] as const;

/** Primes such as 7919 make the members independent of each other. */
const signatureOf = (n: number) => {
  const year = 1999 + ((n * 31) % 27);
  return completeSignature(
    {
      name: `${pick(words, n * 7)} ${n} of ${pick(vendors, n * 7919)}`,
      description: `A weakness in the ${pick(words, n * 13)} lets anybody read what the ${pick(words, n * 17)} keeps, number ${n}.`,
      cveIDs: [`CVE-${year}-${10_000 + n}`],
      cweIDs: [`CWE-${20 + ((n * 101) % 300)}`],
      severity: pick(severities, n * 103),
      cvssScore: ((n * 107) % 101) / 10,
      epssScore: ((n * 109) % 1000) / 1000,
      kev: n % 23 === 0,
      vendor: pick(vendors, n * 7919),
      product: pick(words, n * 7907),
      category: pick(categories, n * 113),
      tags: `cve,cve${year},${pick(tags, n * 127)},${pick(tags, n * 131 + 3)}`,
      techniques: ['T1190'],
      requests: [{ idx: 0, kind: 'http', method: 'GET', path: `/${pick(words, n)}/${n}?id={{randstr}}` }],
    },
    { ...madeByUser, source: 'nuclei', sourceRef: `bench-${n}` },
  );
};

const fill = async (dataDir: string) => {
  const store = await openStore({ dataDir });
  const origin = { userId: null, address: '', requestId: 'bench', operation: 'bench' };
  for (let from = 0; from < signatures; from += batch) {
    await store.change(origin, async (tx) => {
      for (let n = from; n < from + batch; n += 1) await insertSignature(tx, signatureOf(n), '');
    });
  }
  const attackRuns = { large: await storeAttackRun(store, 10_000), printed: await storeAttackRun(store, 4000) };
  await store.close();
  return attackRuns;
};

const templateOf = (n: number) => `id: CVE-2026-${10_000 + n}
info:
  name: ${pick(words, n)} - Probe ${n}
  author: bench
  severity: ${pick(severities, n)}
  description: |
    The ${pick(words, n * 3)} answers to anybody who asks for page ${n}.
  reference:
    - https://example.test/${n}
  classification:
    cve-id: CVE-2026-${10_000 + n}
    cwe-id: CWE-${20 + (n % 300)}
  metadata: {vendor: ${pick(vendors, n)}, product: ${pick(words, n)}}
  tags: cve,cve2026,${pick(tags, n)}
http:
  - raw:
      - |
        GET /${pick(words, n)}/${n}?id={{randstr}} HTTP/1.1
        Host: {{Hostname}}
        User-Agent: bench
    matchers-condition: and
    matchers:
      - type: word
        words: ["root:x:0", "${pick(words, n)}"]
        condition: and
      - type: status
        status: [200]
`;

const queries = (n: number) =>
  pick(
    [
      { severity: ['high', 'critical'], category: ['rce'], kev: true },
      { tag: ['sqli'], severityNot: ['info'], year: [2000 + (n % 25)] },
      { search: pick(words, n), severity: ['medium'], cvssMin: 5 },
      { vendor: [pick(vendors, n)], protocol: ['http'], enabled: true },
      { cve: [`CVE-${2000 + (n % 25)}-`], tagNot: ['xss'], epssMin: 0.5 },
      { search: `number ${n}`, source: ['nuclei'], safety: ['benign'] },
      { technique: ['T1190'], cwe: [`CWE-${20 + (n % 300)}`], cvssMax: 9 },
      { protocol: ['http'], enabled: true, safety: ['benign'], key: 'name', page: 1 + (n % 50) },
    ] as const,
    n,
  );

const percentile = (values: readonly number[], share: number) =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length * share)] ?? 0;

const measure = async (folder: string): Promise<Row[]> => {
  const dataDir = join(folder, 'data');
  const attackRuns = await fill(dataDir);
  const controller = await spawnController({
    RUSHHOUR_DATA_DIR: dataDir,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
  });
  try {
    const send = cookieJar();
    const client = createClient(controller.url, send);
    await client.auth.login({ body: admin });
    await client.settings.update({ body: { limits: { rate: 1_000_000 } } });
    const times: number[] = [];
    for (let n = 0; n < searches; n += 1) {
      const startedAt = performance.now();
      await client.cve.list({ query: queries(n) as never });
      times.push(performance.now() - startedAt);
    }
    return [
      { name: 'cve-search-p95-ms', value: percentile(times, 0.95), goal: 30, better: 'lower' },
      ...(await measurePlanning(controller.url, client, signatures)),
      ...(await measureImport(controller, send)),
      ...(await measureReports(controller.url, client, attackRuns)),
    ];
  } finally {
    await controller.kill('SIGTERM');
  }
};

type Controller = Awaited<ReturnType<typeof spawnController>>;

const measureImport = async (
  { url, process: { pid } }: Controller,
  send: ReturnType<typeof cookieJar>,
): Promise<Row[]> => {
  const rssMib = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  const files = Array.from({ length: templates }, (_, n) => ({ name: `cves/${n}.yaml`, content: templateOf(n) }));
  const form = new FormData();
  form.set('file', new Blob([Buffer.concat(await writeZip(files).toArray())]), 'templates.zip');
  const before = rssMib();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMib());
  }, 50);
  const startedAt = performance.now();
  const response = await send(`${url}/v1/cve/import`, { method: 'POST', body: form });
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(timer);
  const { data } = (await response.json()) as { data: { created: number } };
  if (data.created !== templates) throw new Error(`${data.created} of ${templates} templates were imported`);
  return [
    { name: 'cve-import-5000-seconds', value: seconds, goal: 30, better: 'lower' },
    { name: 'cve-import-5000-memory-mib', value: peak - before, goal: 200, better: 'lower' },
  ];
};

const folder = await mkdtemp(join(tmpdir(), 'rushhour-bench-'));
try {
  process.exitCode = report(await measure(folder)) ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
