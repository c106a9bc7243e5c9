import { permissions } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';
import { storeTask } from '../networks/testing/task.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const issue = (path: string, code: string) => ({
  status: 400,
  data: { issues: [expect.objectContaining({ path, code })] },
});

describe('MAC records', () => {
  it('are created in any spelling, read back canonical, changed and deleted', async () => {
    const { macs } = administrator.client;
    const { data: id } = await macs.create({ body: { name: 'Router', address: '00-50-56-AB-CD-01', tags: 'lab' } });
    const { data: mac, cursor } = await macs.get({ params: { id } });
    expect(cursor).toEqual({ count: 1, currentPage: 1, totalPages: 1, totalRows: 1 });
    expect(mac).toMatchObject({
      id,
      name: 'Router',
      kind: 'address',
      address: '00:50:56:ab:cd:01',
      count: 1,
      vendor: 'VMware',
      description: '',
      tags: 'lab',
      issuerID: 1,
      issuer: { id: 1, email: 'admin@example.test' },
      usedBy: [],
    });
    expect(await macs.update({ body: { ...mac, address: '0010.9400.0001' } })).toBeUndefined();
    expect((await macs.get({ params: { id } })).data).toMatchObject({
      address: '00:10:94:00:00:01',
      vendor: 'Spirent',
    });
    await macs.update({ body: { id, vendor: 'Our lab', tags: null } });
    expect((await macs.get({ params: { id } })).data).toMatchObject({ vendor: 'Our lab', tags: '' });
    expect(await macs.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(macs.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('are ranges and OUIs, too, and say how many addresses they hold', async () => {
    const { macs } = administrator.client;
    const { data: range } = await macs.create({
      body: { name: 'Range', kind: 'range', address: '02:00:00:00:00:00', count: 500 },
    });
    const { data: oui } = await macs.create({ body: { name: 'OUI', kind: 'oui', address: '02:1A:4C' } });
    expect((await macs.get({ params: { id: range } })).data).toMatchObject({ kind: 'range', count: 500 });
    expect((await macs.get({ params: { id: oui } })).data).toMatchObject({ address: '02:1a:4c', count: 2 ** 24 });
    await macs.update({ body: { id: range, kind: 'address', address: '02:00:00:00:00:09' } });
    expect((await macs.get({ params: { id: range } })).data).toMatchObject({ kind: 'address', count: 1 });
  });

  it.each([
    [{ address: '00:11:22:33:44' }, '/address', 'MAC_INVALID'],
    [{ address: '01:00:5e:00:00:01' }, '/address', 'MAC_MULTICAST'],
    [{ address: 'ff:ff:ff:ff:ff:ff' }, '/address', 'MAC_MULTICAST'],
    [{ address: '00:00:00:00:00:00' }, '/address', 'MAC_ZERO'],
    [{ kind: 'range', address: '02:00:00:00:00:01' }, '/count', 'MAC_COUNT_INVALID'],
    [{ kind: 'range', address: '02:ff:ff:ff:ff:ff', count: 2 }, '/address', 'MAC_MULTICAST'],
    [{ kind: 'oui', address: '02:00:00:00:00:01' }, '/address', 'OUI_INVALID'],
    [{ kind: 'oui', address: '02:1a:4c:00', count: 70_000 }, '/count', 'MAC_RANGE_OVERFLOW'],
    [{ address: '02:00:00:00:00:01', colour: 'red' }, '/colour', 'UNKNOWN_MEMBER'],
    [{ address: '02:00:00:00:00:01', count: '1' }, '/count', 'TYPE'],
  ] as const)('refuse %j', async (body, path, code) => {
    const bad = { name: 'Bad', ...body } as { name: string; address: string };
    await expect(administrator.client.macs.create({ body: bad })).rejects.toMatchObject(issue(path, code));
  });

  it('are unique by name and by address', async () => {
    const { macs } = administrator.client;
    await macs.create({ body: { name: 'First', address: '02:00:00:00:01:01' } });
    await expect(macs.create({ body: { name: 'First', address: '02:00:00:00:01:02' } })).rejects.toMatchObject(
      issue('/name', 'DUPLICATE'),
    );
    await expect(macs.create({ body: { name: 'Second', address: '0200.0000.0101' } })).rejects.toMatchObject(
      issue('/address', 'DUPLICATE'),
    );
  });

  it('are listed by page, kind, key and part of a text', async () => {
    const { macs } = administrator.client;
    for (let n = 1; n <= 5; n += 1)
      await macs.create({ body: { name: `Paged ${n}`, address: `06:00:00:00:00:0${n}` } });
    const first = await macs.list({ query: { search: 'PAGED', count: 3, key: 'address', order: 'asc' } });
    const second = await macs.list({ query: { search: 'PAGED', count: 3, page: 2, key: 'address', order: 'asc' } });
    expect(first.cursor).toEqual({ count: 3, currentPage: 1, totalPages: 2, totalRows: 5 });
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual([1, 2, 3, 4, 5].map((n) => `Paged ${n}`));
    expect((await macs.list({ query: { kind: 'oui' } })).data.map(({ name }) => name)).toEqual(['OUI']);
    const all = await macs.all();
    expect(all.cursor).toMatchObject({ currentPage: 1, totalPages: 1, totalRows: all.data.length });
    await expect(macs.list({ query: { key: 'colour' as 'name' } })).rejects.toEqual(refused(400, 'INVALID_REQUEST'));
  });

  it('that a network uses say so and stay', async () => {
    const { macs, networks } = administrator.client;
    const { data: gateway } = await macs.create({ body: { name: 'Gateway', address: '0a:00:00:00:00:01' } });
    const { data: pool } = await macs.create({
      body: { name: 'Pool', kind: 'range', address: '0a:00:00:00:01:00', count: 256 },
    });
    const { data: network } = await networks.create({
      body: {
        name: 'Uses MACs',
        subnet: '10.7.0.0/24',
        gateway: '10.7.0.1',
        gatewayMacId: gateway,
        macPolicy: { mode: 'pool', macIds: [pool] },
      },
    });
    const reference = { kind: 'network', id: network, name: 'Uses MACs' };
    expect((await macs.get({ params: { id: pool } })).data.usedBy).toEqual([reference]);
    await expect(macs.removeMany({ body: { array: [gateway, pool] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [reference, reference] },
    });
    await networks.update({ body: { id: network, name: 'Renamed', gatewayMacId: null, macPolicy: null } });
    expect(await macs.removeMany({ body: { array: [gateway, pool] } })).toEqual({ data: [gateway, pool] });
  });

  it('cannot move onto a MAC that a network of theirs plans already', async () => {
    const { macs, networks } = administrator.client;
    const { data: id } = await macs.create({ body: { name: 'Moves', address: '0a:00:00:00:02:01' } });
    await networks.create({
      body: {
        name: 'Planned',
        subnet: '10.8.0.0/24',
        gateway: '10.8.0.1',
        gatewayMacId: id,
        macPolicy: { mode: 'perIp', start: '0a:00:00:00:03:00' },
      },
    });
    await expect(macs.update({ body: { id, address: '0a:00:00:00:03:05' } })).rejects.toEqual(
      refused(409, 'NETWORK_UNSOUND'),
    );
    expect((await macs.get({ params: { id } })).data.address).toBe('0a:00:00:00:02:01');
    await macs.update({ body: { id, address: '0a:00:00:00:02:02' } });
  });

  it('do not change while a task runs on a network that uses them', async () => {
    const { macs, networks } = administrator.client;
    const { data: id } = await macs.create({ body: { name: 'Busy', address: '0a:00:00:00:04:01' } });
    const { data: network } = await networks.create({
      body: { name: 'Busy', subnet: '10.9.0.0/24', gateway: '10.9.0.1', gatewayMacId: id },
    });
    const task = await storeTask(controller, 'Load', [{ kind: 'network', id: network }]);
    await task.run();
    await expect(macs.update({ body: { id, name: 'Busier' } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'task', id: task.id, name: 'Load' }] },
    });
    await task.finish();
    await macs.update({ body: { id, name: 'Busier' } });
  });

  it('refuse a change made from an older version', async () => {
    const { macs } = administrator.client;
    const { data: id } = await macs.create({ body: { name: 'Versioned', address: '0a:00:00:00:05:01' } });
    const { updatedAt } = (await macs.get({ params: { id } })).data;
    await macs.update({ body: { id, updatedAt, description: 'once' } });
    await expect(macs.update({ body: { id, updatedAt, description: 'twice' } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
    await expect(macs.update({ body: { id: 999_999, name: 'Nobody' } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('are written only with the permission', async () => {
    const reader = await controller.signInWith(administrator, [permissions['macs.read']]);
    expect((await reader.client.macs.all()).data.length).toBeGreaterThan(0);
    await expect(
      reader.client.macs.create({ body: { name: 'Mine', address: '02:00:00:00:00:01' } }),
    ).rejects.toMatchObject({ status: 403, data: { permission: 'macs.write' } });
  });
});
