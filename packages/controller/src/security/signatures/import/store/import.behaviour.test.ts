import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeZip } from '../../../../assets/archives/write-zip.ts';
import { type SignedIn, startTestController, type TestController } from '../../../../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const template = (id: string, path = '/probe', more = '') =>
  `id: ${id}\ninfo:\n  name: Probe ${id}\n  severity: high\n  tags: cve,probe\n  classification: {cve-id: ${id}}\n${more}http:\n  - method: GET\n    path: ["{{BaseURL}}${path}"]\n    matchers: [{type: word, words: [found]}]\n`;

const upload = async (content: Buffer | string, name: string, fields: Record<string, string> = {}) => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set('file', new Blob([Buffer.from(content)]), name);
  const response = await administrator.send(`${controller.url}/v1/cve/import`, { method: 'POST', body: form });
  return { status: response.status, ...((await response.json()) as { data: never }) } as {
    status: number;
    data: { created: number; updated: number; skipped: number; code?: string; report: Record<string, unknown>[] };
  };
};
const zipOf = async (files: Record<string, string>) =>
  Buffer.concat(await writeZip(Object.entries(files).map(([name, content]) => ({ name, content }))).toArray());
const imported = (content: string, more: object = {}) =>
  administrator.client.cve.import({ body: { content, ...more } }).then(({ data }) => data);

describe('an import', () => {
  it('brings network signatures of our own by the names of protocols', async () => {
    const data = await imported('modbus, gopher', { format: 'network' });
    expect(data.report.filter(({ status }) => status === 'refused').map(({ templateId }) => templateId)).toEqual([
      'gopher',
    ]);
    expect(data.created).toBeGreaterThan(20);
    const { data: found } = await administrator.client.cve.list({ query: { tag: ['modbus'], count: 100 } });
    expect(found).toHaveLength(data.created);
    expect(
      found.every(({ enabled, safety, references }) => enabled && safety === 'benign' && references.length > 1),
    ).toBe(true);
  });

  it('tells of every template of an archive what became of it', async () => {
    const archive = await zipOf({
      'README.md': '# nothing',
      'cves/a.yaml': template('CVE-2020-0001'),
      'cves/b.yaml': template('CVE-2020-0002', '/b', 'self-contained: true\n'),
      'cves/c.yaml': template('CVE-2020-0003').replace('cve,probe', 'cve,intrusive'),
      'waf/d.yaml':
        'meta: {author: a}\nrule_id: 7\ntests:\n  - {test_id: 1, stages: [{input: {uri: /x}, output: {log: {expect_ids: [7]}}}]}\n',
    });
    const { status, data } = await upload(archive, 'templates.zip', { tags: 'set1' });
    expect(status).toBe(200);
    expect(data).toMatchObject({ created: 3, updated: 0, skipped: 1 });
    const lines = Object.fromEntries(
      data.report.map(({ templateId, status, reason, safety }) => [templateId, [status, safety, reason]]),
    );
    expect(lines).toEqual({
      'CVE-2020-0001': ['imported', 'benign', ''],
      'CVE-2020-0002': ['refused', null, 'a self-contained template names its own hosts'],
      'CVE-2020-0003': ['disabled', 'intrusive', 'safety is intrusive'],
      '7-1': ['imported', 'benign', ''],
    });
    const { data: found } = await administrator.client.cve.list({ query: { tag: ['set1'], key: 'id', order: 'asc' } });
    expect(found.map(({ sourceRef, enabled, source }) => [sourceRef, enabled, source])).toEqual([
      ['CVE-2020-0001', true, 'nuclei'],
      ['CVE-2020-0003', false, 'nuclei'],
      ['7-1', true, 'ftw'],
    ]);
    const { data: whole } = await administrator.client.cve.get({
      params: { id: found[0]?.id ?? 0 },
      query: { include: 'raw' },
    });
    expect(whole.raw).toBe(template('CVE-2020-0001'));
    expect(whole.sourceSha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await administrator.client.cve.stats({ query: {} })).data.lastImportAt).not.toBeNull();
  });

  it('of a file of many tests keeps the file once, and as long as one of them is left', async () => {
    const test = (id: number) =>
      `  - test_id: ${id}\n    stages: [{input: {uri: "/?x=${id}"}, output: {status: 403}}]\n`;
    const file = `meta: {name: many}\nrule_id: 8\ntests:\n${[1, 2, 3].map(test).join('')}`;
    const { report } = await imported(file, { format: 'ftw' });
    const ids = report.flatMap(({ signatureIDs }) => signatureIDs);
    const rawOf = async (id = 0) =>
      (await administrator.client.cve.get({ params: { id }, query: { include: 'raw' } })).data.raw;
    expect(await Promise.all(ids.map(rawOf))).toEqual([file, file, file]);
    const sql = `select "sha256" from "cveSources" where "raw" like 'meta: {name: many}%'`;
    const kept = () => controller.store.read.run({ name: '', sql }, []);
    expect(await kept()).toHaveLength(1);
    await administrator.client.cve.removeMany({ body: { array: ids.slice(0, 2) } });
    expect(await rawOf(ids[2])).toBe(file);
    await administrator.client.cve.removeMany({ body: { array: ids.slice(2) } });
    expect(await kept()).toEqual([]);
  });

  it('leaves alone what is unchanged, and replaces, keeps or adds what differs', async () => {
    const first = await imported(template('CVE-2020-0010'));
    const id = first.report[0]?.signatureIDs[0];
    expect(await imported(template('CVE-2020-0010'))).toMatchObject({
      created: 0,
      skipped: 1,
      report: [{ status: 'unchanged', signatureIDs: [id] }],
    });
    const changed = template('CVE-2020-0010', '/changed');
    expect(await imported(changed, { dryRun: true })).toMatchObject({ updated: 1 });
    expect(await imported(changed, { onConflict: 'skip' })).toMatchObject({
      updated: 0,
      report: [{ status: 'unchanged' }],
    });
    expect(await imported(changed, { onConflict: 'version' })).toMatchObject({ created: 1 });
    expect(await imported(changed)).toMatchObject({ report: [{ status: 'unchanged' }] });
    expect(await imported(template('CVE-2020-0010', '/third'))).toMatchObject({ updated: 1 });
    const { data } = await administrator.client.cve.list({ query: { cve: ['CVE-2020-0010'] } });
    expect(data).toHaveLength(2);
  });

  it('of lists enriches what is there and makes nothing', async () => {
    await imported(template('CVE-2020-0020'), { enable: 'none' });
    const epss = 'cve,epss,percentile\nCVE-2020-0020,0.5,0.75\nCVE-2020-9999,0.1,0.1\n';
    expect(await imported(epss, { name: 'epss.csv' })).toMatchObject({
      created: 0,
      updated: 1,
      report: [{ templateId: 'CVE-2020-0020', status: 'updated' }],
    });
    expect(await imported('{"catalogVersion":"1","vulnerabilities":[{"cveID":"CVE-2020-0020"}]}')).toMatchObject({
      updated: 1,
    });
    const record = {
      cveMetadata: { cveId: 'CVE-2020-0020' },
      containers: {
        cna: {
          affected: [{ vendor: 'Acme', product: 'Door' }],
          problemTypes: [{ descriptions: [{ cweId: 'CWE-22' }] }],
        },
      },
    };
    expect(await imported(JSON.stringify(record))).toMatchObject({ updated: 1 });
    expect(await imported(JSON.stringify(record))).toMatchObject({ updated: 0, report: [{ status: 'unchanged' }] });
    const { data } = await administrator.client.cve.list({ query: { cve: ['CVE-2020-0020'] } });
    expect(data).toMatchObject([
      {
        epssScore: 0.5,
        epssPercentile: 0.75,
        kev: true,
        vendor: 'acme',
        product: 'door',
        cweIDs: ['CWE-22'],
        enabled: false,
      },
    ]);
  });

  it('of an unsound archive stores nothing at all', async () => {
    const good = await zipOf({ 'a.yaml': template('CVE-2020-0030'), 'b.yaml': template('CVE-2020-0031') });
    const cut = good.subarray(0, good.length - 40);
    expect(await upload(cut, 'cut.zip')).toMatchObject({ status: 400 });
    const bomb = await zipOf({ 'a.yaml': template('CVE-2020-0032'), 'b.yaml': ' '.repeat(40 * 1_048_576) });
    expect(await upload(bomb, 'bomb.zip')).toMatchObject({ status: 400, data: { code: 'ARCHIVE_BOMB' } });
    const { cursor } = await administrator.client.cve.list({ query: { cve: ['CVE-2020-003'] } });
    expect(cursor.totalRows).toBe(0);
    expect(await upload('just some words', 'notes.txt')).toMatchObject({
      status: 400,
      data: { code: 'UNKNOWN_FORMAT' },
    });
    expect(await upload('x', 'a.yaml', { format: 'tarot' })).toMatchObject({ status: 400 });
  });

  it('shows its progress as notifications', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 620 }, (_, i) => [`${i}.yaml`, template(`CVE-2022-${10_000 + i}`, `/p${i}`)]),
    );
    const { data } = await upload(await zipOf(many), 'many.zip');
    expect(data).toMatchObject({ created: 620, skipped: 0 });
    const { data: reported } = await administrator.client.notifications.list({ query: {} });
    expect(reported.map(({ kind, message }) => [kind, message])).toEqual([
      ['cve.import', 'import finished: 620 new, 0 updated, 0 skipped'],
      ['cve.import.progress', '500 templates read so far'],
    ]);
  });
});

