import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { mappingOf, type Shop, startShop, userParameter } from './testing/shop.ts';
import { shopCapture, shopSteps } from './testing/shop-capture.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.controller.close());

const inOther = { sessionIdx: 2, stepIdx: 0, side: 'client' as const, offset: 5, length: 5 };
const file = async (id: number) => (await shop.client.files.get({ params: { id } })).data;
const content = async (id: number) => {
  const response = await shop.client.files.download({ params: { id } });
  return Buffer.from(await response.arrayBuffer());
};

it('a smaller capture is bound, and mappings go where their bytes have gone', async () => {
  const { applications, create, get, pcapFileId } = shop;
  const id = await create('Trimmed', {
    sessions: [{ sessionIndex: 0 }, { sessionIndex: 2, name: 'the other' }],
    parameters: [{ name: 'path', defaultValue: 'third', stepsMappings: [inOther] }],
  });
  const { data } = await applications.trim({ params: { id }, body: { keepSessions: [1, 2], name: 'small.pcap' } });
  expect(data).toMatchObject({
    sessionsRemap: [
      { from: 1, to: 0 },
      { from: 2, to: 1 },
    ],
    orphans: [],
  });
  const trimmed = await content(data.trimmedPcapFileId);
  expect(trimmed.length).toBeLessThan(shopCapture().length);
  expect(createHash('sha256').update(trimmed).digest('hex')).toBe(data.sha256);
  expect(await file(data.trimmedPcapFileId)).toMatchObject({
    name: 'small.pcap',
    category: 'pcap',
    source: 'trimmed',
    sha256: data.sha256,
    original_sha256: createHash('sha256').update(shopCapture()).digest('hex'),
  });
  const after = await get(id);
  expect(after).toMatchObject({
    pcapFileId,
    trimmedPcapFileId: data.trimmedPcapFileId,
    pcapMd5: createHash('md5').update(trimmed).digest('hex'),
    sessions: [{ sessionIndex: 1, name: 'the other' }],
    parameters: [{ stepsMappings: [{ ...inOther, sessionIdx: 1 }] }],
  });
  const { data: analysis } = await applications.analyze({
    body: { id, options: { render: { sessionIdx: 1, data: true } } },
  });
  expect(Buffer.from(analysis.rendered[0]?.data ?? '', 'base64').toString()).toMatch(/^GET \/third HTTP/);
});

it('mappings are not lost by accident', async () => {
  const { applications, create, get } = shop;
  const extract = {
    name: 'sid',
    source: 'extract' as const,
    extractStepIdx: 1,
    extractOffset: shopSteps[1].indexOf('8f3a'),
    extractLength: 10,
    stepsMappings: [mappingOf(2, '8f3a99c04d')],
  };
  const parameters = [userParameter(mappingOf(0, 'anna')), extract, { name: 'path', stepsMappings: [inOther] }];
  const id = await create('Guarded', { parameters });
  const before = await get(id);
  const trim = (dropMappings: boolean) =>
    applications.trim({ params: { id }, body: { keepSessions: [2], dropMappings } });
  const orphans = [
    { parameter: 'user', path: '/parameters/0/stepsMappings/0' },
    { parameter: 'sid', path: '/parameters/1' },
  ];
  await expect(trim(false)).rejects.toMatchObject({ status: 409, data: { code: 'MAPPED_SESSION_REMOVED', orphans } });
  expect(await get(id)).toEqual(before);
  expect((await trim(true)).data.orphans).toMatchObject(orphans);
  const after = await get(id);
  expect(after.parameters.map(({ name, stepsMappings }) => [name, stepsMappings.length])).toEqual([
    ['user', 0],
    ['path', 1],
  ]);
  expect(after.parameters[1]?.id).toBe(before.parameters[2]?.id);
});

it('a step that changes takes its mappings with it', async () => {
  const { applications, create } = shop;
  const parameters = [userParameter(mappingOf(3, 'anna'))];
  const id = await create('By packets', { parameters, sessions: [{ sessionIndex: 0 }] });
  await expect(applications.trim({ params: { id }, body: { packets: '1-6' } })).rejects.toMatchObject({
    status: 409,
    data: { orphans: [{ path: '/parameters/0/stepsMappings/0', reason: 'the step is not left as it was' }] },
  });
  const { data } = await applications.trim({ params: { id }, body: { packets: '1-10', dropRetransmissions: true } });
  expect(data.sessionsRemap).toEqual([{ from: 0, to: 0 }]);
});

it('what cannot be trimmed is refused, and nothing is left of it', async () => {
  const { applications, client, create } = shop;
  const id = await create('Refused', { sessions: [{ sessionIndex: 0 }] });
  const files = (await client.files.all()).cursor.totalRows;
  const trim = (body: Parameters<typeof applications.trim>[0]['body']) => applications.trim({ params: { id }, body });
  await expect(trim({ packets: '9000-9001' })).rejects.toEqual(refused(400, 'NOTHING_LEFT'));
  await expect(trim({ keepSessions: [1] })).rejects.toEqual(refused(400, 'NOTHING_LEFT'));
  await expect(trim({ keepSessions: [77] })).rejects.toEqual(refused(400, 'NO_SUCH_SESSION'));
  await expect(trim({ packets: 'many' })).rejects.toEqual(refused(400, 'BAD_RANGE'));
  await expect(applications.trim({ params: { id: 999_999 }, body: {} })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  expect((await client.files.all()).cursor.totalRows).toBe(files);
});

it('addresses are hidden when that is wanted, and the client is still the client', async () => {
  const { applications, create, get } = shop;
  const id = await create('Hidden', { clientIp: '10.1.0.1', sessions: [{ sessionIndex: 0 }] });
  const { data } = await applications.trim({ params: { id }, body: { anonymise: { ips: true, macs: true } } });
  const { clientIp, sessions } = await get(id);
  expect(clientIp).not.toBe('10.1.0.1');
  expect(sessions[0]).toMatchObject({ srcIp: clientIp, srcPort: 40_000 });
  expect((await content(data.trimmedPcapFileId)).includes(Buffer.of(10, 1, 0, 1))).toBe(false);
});

it('a trimmed capture goes with its application where that is wanted and nobody else plays it', async () => {
  const { applications, create } = shop;
  const id = await create('Gone', { sessions: [{ sessionIndex: 0 }] });
  const { data } = await applications.trim({ params: { id }, body: { keepSessions: [0] } });
  const { data: copy } = await applications.create({ body: { name: 'Gone too', cloneFromId: id } });
  const remove = (array: number[]) => applications.removeMany({ body: { array }, query: { deleteTrimmed: true } });
  await remove([id]);
  expect((await file(data.trimmedPcapFileId)).source).toBe('trimmed');
  await remove([copy]);
  await expect(file(data.trimmedPcapFileId)).rejects.toEqual(refused(404, 'NOT_FOUND'));
  expect((await file(shop.pcapFileId)).id).toBe(shop.pcapFileId);
});
