import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { refused } from '../../../testing/refused.ts';
import { useTestController } from '../../../testing/use-controller.ts';
import { smallCapture } from '../testing/captures.ts';

const controller = await useTestController();
const user = await controller.signIn();
await user.client.settings.update({ body: { limits: { rate: 1_000_000 } } });

const upload = async (bytes: Buffer<ArrayBuffer>, category: 'pcap' | 'other' = 'pcap') => {
  const fields = { category, onDuplicate: 'copy' } as const;
  return (await user.client.files.create({ upload: { fields, file: new Blob([bytes]), filename: 'a.pcap' } })).data;
};
const recordOf = async (id: number) => (await user.client.files.get({ params: { id } })).data;
const pcapOf = async (id: number, query: object = {}) => (await user.client.files.pcap({ params: { id }, query })).data;

describe('a capture', () => {
  it('is described by its packets and sessions as soon as it is stored', async () => {
    const id = await upload(smallCapture());
    expect(await recordOf(id)).toMatchObject({ syncReady: true, mime: 'application/vnd.tcpdump.pcap' });
    const info = await pcapOf(id);
    expect(info).toMatchObject({ fileID: id, format: 'pcap', packets: 8, sessionCount: 2, cutFile: false });
    expect(info.sessions).toMatchObject([
      {
        sessionIndex: 0,
        protocol: 'tcp',
        srcIp: '10.0.0.1',
        dstPort: 80,
        appProtocol: 'http',
        httpHost: 'shop.example',
        handshake: 'full',
        close: 'fin',
        exchangeCount: 1,
        replayable: true,
        steps: [],
      },
      { sessionIndex: 1, protocol: 'udp' },
    ]);
    expect((await pcapOf(id, { count: 1, page: 2 })).sessions.map((session) => session.sessionIndex)).toEqual([1]);
  });

  it('shows steps and the part of their payload that is asked for, in three encodings', async () => {
    const id = await upload(smallCapture('steps.example'));
    const request = 'GET /cart HTTP/1.1\r\nHost: steps.example\r\n\r\n';
    const [session] = (await pcapOf(id, { sessionIdx: [0], steps: true, encoding: 'text' })).sessions;
    expect(session?.steps).toMatchObject([
      {
        stepIdx: 0,
        side: 'client',
        length: request.length,
        data: request,
        sha256: createHash('sha256').update(request).digest('hex'),
      },
      { stepIdx: 1, side: 'server' },
    ]);
    const part = async (encoding: string) =>
      (await pcapOf(id, { sessionIdx: [0], stepIdx: 1, offset: 9, length: 6, encoding })).sessions[0]?.steps;
    expect(await part('text')).toMatchObject([{ stepIdx: 1, data: '200 OK' }]);
    expect(await part('hex')).toMatchObject([{ data: Buffer.from('200 OK').toString('hex') }]);
    expect(await part('base64')).toMatchObject([{ data: Buffer.from('200 OK').toString('base64') }]);
    await expect(pcapOf(id, { sessionIdx: [7] })).rejects.toEqual(refused(400, 'NO_SUCH_SESSION'));
    await expect(pcapOf(id, { sessionIdx: [0], stepIdx: 9 })).rejects.toEqual(refused(400, 'NO_SUCH_STEP'));
    await expect(pcapOf(id, { length: 65_537 })).rejects.toMatchObject({ status: 400 });
  });

  it('is searched for texts, bytes and patterns', async () => {
    const id = await upload(smallCapture('search.example'));
    const found = async (search: string) => {
      const { sessions, matches } = await pcapOf(id, { search });
      return { sessions: sessions.map((session) => session.sessionIndex), matches };
    };
    expect(await found('search.example')).toEqual({
      sessions: [0],
      matches: [{ sessionIdx: 0, stepIdx: 0, offset: 26, length: 14 }],
    });
    expect((await found(`hex:${Buffer.from('hello').toString('hex')}`)).matches).toMatchObject([{ stepIdx: 1 }]);
    expect((await found('re:data\\w+')).sessions).toEqual([1]);
    expect(await found('nowhere')).toEqual({ sessions: [], matches: [] });
    await expect(found('re:(')).rejects.toEqual(refused(400, 'BAD_SEARCH'));
    await expect(found('hex:xyz')).rejects.toEqual(refused(400, 'BAD_SEARCH'));
  });

  it('of another category is analysed when it is viewed, and other content never', async () => {
    const id = await upload(smallCapture('later.example'), 'other');
    expect((await pcapOf(id)).sessionCount).toBe(2);
    const text = await upload(Buffer.from('only words'), 'other');
    await expect(pcapOf(text)).rejects.toEqual(refused(400, 'NOT_A_PCAP'));
    await expect(upload(Buffer.from('only words'))).rejects.toEqual(refused(400, 'CATEGORY_MISMATCH'));
  });

  it('becomes ready when it turns from other into a capture', async () => {
    const id = await upload(smallCapture('turned.example'), 'other');
    await user.client.files.update({ body: { id, category: 'pcap' } });
    await vi.waitFor(async () => expect((await recordOf(id)).syncReady).toBe(true), 5000);
    expect((await pcapOf(id)).sessions[0]?.httpHost).toBe('turned.example');
  });

  it('that is cut short is taken with a warning; one with absurd lengths is refused', async () => {
    const bytes = smallCapture('cut.example');
    const cut = await upload(bytes.subarray(0, bytes.length - 5));
    expect(await pcapOf(cut)).toMatchObject({ cutFile: true });
    const absurd = Buffer.from(bytes);
    absurd.writeUInt32LE(0xffff_fff0, 24 + 8);
    const before = (await user.client.files.categories()).totals.files;
    await expect(upload(absurd)).rejects.toEqual(refused(400, 'CORRUPT_CAPTURE'));
    expect((await user.client.files.categories()).totals.files).toBe(before);
  });

  it('is listed packet by packet', async () => {
    const id = await upload(smallCapture('rows.example'));
    const rows = async (query: object) => (await user.client.files.preview({ params: { id }, query })).data;
    expect(await rows({ start: 3, limit: 1 })).toMatchObject({
      kind: 'pcap',
      rows: [{ n: 4, src: '10.0.0.1', dst: '10.0.0.2', relTimeMs: 3 }],
      hasMore: true,
    });
    expect(await rows({ filter: 'udp' })).toMatchObject({ rows: [{ n: 8 }], hasMore: false });
    await expect(rows({ filter: 'colour red' })).rejects.toEqual(refused(400, 'BAD_FILTER'));
  });

  it('of many megabytes is analysed beside the requests, which go on', async () => {
    // A connection that starts over has another first sequence number: each repetition is a session of its own.
    const [one, other] = [1000, 2000].map((sequence) => smallCapture('large.example', sequence)) as [Buffer, Buffer];
    const records = Buffer.concat([one.subarray(24), other.subarray(24)]);
    const count = Math.ceil((80 * 1_048_576) / records.length);
    const id = await upload(Buffer.concat([one.subarray(0, 24), ...Array(count).fill(records)]));
    await expect(pcapOf(id)).rejects.toEqual(refused(409, 'ANALYSING'));
    expect((await recordOf(id)).syncReady).toBe(false);
    let slowestMs = 0;
    const analysedFrom = performance.now();
    await vi.waitFor(
      async () => {
        const startedAt = performance.now();
        const { syncReady } = await recordOf(id);
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        expect(syncReady).toBe(true);
      },
      { timeout: 60_000, interval: 10 },
    );
    // If the analysis stopped the requests, one of them would take as long.
    expect(slowestMs).toBeLessThan((performance.now() - analysedFrom) / 2);
    const info = await pcapOf(id, { page: 1000, count: 10 });
    expect(info).toMatchObject({ packets: 16 * count });
    expect(info.sessionCount).toBeGreaterThan(2 * count);
    expect(info.sessions.map((session) => session.sessionIndex)).toEqual(
      Array.from({ length: 10 }, (_, n) => 9990 + n),
    );
    await user.client.files.removeMany({ body: { array: [id] } });
  });
});
