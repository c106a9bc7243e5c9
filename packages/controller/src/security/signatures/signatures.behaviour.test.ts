import { permissions } from '@rushhour/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const probe = { idx: 0, kind: 'http' as const, method: 'GET', path: '/probe?x={{p}}' };
const draft = {
  name: 'Probe of a path',
  description: 'asks for a path',
  cveIDs: ['CVE-2021-44228'],
  cweIDs: ['CWE-502'],
  cvssVector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H',
  cvssScore: 10,
  vendor: 'Apache',
  product: 'log4j',
  techniques: ['T1190'],
  category: 'rce' as const,
  tags: 'jndi,web',
  requests: [probe],
  payloads: [{ name: 'p', values: ['one', 'two'] }],
};
const made = async (more: object = {}) => (await administrator.client.cve.create({ body: { ...draft, ...more } })).data;

describe('signatures', () => {
  it('are created, read back whole with what was computed, changed and deleted', async () => {
    const { cve } = administrator.client;
    const id = await made();
    const { data } = await cve.get({ params: { id }, query: {} });
    expect(data).toMatchObject({
      ...{ id, severity: 'critical', cvssVersion: '3.1', year: 2021, vendor: 'apache', protocol: 'http' },
      ...{
        direction: 'c2s',
        safety: 'benign',
        enabled: true,
        source: 'user',
        combine: 'batteringram',
        maxAttempts: 50,
      },
      requests: [probe],
      expect: { action: 'block' },
      issuer: { id: 1 },
    });
    expect(data.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    await cve.update({ body: { ...data, name: 'Another name' } });
    const { data: renamed } = await cve.get({ params: { id }, query: { include: 'references,raw' } });
    expect(renamed).toMatchObject({ name: 'Another name', raw: '', usedBy: [] });
    expect(await cve.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(cve.get({ params: { id }, query: {} })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    expect((await cve.list({ query: { search: 'another name' } })).data).toEqual([]);
  });

  it('are refused with every problem at once', async () => {
    const { cve } = administrator.client;
    const request = { idx: 0, kind: 'http' as const, method: 'GET', path: 'http://victim.com/x' };
    const wrong = {
      name: 'Bad',
      cvssVector: draft.cvssVector,
      cvssScore: 3,
      requests: [request, { ...probe, idx: 1 }],
    };
    await expect(cve.create({ body: wrong })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { code: 'CVSS_MISMATCH' },
          { path: '/requests/0/path', code: 'FOREIGN_HOST' },
          { code: 'FUNCTION_NOT_ALLOWED' },
        ],
      },
    });
    await expect(cve.create({ body: { ...draft, cveIDs: ['CVE-21-1'] } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/cveIDs/0' }] },
    });
    await expect(cve.create({ body: { ...draft, cweIDs: ['502'] } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/cweIDs/0' }] },
    });
    const bomb = { ...probe, path: '/', body: '{{repeat("A", 2000000)}}' };
    await expect(cve.create({ body: { ...draft, requests: [bomb] } })).rejects.toMatchObject({
      data: { issues: [{ code: 'PAYLOAD_TOO_LARGE' }] },
    });
    const calling = { ...probe, path: '/?u=http://abc.oast.fun/' };
    await expect(cve.create({ body: { ...draft, requests: [calling] } })).rejects.toMatchObject({
      data: { issues: [{ code: 'FOREIGN_HOST' }] },
    });
    const unknown = [{ name: 'p', dictionaryId: 987_654 }];
    await expect(cve.create({ body: { ...draft, payloads: unknown } })).rejects.toMatchObject({
      data: { issues: [{ path: '/payloads/0/dictionaryId' }] },
    });
  });

  it('that may do harm are computed so, and only a reviewer may call them harmless', async () => {
    const writer = await controller.signInWith(administrator, [permissions['cve.read'], permissions['cve.write']]);
    const requests = [{ ...probe, method: 'PUT', body: 'x' }];
    const id = (await writer.client.cve.create({ body: { ...draft, requests } })).data;
    const read = async () => (await administrator.client.cve.get({ params: { id }, query: {} })).data;
    expect(await read()).toMatchObject({ safety: 'intrusive', enabled: false });
    const lower = { body: { id, safety: 'benign' as const } };
    await expect(writer.client.cve.update(lower)).rejects.toEqual(refused(403, 'FORBIDDEN'));
    await expect(writer.client.cve.create({ body: { ...draft, requests, safety: 'benign' } })).rejects.toEqual(
      refused(403, 'FORBIDDEN'),
    );
    await writer.client.cve.update({ body: { id, safety: 'dos' } });
    await administrator.client.cve.update(lower);
    expect(await read()).toMatchObject({ safety: 'benign' });
    await writer.client.cve.update({ body: { id, requests: [{ ...probe, method: 'DELETE', body: 'y' }] } });
    expect(await read()).toMatchObject({ safety: 'intrusive', enabled: false });
  });

  it('refuse a change made from an older version', async () => {
    const { cve } = administrator.client;
    const id = await made();
    const { updatedAt } = (await cve.get({ params: { id }, query: {} })).data;
    await cve.update({ body: { id, updatedAt, kev: true } });
    await expect(cve.update({ body: { id, updatedAt, kev: false } })).rejects.toEqual(refused(409, 'STALE_OBJECT'));
  });

  it('are shown as they would be sent, and nothing is', async () => {
    const id = await made();
    const { data } = await administrator.client.cve.test({ params: { id }, body: { mode: 'render' } });
    expect(data.attempts).toBe(2);
    expect(data.requests?.map(({ text }) => text.split('\r\n')[0])).toEqual([
      'GET /probe?x=one HTTP/1.1',
      'GET /probe?x=two HTTP/1.1',
    ]);
    expect(Buffer.from(data.requests?.[0]?.bytes ?? '', 'base64').toString()).toContain('Host: server.test');
  });

  it('that are built in can be switched off, but neither changed nor deleted', async () => {
    const { cve } = administrator.client;
    const { data } = await cve.list({ query: { source: ['builtin'], count: 100 } });
    expect(data.length).toBeGreaterThan(10);
    expect(new Set(data.map(({ safety }) => safety))).toEqual(new Set(['benign']));
    const id = data[0]?.id ?? 0;
    await cve.update({ body: { id, enabled: false } });
    expect((await cve.get({ params: { id }, query: {} })).data.enabled).toBe(false);
    await expect(cve.update({ body: { id, name: 'Mine' } })).rejects.toEqual(refused(403, 'BUILT_IN'));
    await expect(cve.removeMany({ body: { array: [id] } })).rejects.toEqual(refused(403, 'BUILT_IN'));
  });

  it('have no results before they were run', async () => {
    const id = await made();
    expect(await administrator.client.cve.results({ params: { id }, query: {} })).toMatchObject({
      data: [],
      summary: { attempts: 0, blockRate: null },
    });
    await expect(administrator.client.cve.results({ params: { id: 999_999 }, query: {} })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
  });
});

describe('the search', () => {
  const ids: Record<string, number> = {};
  beforeAll(async () => {
    const { cve } = administrator.client;
    const { data } = await cve.list({ query: { count: 100, source: ['user'] } });
    if (data.length > 0) await cve.removeMany({ body: { array: data.map(({ id }) => id) } });
    const plain = { ...draft, payloads: [], requests: [{ ...probe, path: '/' }] };
    ids['a'] = await made({ ...plain, name: 'Alpha', epssScore: 0.9, kev: true });
    ids['b'] = await made({
      ...plain,
      name: 'Beta 100%',
      cveIDs: ['CVE-2021-44229', 'CVE-2020-0001'],
      cweIDs: ['CWE-79'],
      cvssVector: '',
      cvssScore: 5,
      vendor: 'acme',
      product: 'door',
      tags: 'xss,web',
      category: 'xss',
      techniques: ['T1071.001'],
    });
    ids['c'] = await made({
      ...plain,
      name: 'Gamma ÄÖ',
      cveIDs: [],
      publishedAt: '2019-05-01T00:00:00.000Z',
      cvssVector: '',
      cvssScore: null,
      severity: 'low',
      tags: 'dos',
      requests: [{ idx: 0, kind: 'raw', transport: 'udp', data: '00ff', encoding: 'hex' }],
      direction: 's2c',
    });
  });

  it.each([
    [{ cve: ['CVE-2021-44228'] }, 'a'],
    [{ cve: ['CVE-2021-'] }, 'ab'],
    [{ cve: ['cve-2020', 'CVE-2021-44228'] }, 'ab'],
    [{ severity: ['critical', 'low'] }, 'ac'],
    [{ severityNot: ['critical'] }, 'bc'],
    [{ cwe: ['cwe-79'] }, 'b'],
    [{ vendor: ['ACME'] }, 'b'],
    [{ product: ['log4j'] }, 'ac'],
    [{ protocol: ['udp'] }, 'c'],
    [{ direction: ['s2c'] }, 'c'],
    [{ category: ['xss'] }, 'b'],
    [{ tag: ['web'] }, 'ab'],
    [{ tag: ['web', 'xss'] }, 'b'],
    [{ tagNot: ['web'] }, 'c'],
    [{ year: [2019, 2021] }, 'abc'],
    [{ year: [2019] }, 'c'],
    [{ cvssMin: 5, cvssMax: 9 }, 'b'],
    [{ epssMin: 0.5 }, 'a'],
    [{ kev: true }, 'a'],
    [{ kev: false }, 'bc'],
    [{ technique: ['T1071'] }, 'b'],
    [{ technique: ['T1190'] }, 'ac'],
    [{ safety: ['dos'] }, 'c'],
    [{ enabled: false }, 'c'],
    [{ source: ['user'] }, 'abc'],
    [{ source: ['nuclei'] }, ''],
    [{ search: 'ALPH' }, 'a'],
    [{ search: '44229' }, 'b'],
    [{ search: '100%' }, 'b'],
    [{ search: '%' }, 'b'],
    [{ search: 'äö' }, 'c'],
    [{ search: 'gamma ä' }, 'c'],
    [{ search: 'asks for a "path"' }, ''],
    [{ search: 'asks for', severity: ['critical'], tag: ['jndi'], kev: true }, 'a'],
  ] as const)('finds %j', async (query, expected) => {
    const { data, cursor } = await administrator.client.cve.list({ query: { source: ['user'], ...query } as never });
    const names = Object.entries(ids)
      .filter(([, id]) => data.some((row) => row.id === id))
      .map(([name]) => name);
    expect(names.join('')).toBe(expected);
    expect(cursor.totalRows).toBe(expected.length);
  });

  it.each([
    ['severity', 'desc', 'abc'],
    ['name', 'asc', 'abc'],
    ['year', 'asc', 'cab'],
    ['cvssScore', 'asc', undefined],
    ['epssScore', 'desc', undefined],
    ['updatedAt', 'asc', 'abc'],
  ] as const)('sorts by %s', async (key, order, expected) => {
    const { data } = await administrator.client.cve.list({ query: { key, order, source: ['user'] } });
    expect(data).toHaveLength(3);
    const nameOf = (id: number) => Object.entries(ids).find(([, known]) => known === id)?.[0];
    if (expected) expect(data.map(({ id }) => nameOf(id)).join('')).toBe(expected);
    expect('requests' in (data[0] ?? {})).toBe(false);
  });

  it('counts the catalogue under the same filters', async () => {
    const { data } = await administrator.client.cve.stats({ query: { source: ['user'] } });
    expect(data.catalogue).toEqual({
      total: 3,
      enabled: 2,
      kev: 1,
      bySeverity: { critical: 1, low: 1, medium: 1 },
      byProtocol: { http: 2, udp: 1 },
      byYear: { 2019: 1, 2021: 2 },
      byCwe: [
        { cwe: 'CWE-502', count: 2 },
        { cwe: 'CWE-79', count: 1 },
      ],
      byProduct: [
        { product: 'log4j', count: 2 },
        { product: 'door', count: 1 },
      ],
      bySafety: { benign: 2, dos: 1 },
    });
    const narrowed = await administrator.client.cve.stats({ query: { tag: ['xss'], source: ['user'] } });
    expect(narrowed.data.catalogue).toMatchObject({ total: 1, byCwe: [{ cwe: 'CWE-79', count: 1 }] });
  });

  it('has a light list of all', async () => {
    const { data } = await administrator.client.cve.all();
    expect(Object.keys(data[0] ?? {}).sort()).toEqual([
      'cveIDs',
      'enabled',
      'id',
      'name',
      'protocol',
      'safety',
      'severity',
    ]);
  });
});
