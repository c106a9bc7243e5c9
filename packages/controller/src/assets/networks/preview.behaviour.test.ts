import { describe, expect, it } from 'vitest';
import { useTestController } from '../../testing/use-controller.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const post = async (query: string, body: unknown) => {
  const response = await administrator.send(`${controller.url}/v1/networks/mac-policy/preview${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
};

const draft = { subnet: '10.0.0.0/24', macPolicy: { mode: 'derived', prefix: '02:00' } };

describe('the MAC policy preview of a draft', () => {
  it('answers the bare page', async () => {
    expect(await post('?limit=2', draft)).toEqual({
      status: 200,
      body: {
        rows: [
          { ip: '10.0.0.1', mac: '02:00:0a:00:00:01', source: 'policy', overridden: false },
          { ip: '10.0.0.2', mac: '02:00:0a:00:00:02', source: 'policy', overridden: false },
        ],
        nextStart: '10.0.0.3',
        page: 1,
        limit: 2,
        totalRows: 254,
        totalPages: 127,
      },
    });
  });

  it('takes the paging from the body, and from the query first', async () => {
    const { body: byBody } = await post('', { ...draft, limit: 10, page: 3 });
    expect(byBody).toMatchObject({ page: 3, limit: 10 });
    expect(byBody.rows[0].ip).toBe('10.0.0.21');
    expect((await post('?page=3&limit=10', draft)).body).toEqual(byBody);
    expect((await post('?start=10.0.0.21', { ...draft, limit: 10 })).body).toEqual(byBody);
    expect((await post('?page=3', { ...draft, limit: 10, page: 9, start: '10.0.0.200' })).body).toEqual(byBody);
    expect((await post('', { ...draft, start: '10.0.0.21', limit: 10, page: null })).body).toEqual(byBody);
  });

  it('reaches the last page of a /64 by its address, with a thousand excludes and overrides', async () => {
    const hex = (n: number) => n.toString(16);
    const large = {
      name: 'Large',
      type: 1,
      subnet: '2001:db8::/64',
      gateway: 'fe80::1',
      excludes: Array.from(
        { length: 1000 },
        (_, n) => `2001:db8::${hex(n * 16 + 1)}:0-2001:db8::${hex(n * 16 + 1)}:ff`,
      ),
      macPolicy: { mode: 'random', seed: 7 },
      macOverrides: Array.from({ length: 1000 }, (_, n) => ({
        ip: `2001:db8::ffff:${hex(n + 1)}`,
        mac: `06:00:00:00:${hex(n >> 8).padStart(2, '0')}:${hex(n & 255).padStart(2, '0')}`,
      })),
    };
    const { status, body } = await post('?limit=1000&start=2001:db8::ffff:ffff:ffff:fff0', large);
    expect(status).toBe(200);
    expect(body.rows).toHaveLength(16);
    expect(body.rows.at(-1)).toMatchObject({ ip: '2001:db8::ffff:ffff:ffff:ffff', source: 'policy' });
    expect(body).toMatchObject({ nextStart: null, totalRows: Number(2n ** 64n - 1n - 256_000n) });
    expect((await post('?start=2001:db8::ffff:1&limit=1', large)).body.rows).toEqual([
      { ip: '2001:db8::ffff:1', mac: '06:00:00:00:00:00', source: 'override', overridden: true },
    ]);
  });

  it('resolves MAC records, stored or not', async () => {
    const { data: id } = await administrator.client.macs.create({
      body: { name: 'Shared', address: '02:aa:00:00:00:01' },
    });
    const { body } = await post('?limit=1', { ...draft, macPolicy: { mode: 'shared', macId: id } });
    expect(body.rows).toEqual([{ ip: '10.0.0.1', mac: '02:aa:00:00:00:01', source: 'policy', overridden: false }]);
    expect(await post('', { ...draft, macPolicy: { mode: 'shared', macId: 313_131 } })).toMatchObject({
      status: 400,
      body: { data: { issues: [{ path: '/macPolicy/macId', code: 'MAC_NOT_FOUND' }] } },
    });
  });

  it('accepts a stored network as it was read, and a form whose empty fields are null', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({ body: { name: 'Stored', subnet: '10.60.0.0/24' } });
    const { data: stored } = await networks.get({ params: { id } });
    expect((await post('', { ...stored, macPolicy: draft.macPolicy })).status).toBe(200);
    const empty = { id: 0, name: '', gateway: null, gatewayMacId: 0, gatewayMacMode: '', excludes: null, pattern: '' };
    expect((await post('', { ...draft, ...empty, ports: null, spoofing: null, macOverrides: null })).status).toBe(200);
  });

  it.each([
    ['?limit=0', {}, { in: 'query', path: '/limit' }],
    ['?limit=1001', {}, { in: 'query', path: '/limit' }],
    ['?limit=ten', {}, { in: 'query', path: '/limit' }],
    ['?page=0', {}, { in: 'query', path: '/page' }],
    ['?page=4', {}, { in: 'query', path: '/page', code: 'OUT_OF_RANGE' }],
    ['?start=10.0.1.0', {}, { in: 'query', path: '/start', code: 'OUT_OF_RANGE' }],
    ['?start=2001:db8::1', {}, { in: 'query', path: '/start' }],
    ['?start=nowhere', {}, { in: 'query', path: '/start' }],
    ['?begin=1', {}, { in: 'query', path: '/begin' }],
    ['', { limit: 1001 }, { path: '/limit' }],
    ['', { page: 0 }, { path: '/page' }],
    ['', { page: 4 }, { path: '/page', code: 'OUT_OF_RANGE' }],
    ['', { start: '10.0.1.0' }, { path: '/start' }],
    ['', { limit: '10' }, { path: '/limit', code: 'TYPE' }],
    ['', { subnet: '10.0.0.0' }, { path: '/subnet', code: 'SUBNET_INVALID' }],
    ['', { subnet: undefined }, { path: '/subnet', code: 'REQUIRED' }],
    ['', { colour: 'red' }, { path: '/colour', code: 'UNKNOWN_MEMBER' }],
    ['', { macPolicy: { mode: 'perIp', step: 0 } }, { path: '/macPolicy/step' }],
    ['', { macOverrides: [{ ip: '10.0.0.9' }] }, { path: '/macOverrides/0', code: 'OVERRIDE_WITHOUT_MAC' }],
  ])('answers 400 to %s %j', async (query, change, issue) => {
    const { status, body } = await post(query, { ...draft, ...change });
    expect([status, body.error, body.data.issues]).toEqual([400, expect.any(String), [expect.objectContaining(issue)]]);
  });

  it('answers 400 without a body and to one that is no object', async () => {
    for (const body of ['', '[]', 'null', '{"subnet":']) {
      const response = await administrator.send(`${controller.url}/v1/networks/mac-policy/preview`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([body, response.status]).toEqual([body, 400]);
      await response.body?.cancel();
    }
  });

  it('answers 401 to a stranger', async () => {
    const response = await fetch(`${controller.url}/v1/networks/mac-policy/preview`, { method: 'POST' });
    expect([response.status, await response.json()]).toMatchObject([401, { error: expect.any(String) }]);
  });
});
