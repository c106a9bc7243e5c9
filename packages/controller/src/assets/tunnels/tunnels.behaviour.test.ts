import { describe, expect, it } from 'vitest';
import { openParams, tunnels as storedTunnels } from '../../store/assets/tunnels.ts';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';
import { storeTask } from '../networks/testing/task.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const mask = '********';
const issues = (...expected: [path: string, code: string][]) => ({
  status: 400,
  data: { issues: expected.map(([path, code]) => expect.objectContaining({ path, code })) },
});
const secretsOf = async (id: number) => {
  const stored = await storedTunnels.find(controller.store.read, id);
  if (stored === undefined) throw new Error(`no tunnel ${id}`);
  return { sealed: stored.secrets, params: openParams(stored, controller.store.secrets) };
};

describe('tunnels', () => {
  it('are created, read back whole, changed and deleted', async () => {
    const { tunnels } = administrator.client;
    const { data: id } = await tunnels.create({
      body: {
        name: 'Overlay',
        type: 'vxlan',
        endpoints: '10.0.0.1-10.0.0.50 > 10.9.0.1',
        params: { vni: 100, innerVlan: true },
        certificateID: 0,
      },
    });
    const { data: tunnel, cursor } = await tunnels.get({ params: { id } });
    expect(cursor).toEqual({ count: 1, currentPage: 1, totalPages: 1, totalRows: 1 });
    expect(tunnel).toEqual({
      id,
      name: 'Overlay',
      type: 'vxlan',
      description: '',
      clientIp: '',
      serverIp: '',
      endpoints: '10.0.0.1-10.0.0.50 > 10.9.0.1',
      count: 0,
      mtu: 1500,
      params: { vni: 100, innerVlan: true },
      certificateID: null,
      secretSet: false,
      tags: '',
      issuerID: 1,
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await tunnels.update({ body: { ...tunnel, mtu: 9000 } })).toBeUndefined();
    await tunnels.update({ body: { id, params: { innerVlan: null, port: 8472 }, tags: 'lab' } });
    const { data: changed } = await tunnels.get({ params: { id } });
    expect(changed).toMatchObject({ mtu: 9000, tags: 'lab', params: { vni: 100, port: 8472 } });
    expect(changed.updatedAt > tunnel.updatedAt).toBe(true);
    await tunnels.update({ body: { id, mtu: null, type: 'mpls', params: { label: 16 } } });
    expect((await tunnels.get({ params: { id } })).data).toMatchObject({ mtu: 1500, params: { label: 16 } });
    await expect(tunnels.update({ body: { ...changed, name: 'Late' } })).rejects.toEqual(refused(409, 'STALE_OBJECT'));
    expect(await tunnels.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(tunnels.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('keep secrets sealed, show masks, and take a mask for the secret they have', async () => {
    const { tunnels } = administrator.client;
    const { data: id } = await tunnels.create({
      body: {
        name: 'Secret',
        type: 'ipsec',
        clientIp: '10.0.0.1',
        serverIp: '10.0.0.2',
        params: { psk: 'correct horse', natt: true },
      },
    });
    const { data: tunnel } = await tunnels.get({ params: { id } });
    expect(tunnel).toMatchObject({ secretSet: true, params: { psk: mask, natt: true } });
    expect((await tunnels.list({ query: { type: 'ipsec' } })).data[0]?.params).toEqual({ psk: mask, natt: true });
    const { sealed, params } = await secretsOf(id);
    expect(params).toEqual({ psk: 'correct horse', natt: true });
    expect(sealed).not.toContain('horse');

    await tunnels.update({ body: { ...tunnel, description: 'same secret' } });
    expect((await secretsOf(id)).params).toMatchObject({ psk: 'correct horse' });
    await tunnels.update({ body: { id, params: { psk: 'battery staple' } } });
    expect((await secretsOf(id)).params).toEqual({ psk: 'battery staple', natt: true });
    await tunnels.update({ body: { id, params: { psk: null } } });
    expect((await tunnels.get({ params: { id } })).data).toMatchObject({ secretSet: false, params: { natt: true } });
    expect((await secretsOf(id)).sealed).toBe('');
  });

  it('never store a mask as a secret', async () => {
    const { tunnels } = administrator.client;
    const { data: id } = await tunnels.create({
      body: { name: 'Copied', type: 'ipsec', clientIp: '10.0.0.1', serverIp: '10.0.0.2', params: { psk: mask } },
    });
    expect((await tunnels.get({ params: { id } })).data).toMatchObject({ secretSet: false, params: {} });
  });

  it('are refused with every problem at its place', async () => {
    const { tunnels } = administrator.client;
    await expect(
      tunnels.create({
        body: {
          name: 'Broken',
          type: 'geneve',
          clientIp: 'x',
          endpoints: '10.0.0.9-10.0.0.1 > 10.9.0.1',
          params: { vni: 2 ** 24, optionBytes: 6, colour: 'red', df: 'yes' },
        },
      }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: expect.arrayContaining(
          [
            ['/endpoints', 'RANGE_REVERSED'],
            ['/clientIp', 'ADDRESS_INVALID'],
            ['/params/vni', 'MAXIMUM'],
            ['/params/optionBytes', 'MULTIPLE_OF'],
            ['/params/colour', 'UNKNOWN_MEMBER'],
            ['/params/df', 'TYPE'],
          ].map(([path, code]) => expect.objectContaining({ path, code })),
        ),
      },
    });
    const ends = { clientIp: '10.0.0.1', serverIp: '10.0.0.2' };
    await expect(
      tunnels.create({ body: { name: 'Cipher', type: 'ipsec', ...ends, params: { cipher: 'rot13' } } }),
    ).rejects.toMatchObject(issues(['/params/cipher', 'CIPHER_UNKNOWN']));
    await expect(
      tunnels.create({ body: { name: 'Labels', type: 'mpls', ...ends, count: 100, params: { label: 1_048_500 } } }),
    ).rejects.toMatchObject(issues(['/params/label', 'NUMBER_OVERFLOW']));
    await expect(tunnels.create({ body: { name: 'Kind', type: 'pipe' as 'gre' } })).rejects.toMatchObject(
      issues(['/type', 'ENUM']),
    );
    await expect(
      tunnels.create({ body: { name: 'Key', type: 'wireguard', ...ends, params: { privateKey: 'short' } } }),
    ).rejects.toMatchObject(issues(['/params/privateKey', 'PATTERN']));
  });

  it('have unique names, and are listed by page, type and part of a text', async () => {
    const { tunnels } = administrator.client;
    for (const type of ['gre', 'ipip', 'gtpu'] as const) {
      await tunnels.create({ body: { name: `Listed ${type}`, type, endpoints: '10.0.0.1 > 10.0.0.2' } });
    }
    await expect(
      tunnels.create({ body: { name: 'Listed gre', type: 'gre', endpoints: '10.0.0.1 > 10.0.0.2' } }),
    ).rejects.toMatchObject(issues(['/name', 'DUPLICATE']));
    const { data, cursor } = await tunnels.list({ query: { search: 'listed', key: 'name', order: 'asc', count: 2 } });
    expect(data.map(({ type }) => type)).toEqual(['gre', 'gtpu']);
    expect(cursor).toEqual({ count: 2, currentPage: 1, totalPages: 2, totalRows: 3 });
    expect((await tunnels.list({ query: { search: 'listed', type: 'ipip' } })).cursor.totalRows).toBe(1);
    const all = await tunnels.all();
    expect(all.data.find(({ name }) => name === 'Listed gre')).toMatchObject({ endpoints: '', params: {} });
    expect(all.cursor).toEqual({ count: all.data.length, currentPage: 1, totalPages: 1, totalRows: all.data.length });
  });

  it('name a certificate that is there, and keep it from being deleted', async () => {
    const { tunnels, certificates } = administrator.client;
    const draft = { name: 'Certified', type: 'ipsec', endpoints: '10.0.0.1 > 10.0.0.2' } as const;
    const body = { ...draft, params: { authMethod: 'cert' }, certificateID: 31_337 };
    await expect(tunnels.create({ body })).rejects.toMatchObject(issues(['/certificateID', 'CERTIFICATE_NOT_FOUND']));
    expect((await tunnels.validate({ body })).data).toMatchObject({
      valid: false,
      issues: [{ path: '/certificateID', code: 'CERTIFICATE_NOT_FOUND', severity: 'error' }],
    });
    const { data: certificateID } = await certificates.create({
      body: { name: 'Gateway', generate: { kind: 'self-signed', subject: 'CN=gateway.example.test' } },
    });
    const { data: id } = await tunnels.create({ body: { ...body, certificateID } });
    await expect(certificates.removeMany({ body: { array: [certificateID] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'tunnel', id, name: 'Certified' }] },
    });
    await tunnels.update({ body: { id, certificateID: null } });
    await certificates.removeMany({ body: { array: [certificateID] } });
  });

  it('do not change or go while a task uses them, and tell who does', async () => {
    const { tunnels } = administrator.client;
    const { data: id } = await tunnels.create({
      body: { name: 'Busy', type: 'gre', endpoints: '10.0.0.1 > 10.0.0.2' },
    });
    const task = await storeTask(controller, 'Load', [{ kind: 'tunnel', id }]);
    await task.run();
    const references = [{ kind: 'task', id: task.id, name: 'Load' }];
    expect((await tunnels.usage({ params: { id } })).data).toEqual([{ ...references[0], status: 4 }]);
    const busy = { status: 409, data: { code: 'IN_USE', references } };
    await expect(tunnels.update({ body: { id, mtu: 1400 } })).rejects.toMatchObject(busy);
    await task.finish();
    await tunnels.update({ body: { id, mtu: 1400 } });
    await expect(tunnels.removeMany({ body: { array: [id] } })).rejects.toMatchObject(busy);
  });
});

describe('the types of tunnels', () => {
  it('come with a JSON Schema, secrets, overhead and engines', async () => {
    const { data, cursor } = await administrator.client.tunnels.types();
    expect(data.map(({ type }) => type)).toEqual([
      'ipsec',
      'gre',
      'ipip',
      'vxlan',
      'geneve',
      'l2tpv3',
      'gtpu',
      'wireguard',
      'mpls',
    ]);
    expect(cursor).toEqual({ count: 9, currentPage: 1, totalPages: 1, totalRows: 9 });
    expect(data.find(({ type }) => type === 'vxlan')).toMatchObject({
      overheadBytes: 50,
      overheadBytesIpv6: 70,
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: { vni: { type: 'integer', maximum: 2 ** 24 - 1 } },
      },
    });
    expect(data.find(({ type }) => type === 'wireguard')?.secrets).toEqual(['privateKey', 'presharedKey']);
    expect(data.filter(({ available }) => !available)).toEqual([]);
    expect(data.find(({ type }) => type === 'wireguard')).toMatchObject({ engines: ['stack'], reason: '' });
    for (const { schema } of data) expect(schema['properties']).toEqual(expect.anything());
  });
});

describe('the check of a draft', () => {
  it('expands the first thousand pairs and computes the inner MTU', async () => {
    const { data } = await administrator.client.tunnels.validate({
      body: { type: 'wireguard', endpoints: '10.0.0.0/16 > 10.9.0.1-10.9.0.2', params: { privateKey: mask } },
    });
    expect(data).toMatchObject({ valid: true, count: 65_534, innerMtu: 1440 });
    expect(data.endpoints).toHaveLength(1000);
    expect(data.endpoints.slice(0, 3)).toEqual([
      { client: '10.0.0.1', server: '10.9.0.1' },
      { client: '10.0.0.2', server: '10.9.0.2' },
      { client: '10.0.0.3', server: '10.9.0.1' },
    ]);
    expect(data.issues).toMatchObject([{ path: '/params/privateKey', code: 'SECRET_MISSING', severity: 'warning' }]);
  });

  it('knows the secrets of the stored tunnel it is meant for', async () => {
    const { tunnels } = administrator.client;
    const body = {
      name: 'Checked',
      type: 'ipsec',
      endpoints: '2001:db8::1 > 2001:db8::2',
      params: { psk: 'tall lighthouse' },
    } as const;
    const { data: id } = await tunnels.create({ body });
    const { data: stored } = await tunnels.get({ params: { id } });
    expect((await tunnels.validate({ body: stored })).data).toMatchObject({ valid: true, issues: [] });
    expect((await tunnels.validate({ body: { ...stored, id: null } })).data.issues).toMatchObject([
      { path: '/params/psk', code: 'SECRET_MISSING' },
    ]);
  });

  it('reports problems without refusing the request, and leaves room for what a task adds', async () => {
    const { tunnels } = administrator.client;
    const bad = await tunnels.validate({
      body: { type: 'gre', clientIp: '10.0.0.1', serverIp: '2001:db8::1', params: { key: -1 } },
    });
    expect(bad.data).toMatchObject({
      valid: false,
      issues: [
        { path: '/endpoints', code: 'ENDPOINTS_VERSION', severity: 'error' },
        { path: '/params/key', code: 'MINIMUM', severity: 'error' },
      ],
      endpoints: [],
    });
    const open = await tunnels.validate({ body: { type: 'gre', serverIp: '10.0.0.1', mtu: 100 } });
    expect(open.data).toMatchObject({
      valid: true,
      issues: [
        { path: '/clientIp', code: 'ENDPOINT_MISSING', severity: 'warning' },
        { path: '/mtu', code: 'MTU_SMALL', severity: 'warning' },
      ],
      innerMtu: 76,
    });
    const tiny = await tunnels.validate({ body: { type: 'vxlan', endpoints: '10.0.0.1 > 10.0.0.2', mtu: 100 } });
    expect(tiny.data).toMatchObject({ valid: false, issues: [{ path: '/mtu', code: 'MTU_TOO_SMALL' }] });
    await expect(tunnels.validate({ body: { type: 'gre', colour: 'red' } as never })).rejects.toMatchObject(
      issues(['/colour', 'UNKNOWN_MEMBER']),
    );
  });
});