describe('an export', () => {
  const idsOf = async (query: object) => (await administrator.client.cve.list({ query })).data.map(({ id }) => id);
  const exported = async (body: object) => {
    const response = await administrator.send(`${controller.url}/v1/cve/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      skipped: response.headers.get('x-export-skipped'),
      text: await response.text(),
    };
  };

  it.each(['native', 'nuclei', 'ftw'] as const)('as %s can be imported again', async (format) => {
    const array = await idsOf({ cve: ['CVE-2020-0001'] });
    const { status, text, skipped } = await exported({ array, format });
    expect([status, skipped]).toEqual([200, '0']);
    const { report } = await imported(text, {
      dryRun: true,
      name: format === 'native' ? 'again.json' : 'again.yaml',
    });
    expect(report).toMatchObject([
      { status: format === 'native' ? 'unchanged' : expect.stringMatching(/imported|updated|unchanged/) },
    ]);
  });

  it('leaves out what is disabled unless asked, and says how many', async () => {
    const array = [...(await idsOf({ cve: ['CVE-2020-0001'] })), ...(await idsOf({ cve: ['CVE-2020-0003'] }))];
    expect(await exported({ array, format: 'nuclei' })).toMatchObject({
      skipped: '1',
      type: expect.stringContaining('yaml'),
    });
    expect(await exported({ array, format: 'nuclei', includeDisabled: true })).toMatchObject({
      skipped: '0',
      type: 'application/zip',
    });
    expect(await exported({ array: [987_654] })).toMatchObject({ status: 404 });
  });
});
