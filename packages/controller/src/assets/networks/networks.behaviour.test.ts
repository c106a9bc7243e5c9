import { permissions } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';
import { storeTask } from './testing/task.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const issues = (...expected: [path: string, code: string][]) => ({
  status: 400,
  data: { issues: expected.map(([path, code]) => expect.objectContaining({ path, code })) },
});

describe('networks', () => {
  it('are created, read back whole and canonical, changed and deleted', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({
      body: {
        name: 'Lab',
        type: 1,
        ipVersion: 'IPv6',
        subnet: '2001:DB8:0::/64',
        gateway: '2001:db8::0001',
        gatewayMac: '02-1A-4C-00-00-01',
        excludes: ['2001:db8::5'],
        ports: '80,8000-8100',
      },
    });
    const { data: network, cursor } = await networks.get({ params: { id } });
    expect(cursor).toEqual({ count: 1, currentPage: 1, totalPages: 1, totalRows: 1 });
    expect(network).toEqual({
      id,
      name: 'Lab',
      type: 1,
      ipVersion: '6',
      subnet: '2001:db8::/64',
      gateway: '2001:db8::1',
      gatewayMac: '02:1a:4c:00:00:01',
      gatewayMacId: null,
      gatewayMacMode: 'static',
      excludes: ['2001:db8::5'],
      pattern: '',
      ports: '80,8000-8100',
      spoofing: false,
      issuerID: 1,
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await networks.update({ body: { ...network, name: 'Lab 2', spoofing: true } })).toBeUndefined();
    await networks.update({ body: { id, subnet: '10.0.0.0/24', gateway: null, excludes: null, type: null } });
    expect((await networks.get({ params: { id } })).data).toMatchObject({
      name: 'Lab 2',
      type: 3,
      ipVersion: '4',
      subnet: '10.0.0.0/24',
      gateway: '',
      excludes: [],
      spoofing: true,
    });
    await networks.update({ body: { id, gatewayMac: null } });
    expect((await networks.get({ params: { id } })).data.gatewayMacMode).toBe('arp');
    expect(await networks.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(networks.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(networks.macPolicy({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('are refused with every problem at its place, and nothing is stored', async () => {
    const { networks } = administrator.client;
    const body = {
      name: 'Broken',
      subnet: '10.0.0.5/24',
      gateway: '10.0.1.1',
      gatewayMac: 'nonsense',
      gatewayMacMode: 'arp',
      excludes: ['10.0.0.9', '10.0.0.20-10.0.0.10'],
      ports: '0-99999',
      macPolicy: { mode: 'pool', macIds: [777_777] },
    } as const;
    await expect(
      networks.create({
        body: { ...body, excludes: [...body.excludes], macPolicy: { ...body.macPolicy, macIds: [777_777] } },
      }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: expect.arrayContaining(
          [
            ['/subnet', 'HOST_BITS_SET'],
            ['/gateway', 'GATEWAY_OUTSIDE_SUBNET'],
            ['/gatewayMac', 'MAC_INVALID'],
            ['/excludes/1', 'RANGE_REVERSED'],
            ['/ports', 'PORTS_INVALID'],
            ['/macPolicy/macIds/0', 'MAC_NOT_FOUND'],
          ].map(([path, code]) => expect.objectContaining({ path, code })),
        ),
      },
    });
    expect((await networks.list({ query: { search: 'Broken' } })).cursor.totalRows).toBe(0);
  });

  it('refuse MAC records that are not there, also where the mode does not use them', async () => {
    const { networks } = administrator.client;
    const draft = { name: 'Unknown', subnet: '10.0.0.0/24', gateway: '10.0.0.1' };
    await expect(
      networks.create({ body: { ...draft, gatewayMacMode: 'arp', gatewayMacId: 424_242 } }),
    ).rejects.toMatchObject(issues(['/gatewayMacId', 'MAC_NOT_FOUND']));
    await expect(
      networks.create({ body: { ...draft, macOverrides: [{ ip: '10.0.0.7', macId: 424_242 }] } }),
    ).rejects.toMatchObject(issues(['/macOverrides/0/macId', 'MAC_NOT_FOUND']));
  });

  it('are listed by page, version, type and address', async () => {
    const { networks } = administrator.client;
    for (const third of [9, 10, 100]) {
      await networks.create({ body: { name: `Sorted ${third}`, subnet: `10.20.${third}.0/24`, type: 2 } });
    }
    await networks.create({ body: { name: 'Sorted v6', subnet: '2001:db8:20::/64' } });
    const query = { search: 'sorted', key: 'subnet', order: 'asc' } as const;
    const { data, cursor } = await networks.list({ query: { ...query, count: 3 } });
    expect(data.map(({ name }) => name)).toEqual(['Sorted 9', 'Sorted 10', 'Sorted 100']);
    expect(cursor).toEqual({ count: 3, currentPage: 1, totalPages: 2, totalRows: 4 });
    expect((await networks.list({ query: { ...query, ipVersion: 'ipv6' } })).data).toMatchObject([
      { name: 'Sorted v6' },
    ]);
    expect((await networks.list({ query: { ...query, type: 2 } })).cursor.totalRows).toBe(3);
  });

  it('have a light list without excludes', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({
      body: { name: 'Heavy', subnet: '10.21.0.0/24', excludes: ['10.21.0.9'], spoofing: true },
    });
    const all = await networks.all();
    const { data: network } = await networks.get({ params: { id } });
    expect(all.data.find((light) => light.id === id)).toEqual({ ...network, excludes: [] });
    expect(all.cursor).toEqual({ count: all.data.length, currentPage: 1, totalPages: 1, totalRows: all.data.length });
  });

  it('do not change or go while a task runs on them, and tell who uses them', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({ body: { name: 'Busy', subnet: '10.22.0.0/24' } });
    const task = await storeTask(controller, 'Load', [{ kind: 'network', id }]);
    await task.run();
    expect(await networks.usage({ params: { id } })).toEqual({
      cursor: { count: 20, currentPage: 1, totalPages: 1, totalRows: 1 },
      data: [{ kind: 'task', id: task.id, name: 'Load', status: 4 }],
    });
    const busy = { status: 409, data: { code: 'IN_USE', references: [{ kind: 'task', id: task.id, name: 'Load' }] } };
    await expect(networks.update({ body: { id, ports: '80' } })).rejects.toMatchObject(busy);
    await expect(networks.updateMacPolicy({ body: { id, macPolicy: { mode: 'derived' } } })).rejects.toMatchObject(
      busy,
    );
    await task.finish();
    await networks.update({ body: { id, ports: '80' } });
    await expect(networks.removeMany({ body: { array: [id] } })).rejects.toMatchObject(busy);
    await expect(networks.usage({ params: { id: 999_999 } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('are written only with the permission, but previewed with the one to read', async () => {
    const reader = await controller.signInWith(administrator, [permissions['networks.read']]);
    const body = { name: 'Mine', subnet: '10.0.0.0/24' };
    expect((await reader.client.networks.preview({ body })).totalRows).toBe(254);
    await expect(reader.client.networks.create({ body })).rejects.toMatchObject({
      status: 403,
      data: { permission: 'networks.write' },
    });
  });
});

describe('the MAC policy of a network', () => {
  it('is stored with the network, counted up with every change and guarded by its version', async () => {
    const { networks } = administrator.client;
    const macPolicy = { mode: 'perIp', start: '02:00:00:00:00:10', step: 2 } as const;
    const { data: id } = await networks.create({ body: { name: 'Policy', subnet: '10.30.0.0/24', macPolicy } });
    expect((await networks.macPolicy({ params: { id } })).data).toEqual({
      macPolicy,
      macOverrides: [],
      l2PolicyVersion: 1,
    });
    const macOverrides = [{ ip: '10.30.0.9', mac: '06:00:00:00:00:09', comment: 'printer' }];
    expect(await networks.updateMacPolicy({ body: { id, macOverrides, l2PolicyVersion: 1 } })).toEqual({
      data: { l2PolicyVersion: 2 },
    });
    await expect(networks.updateMacPolicy({ body: { id, macPolicy: null, l2PolicyVersion: 1 } })).rejects.toMatchObject(
      {
        status: 409,
        data: { code: 'STALE_OBJECT', l2PolicyVersion: 2 },
      },
    );
    expect((await networks.updateMacPolicy({ body: { id, macPolicy, macOverrides } })).data.l2PolicyVersion).toBe(2);
    expect((await networks.updateMacPolicy({ body: { id, macPolicy: null } })).data.l2PolicyVersion).toBe(3);
    expect((await networks.macPolicy({ params: { id } })).data).toEqual({
      macPolicy: null,
      macOverrides,
      l2PolicyVersion: 3,
    });
  });

  it('refuses addresses outside the subnet, duplicates and multicast', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({ body: { name: 'Strict', subnet: '10.31.0.0/24' } });
    const macOverrides = [
      { ip: '10.99.0.1', mac: '02:00:00:00:00:01' },
      { ip: '10.31.0.2', mac: '01:00:00:00:00:02' },
      { ip: '10.31.0.3', mac: '02:00:00:00:00:03' },
      { ip: '10.31.0.4', mac: '02:00:00:00:00:03' },
      { ip: '10.31.0.5', mac: '02:00:00:00:01:04' },
    ];
    const macPolicy = { mode: 'perIp', start: '02:00:00:00:01:00' } as const;
    await expect(networks.updateMacPolicy({ body: { id, macPolicy, macOverrides } })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: expect.arrayContaining(
          [
            ['/macOverrides/0/ip', 'OVERRIDE_OUTSIDE_SUBNET'],
            ['/macOverrides/1/mac', 'MAC_MULTICAST'],
            ['/macOverrides/3/mac', 'MAC_DUPLICATE'],
          ].map(([path, code]) => expect.objectContaining({ path, code })),
        ),
      },
    });
    await expect(
      networks.updateMacPolicy({ body: { id, macPolicy: { mode: 'magic' as 'pool', colour: 'red' } as never } }),
    ).rejects.toMatchObject(issues(['/macPolicy/colour', 'UNKNOWN_MEMBER'], ['/macPolicy/mode', 'ENUM']));
    expect((await networks.macPolicy({ params: { id } })).data.l2PolicyVersion).toBe(1);
  });

  it('keeps the subnet from moving away under its overrides', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({
      body: { name: 'Anchored', subnet: '10.32.0.0/24', macOverrides: [{ ip: '10.32.0.5', mac: '02:00:00:00:00:05' }] },
    });
    await expect(networks.update({ body: { id, subnet: '10.33.0.0/24' } })).rejects.toMatchObject(
      issues(['/macOverrides/0/ip', 'OVERRIDE_OUTSIDE_SUBNET']),
    );
    await networks.update({ body: { id, subnet: '10.33.0.0/24', macOverrides: [] } });
    expect((await networks.macPolicy({ params: { id } })).data).toMatchObject({ macOverrides: [], l2PolicyVersion: 2 });
  });
});

describe('the addresses of a stored network', () => {
  it('come page by page with the stored MACs, and nobody holds them', async () => {
    const { networks, macs } = administrator.client;
    const { data: pool } = await macs.create({
      body: { name: 'Address pool', kind: 'range', address: '0e:00:00:00:00:00', count: 1000 },
    });
    const { data: id } = await networks.create({
      body: {
        name: 'Addresses',
        subnet: '10.40.0.0/29',
        gateway: '10.40.0.1',
        gatewayMac: '0e:ff:00:00:00:01',
        macPolicy: { mode: 'pool', macIds: [pool] },
        macOverrides: [{ ip: '10.40.0.3', mac: '06:00:00:00:00:03' }],
      },
    });
    const first = await networks.addresses({ params: { id }, query: { limit: 4 } });
    expect(first).toEqual({
      rows: [
        { ip: '10.40.0.1', mac: '0e:ff:00:00:00:01', source: 'gateway', overridden: false, holder: null },
        { ip: '10.40.0.2', mac: '0e:00:00:00:00:00', source: 'policy', overridden: false, holder: null },
        { ip: '10.40.0.3', mac: '06:00:00:00:00:03', source: 'override', overridden: true, holder: null },
        { ip: '10.40.0.4', mac: '0e:00:00:00:00:02', source: 'policy', overridden: false, holder: null },
      ],
      nextStart: '10.40.0.5',
      page: 1,
      limit: 4,
      totalRows: 6,
      totalPages: 2,
    });
    const byPage = await networks.addresses({ params: { id }, query: { limit: 4, page: 2 } });
    expect(await networks.addresses({ params: { id }, query: { limit: 4, start: '10.40.0.5' } })).toEqual(byPage);
    expect(byPage.nextStart).toBeNull();
    await expect(networks.addresses({ params: { id }, query: { page: 9 } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/page', in: 'query', code: 'OUT_OF_RANGE' }] },
    });
    await expect(networks.addresses({ params: { id: 999_999 } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });
});

describe('the check of a draft', () => {
  it('counts addresses and names every problem without storing anything', async () => {
    const { networks } = administrator.client;
    expect(
      (await networks.validate({ body: { subnet: '10.50.0.0/24', gateway: '10.50.0.1', excludes: ['10.50.0.2'] } }))
        .data,
    ).toEqual({ valid: true, issues: [], size: 256, usable: 252 });
    expect((await networks.validate({ body: { subnet: '10.50.0.0/33', gateway: 'x' } })).data).toMatchObject({
      valid: false,
      issues: [{ path: '/subnet', code: 'SUBNET_INVALID', severity: 'error' }],
      size: 0,
      usable: 0,
    });
    await expect(networks.validate({ body: { name: 'No subnet' } as never })).rejects.toMatchObject(
      issues(['/subnet', 'REQUIRED']),
    );
    const pool = { subnet: '2001:db8:50::/64', macPolicy: { mode: 'pool', macIds: [987_654] } } as const;
    const { data } = await networks.validate({ body: { ...pool, macPolicy: { mode: 'pool', macIds: [987_654] } } });
    expect(data).toMatchObject({ valid: false, issues: [{ path: '/macPolicy/macIds/0' }], size: 2 ** 64 });
  });

  it('warns of stored networks that share addresses, exactly, but not of the network itself', async () => {
    const { networks } = administrator.client;
    const { data: id } = await networks.create({
      body: { name: 'Taken', subnet: '10.51.0.0/16', pattern: '10.51.*.1-9' },
    });
    const overlap = (await networks.validate({ body: { name: 'Free', subnet: '10.51.7.0/24' } })).data;
    expect(overlap).toMatchObject({
      valid: true,
      issues: [{ path: '/subnet', code: 'OVERLAP', severity: 'warning', networkID: id }],
    });
    expect(overlap.issues[0]?.message).toContain('shares 9 addresses (10.51.7.1 to 10.51.7.9)');
    const beside = { name: 'Free', subnet: '10.51.7.0/24', excludes: ['10.51.7.1-10.51.7.9'] };
    expect((await networks.validate({ body: beside })).data.issues).toEqual([]);
    const { data: stored } = await networks.get({ params: { id } });
    expect((await networks.validate({ body: stored })).data).toMatchObject({ valid: true, issues: [] });
    expect((await networks.validate({ body: { ...stored, id: 0 } })).data).toMatchObject({
      valid: false,
      issues: [{ path: '/name', code: 'DUPLICATE' }, { code: 'OVERLAP' }],
    });
  });
});
