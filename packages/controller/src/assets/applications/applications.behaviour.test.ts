import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setLinks } from '../../store/engine/links.ts';
import { refused } from '../../testing/refused.ts';
import { mappingOf, type Shop, startShop, userParameter } from './testing/shop.ts';
import { hopelessCapture, shopCapture, shopSteps } from './testing/shop-capture.ts';

let shop: Shop;
let { client, applications, pcapFileId, upload, create, get } = {} as Shop;
beforeAll(async () => {
  shop = await startShop();
  ({ client, applications, pcapFileId, upload, create, get } = shop);
});
afterAll(() => shop.controller.close());

const analyze = async (body: Parameters<typeof applications.analyze>[0]['body']) =>
  (await applications.analyze({ body })).data;
const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };

describe('an application', () => {
  it('is made from a capture, with every session that can be replayed', async () => {
    const id = await create('Shop', { tags: 'web', parameters: [userParameter(mappingOf(0, 'anna'))] });
    const { cursor, data } = await applications.get({ params: { id } });
    expect(cursor).toEqual({ count: 1, currentPage: 1, totalPages: 1, totalRows: 1 });
    expect(data).toEqual({
      id,
      name: 'Shop',
      description: '',
      tags: 'web',
      mode: 'stateful',
      defaultSpeedMode: 'original',
      clientIp: '',
      allowPerSessionSpeed: false,
      followTimestamps: true,
      lockParameters: false,
      loop: false,
      baseBps: expect.any(Number),
      basePps: expect.any(Number),
      defaultTimeout: 5000,
      defaultUsers: 1,
      timingGapThresholdMs: 500,
      pcapFileId,
      trimmedPcapFileId: null,
      pcapMd5: createHash('md5').update(shopCapture()).digest('hex'),
      source: 'user',
      sessionCount: 3,
      parameterCount: 1,
      parameters: [
        {
          id: expect.any(Number),
          applicationId: id,
          name: 'user',
          description: '',
          type: 'string',
          side: 'both',
          source: 'fixed',
          prefix: '',
          defaultValue: 'bartholomew',
          min: '',
          max: '',
          start: '',
          step: '',
          allowedValues: [],
          extractSessionIdx: 0,
          extractStepIdx: 0,
          extractOffset: 0,
          extractLength: 0,
          stepsMappings: [mappingOf(0, 'anna')],
        },
      ],
      sessions: [0, 1, 2].map((sessionIndex) =>
        expect.objectContaining({ applicationId: id, sessionIndex, protocol: sessionIndex === 1 ? 'udp' : 'tcp' }),
      ),
      issuerId: 1,
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(data.basePps).toBeGreaterThan(0);
    const [first] = data.sessions;
    expect(first).toMatchObject({
      srcIp: '10.1.0.1',
      dstIp: '10.2.0.1',
      srcPort: 40_000,
      dstPort: 80,
      exchangeCount: 2,
    });
    expect(first?.bytesC2S).toBe(shopSteps[0].length + shopSteps[2].length);
  });

  it('plays the sessions that were chosen, under the names they were given', async () => {
    const id = await create('Chosen', { sessions: [{ sessionIndex: 2, name: 'the other' }, { sessionIndex: 0 }] });
    expect((await get(id)).sessions.map(({ sessionIndex, name }) => `${sessionIndex} ${name}`)).toEqual([
      '2 the other',
      '0 http shop.test',
    ]);
  });

  it('uses the given client', async () => {
    const id = await create('Turned', { clientIp: '10.2.0.1' });
    expect((await get(id)).sessions[0]).toMatchObject({ srcIp: '10.2.0.1', srcPort: 80, dstIp: '10.1.0.1' });
    await expect(create('Nonsense', { clientIp: 'nobody' })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/clientIp' }] },
    });
  });

  it('is refused where nothing can be replayed, with the reasons of every session', async () => {
    const hopeless = await upload('hopeless.pcap', hopelessCapture());
    await expect(create('Hopeless', { pcapFileId: hopeless })).rejects.toMatchObject({
      status: 400,
      data: {
        code: 'PCAP_NOT_REPLAYABLE',
        issues: [
          { path: '/pcapFileId', code: 'PCAP_NOT_REPLAYABLE', message: expect.stringContaining('missing-bytes') },
        ],
      },
    });
    await expect(create('Holed', { sessions: [{ sessionIndex: 0 }, { sessionIndex: 3 }] })).rejects.toMatchObject({
      data: { code: 'PCAP_NOT_REPLAYABLE', issues: [{ path: '/sessions/1' }] },
    });
    await expect(create('Beyond', { sessions: [{ sessionIndex: 9 }] })).rejects.toMatchObject({
      data: { issues: [{ path: '/sessions/0/sessionIndex', code: 'SESSION_UNKNOWN' }] },
    });
    expect(await create('Frames', { mode: 'packet', sessions: [{ sessionIndex: 3 }] })).toBeGreaterThan(0);
  });

  it('needs a capture that is there', async () => {
    await expect(create('No file', { pcapFileId: 999_999 })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    const text = await upload('note.txt', Buffer.from('only text'), 'other');
    await expect(create('Text', { pcapFileId: text })).rejects.toEqual(refused(400, 'NOT_A_PCAP'));
    await expect(applications.create({ body: { name: 'None' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/pcapFileId', code: 'REQUIRED' }] },
    });
    await expect(create('Shop')).rejects.toMatchObject({ data: { issues: [{ path: '/name', code: 'DUPLICATE' }] } });
  });

  it('is answered 400 for an id that is none and 404 for one that is not there', async () => {
    await expect(get('x' as never)).rejects.toMatchObject({ status: 400 });
    await expect(get(0)).rejects.toMatchObject({ status: 400 });
    await expect(get(999_999)).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });
});

describe('mappings', () => {
  it('are refused with all their problems at once', async () => {
    const wrong = { ...mappingOf(0, 'anna'), side: 'server' as const };
    const far = { ...mappingOf(0, 'anna'), offset: 100_000 };
    await expect(
      create('Wrong', {
        parameters: [
          { ...userParameter(mappingOf(0, 'anna'), far), type: 'u8', defaultValue: '300' },
          { ...userParameter({ ...mappingOf(0, 'nna'), length: 2 }), name: 'user' },
          { name: 'other side', stepsMappings: [wrong] },
          {
            name: 'late',
            source: 'extract',
            extractStepIdx: 3,
            extractLength: 4,
            stepsMappings: [mappingOf(2, '8f3a99c04d')],
          },
          { name: 'words', source: 'dictionary', defaultValue: 'dict/999999/x' },
        ],
      }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: expect.arrayContaining(
          [
            ['/parameters/0/defaultValue', 'VALUE_UNFIT'],
            ['/parameters/1/name', 'DUPLICATE_NAME'],
            ['/parameters/4/defaultValue', 'DICTIONARY_UNKNOWN'],
            ['/parameters/0/stepsMappings/1', 'MAPPING_OUT_OF_RANGE'],
            ['/parameters/2/stepsMappings/0/side', 'MAPPING_SIDE'],
            ['/parameters/1/stepsMappings/0', 'MAPPING_OVERLAP'],
            ['/parameters/3/stepsMappings/0', 'EXTRACT_TOO_LATE'],
          ].map(([path, code]) => expect.objectContaining({ path, code })),
        ),
      },
    });
  });

  it('must keep the length where it is part of the format', async () => {
    const stepsMappings = [{ sessionIdx: 1, stepIdx: 0, side: 'client' as const, offset: 13, length: 4 }];
    const parameter = { name: 'host', defaultValue: 'longer', stepsMappings };
    await expect(create('Longer', { parameters: [parameter] })).rejects.toMatchObject({
      data: { code: 'LENGTH_CHANGE_UNSAFE', issues: [{ path: '/parameters/0/stepsMappings/0' }] },
    });
    await expect(
      create('Packets', { mode: 'packet', parameters: [userParameter(mappingOf(0, 'anna'))] }),
    ).rejects.toEqual(refused(400, 'LENGTH_CHANGE_UNSAFE'));
    expect(await create('Same length', { parameters: [{ ...parameter, defaultValue: 'mart' }] })).toBeGreaterThan(0);
  });
});

describe('an update', () => {
  it('changes what it names, replaces whole arrays, and keeps the ids of parameters', async () => {
    const id = await create('Updated', { parameters: [userParameter(mappingOf(0, 'anna'))] });
    const before = await get(id);
    const answer = await applications.update({
      body: { ...before, loop: true, updatedAt: before.updatedAt } as never,
    });
    expect(answer).toBeUndefined();
    const [kept] = before.parameters;
    await applications.update({
      body: {
        id,
        parameters: [{ name: 'new' }, { ...kept, name: 'renamed' } as never],
        sessions: [{ sessionIndex: 0 }],
      },
    });
    const after = await get(id);
    expect(after).toMatchObject({ loop: true, sessionCount: 1, parameterCount: 2 });
    expect(after.parameters.map(({ name }) => name)).toEqual(['new', 'renamed']);
    expect(after.parameters[1]?.id).toBe(kept?.id);
    await applications.update({ body: { id, parameters: null, followTimestamps: null, loop: null } });
    expect(await get(id)).toMatchObject({ parameters: [], followTimestamps: true, loop: false });
    await expect(applications.update({ body: { id, loop: true, updatedAt: before.updatedAt } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
    await expect(
      applications.update({ body: { id, parameters: [userParameter(mappingOf(0, 'anna'), mappingOf(0, 'anna'))] } }),
    ).rejects.toEqual(refused(400, 'MAPPING_OVERLAP'));
  });

  it('to another capture looks at every mapping again', async () => {
    const id = await create('Moved', {
      parameters: [userParameter(mappingOf(3, 'anna'))],
      sessions: [{ sessionIndex: 0 }],
    });
    const other = await upload('hopeless.pcap', hopelessCapture());
    await expect(applications.update({ body: { id, pcapFileId: other } })).rejects.toEqual(
      refused(400, 'PCAP_NOT_REPLAYABLE'),
    );
    await expect(applications.update({ body: { id, pcapFileId: other, mode: 'packet' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/parameters/0/stepsMappings/0', code: 'MAPPING_OUT_OF_RANGE' }] },
    });
    await applications.update({ body: { id, pcapFileId: other, mode: 'packet', parameters: [] } });
    expect(await get(id)).toMatchObject({ pcapFileId: other, sessionCount: 1 });
    await expect(client.files.removeMany({ body: { array: [other] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'application', id, name: 'Moved' }] },
    });
  });
});

describe('applications', () => {
  it('are cloned with what they hold', async () => {
    const id = await create('Model', { tags: 'web', loop: true, parameters: [userParameter(mappingOf(0, 'anna'))] });
    const { data: copy } = await applications.create({ body: { name: 'Copy', cloneFromId: id, loop: false } });
    const [model, cloned] = [await get(id), await get(copy)];
    expect(cloned).toMatchObject({ name: 'Copy', tags: 'web', loop: false, pcapFileId, sessionCount: 3 });
    expect(cloned.parameters[0]).toMatchObject({ name: 'user', stepsMappings: [mappingOf(0, 'anna')] });
    expect(cloned.parameters[0]?.id).not.toBe(model.parameters[0]?.id);
    const { data: third } = await applications.create({ body: { ...cloned, name: 'Read back' } as never });
    expect((await get(third)).parameters).toHaveLength(1);
    await expect(applications.create({ body: { name: 'x', cloneFromId: 999_999 } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
  });

  it('are listed light, filtered, searched and sorted', async () => {
    const { data: dictionary } = await client.dictionaries.create({
      body: { name: 'Words', type: 'list', values: ['a'] },
    });
    const words = { name: 'w', source: 'dictionary' as const, defaultValue: `dict/${dictionary}/value` };
    await create('List web', { tags: 'l1,l2', parameters: [words] });
    await create('List dns', { tags: 'l2', mode: 'packet', sessions: [{ sessionIndex: 1 }] });
    const names = async (query: NonNullable<NonNullable<Parameters<typeof applications.list>[0]>['query']>) =>
      (await applications.list({ query: { key: 'name', order: 'asc', ...query } })).data.map(({ name }) => name);
    expect(await names({ search: 'LIST ' })).toEqual(['List dns', 'List web']);
    expect(await names({ tag: 'l1' })).toEqual(['List web']);
    expect(await names({ tag: 'l2', protocol: 'tcp' })).toEqual(['List web']);
    expect(await names({ tag: 'l2', mode: 'packet' })).toEqual(['List dns']);
    expect(await names({ tag: 'l2', pcapFileId: 999_999 })).toEqual([]);
    const { data } = await applications.list({ query: { search: 'list web' } });
    expect(data).toMatchObject([{ parameters: [], sessions: [], sessionCount: 3, parameterCount: 1 }]);
    const all = await applications.all();
    expect(all.cursor.totalRows).toBe(all.data.length);
    await expect(client.dictionaries.removeMany({ body: { array: [dictionary] } })).rejects.toEqual(
      refused(409, 'IN_USE'),
    );
  });

  it('are not deleted while tasks use them', async () => {
    const [used, free] = [await create('Used'), await create('Free')];
    await shop.controller.store.change(origin, (tx) =>
      setLinks(tx, { kind: 'task', id: 7, name: 'nightly' }, [{ kind: 'application', id: used }]),
    );
    await expect(applications.removeMany({ body: { array: [free, used] } })).rejects.toEqual(refused(409, 'IN_USE'));
    await expect(applications.removeMany({ body: { array: [free, 999_999] } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [999_999] },
    });
    expect(await applications.removeMany({ body: { array: [free] } })).toEqual({ data: [free] });
    await expect(get(free)).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });
});

describe('analyze', () => {
  it('tells sessions, suggestions and rates of a capture, and keeps nothing', async () => {
    const before = (await applications.all()).cursor.totalRows;
    const found = await analyze({ pcapFileId, options: { suggest: true } });
    expect(found.sessions.map(({ replayable }) => replayable)).toEqual([true, true, true, false]);
    expect(found.sessions[3]?.reasons).toEqual(['missing-bytes']);
    expect(found.basePps).toBeGreaterThan(0);
    const suggested = (name: string) => found.suggestions.find((suggestion) => suggestion.name === name);
    expect(suggested('host')).toMatchObject({ source: 'fixed', defaultValue: 'shop.test' });
    expect(suggested('sid')).toMatchObject({
      source: 'extract',
      extractStepIdx: 1,
      stepsMappings: [mappingOf(2, '8f3a99c04d')],
      confidence: 0.95,
    });
    const taken = found.suggestions.map(({ confidence: _, reason: __, ...parameter }) => parameter);
    await create('All suggestions', { parameters: taken as never });
    expect((await applications.all()).cursor.totalRows).toBe(before + 1);
  });

  it('finds a value in every form it takes', async () => {
    const { matches } = await analyze({
      pcapFileId,
      options: { find: [{ pattern: 'anna' }, { pattern: 'anna@shop.test', sides: ['client'] }], sessionIdx: [0] },
    });
    const found = matches.map(({ find, encoding, stepIdx, offset, length }) => {
      const text = shopSteps[stepIdx]?.slice(offset, offset + length);
      return `${find} ${encoding} ${stepIdx} ${text}`;
    });
    expect(found).toEqual([
      '0 plain 0 anna',
      '0 plain 0 anna',
      '0 base64 2 YW5uYT',
      '0 plain 3 anna',
      '1 url 0 anna%40shop.test',
    ]);
  });

  it('ends a pattern that takes too long, while others are served', { retry: 2 }, async () => {
    const evil = await upload('evil.pcap', evilCapture());
    const slow = analyze({
      pcapFileId: evil,
      options: { find: [{ pattern: '(a+)+$', type: 'regex', encodings: ['plain'] }] },
    });
    const refusal = expect(slow).rejects.toEqual(refused(400, 'PATTERN_TOO_SLOW'));
    const started = performance.now();
    await applications.list();
    expect(performance.now() - started).toBeLessThan(2000);
    await refusal;
    await expect(analyze({ pcapFileId, options: { find: [{ pattern: '(', type: 'regex' }] } })).rejects.toMatchObject({
      status: 400,
      data: { code: 'BAD_PATTERN', issues: [{ path: '/options/find' }] },
    });
  });

  it('renders the steps as they would go out', async () => {
    const id = await create('Rendered', { parameters: [userParameter(mappingOf(0, 'anna'), mappingOf(3, 'anna'))] });
    const { rendered } = await analyze({ id, options: { render: { sessionIdx: 0, data: true } } });
    const first = Buffer.from(rendered[0]?.data ?? '', 'base64').toString();
    expect(first).toBe(shopSteps[0].replace('anna', 'bartholomew').replace('Length: 31', 'Length: 38'));
    expect(rendered[0]).toMatchObject({
      length: first.length,
      sha256: createHash('sha256').update(first).digest('hex'),
    });
    const other = await analyze({ id, options: { render: { sessionIdx: 0, data: true }, values: { user: 'x' } } });
    expect(Buffer.from(other.rendered[3]?.data ?? '', 'base64').toString()).toContain('cart of x');
    const untouched = await analyze({ pcapFileId, options: { render: { sessionIdx: 0 } } });
    expect(untouched.rendered[2]?.sha256).toBe(createHash('sha256').update(shopSteps[2]).digest('hex'));
    expect(untouched.rendered[2]?.data).toBeUndefined();
  });

  it('tells the problems of a draft instead of refusing it', async () => {
    const { issues } = await analyze({
      pcapFileId,
      parameters: [userParameter(mappingOf(0, 'anna'), mappingOf(0, 'anna'))],
    });
    expect(issues).toMatchObject([{ code: 'MAPPING_OVERLAP', severity: 'error' }]);
    await expect(analyze({ id: 999_999 })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(analyze({})).rejects.toMatchObject({ status: 400 });
  });
});

const evilCapture = () => {
  const capture = shopCapture();
  const offset = capture.indexOf('user=anna&mail=anna%40shop.test');
  return Buffer.concat([capture.subarray(0, offset), Buffer.from(`${'a'.repeat(30)}!`), capture.subarray(offset + 31)]);
};
