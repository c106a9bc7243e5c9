import { execFileSync } from 'node:child_process';
import { CaptureWriter, packetRows, udpPacket } from '@rushhour/pcap';
import { describe, expect, test } from 'vitest';
import { ArchiveError } from '../../archives/archive-error.ts';
import { openArchive } from '../../archives/open-archive.ts';
import { writeZip } from '../../archives/write-zip.ts';
import type { Content } from '../content.ts';
import { contentOf } from '../testing/content.ts';
import { createPreview } from './preview.ts';

async function* list(content: Content) {
  const archive = await openArchive({ stream: await content.read(0, content.size), size: content.size });
  try {
    yield* archive.members();
  } finally {
    await archive.close();
  }
}
const archives = { list, isRefusal: (error: unknown): error is Error => error instanceof ArchiveError };
const preview = createPreview({ listPackets: packetRows, archives });
const all = { start: 0, limit: 200 };

describe('text', () => {
  test('is shown by lines, whatever their ends and wherever chunks are torn', async () => {
    const text = 'first\r\nsécond\n\nfourth';
    for (const chunk of [1, 3, 1000]) {
      expect(await preview(contentOf(text, chunk), 'text', all)).toEqual({
        kind: 'text',
        encoding: 'utf-8',
        lines: ['first', 'sécond', '', 'fourth'],
        hasMore: false,
      });
    }
    expect(await preview(contentOf(text), 'text', { start: 1, limit: 2 })).toMatchObject({
      lines: ['sécond', ''],
      hasMore: true,
    });
  });

  test('of one endless line is cut, and read no further than allowed', async () => {
    const endless = contentOf(Buffer.alloc(70 * 1024 * 1024, 'x'));
    const shown = await preview(endless, 'text', all);
    expect(shown).toMatchObject({ lines: [`${'x'.repeat(2000)}…`], hasMore: true });
    expect(endless.readBytes).toBeLessThan(65 * 1024 * 1024);
  });

  test('stops reading when it has its lines', async () => {
    const long = contentOf('line\n'.repeat(4_000_000));
    expect(await preview(long, 'json', { start: 100, limit: 999 })).toMatchObject({ lines: { length: 200 } });
    expect(long.readBytes).toBeLessThan(300_000);
  });
});

describe('hex', () => {
  test('shows rows of sixteen bytes and reads no others', async () => {
    const bytes = contentOf(Buffer.from(Array.from({ length: 40 }, (_, n) => n + 0x20)));
    expect(await preview(bytes, 'binary', { start: 1, limit: 1 })).toEqual({
      kind: 'hex',
      rows: [{ offset: 16, hex: '30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f', text: '0123456789:;<=>?' }],
      hasMore: true,
    });
    expect(bytes.readBytes).toBe(16);
    expect(await preview(bytes, 'binary', { start: 2, limit: 5 })).toMatchObject({
      rows: [{ text: '@ABCDEFG' }],
      hasMore: false,
    });
    expect(await preview(bytes, 'binary', { start: 9, limit: 5 })).toEqual({ kind: 'hex', rows: [], hasMore: false });
    expect(await preview(contentOf(Buffer.from([0, 10, 200])), 'binary', all)).toMatchObject({
      rows: [{ hex: '00 0a c8', text: '...' }],
    });
  });
});

describe('csv', () => {
  test('shows columns and rows, ragged and quoted as they are', async () => {
    const csv = 'id;name\r\n1;"a;b"\r\n2;"line\r\nbreak"\r\n3\r\n4;x;y\r\n';
    expect(await preview(contentOf(csv, 5), 'csv', all)).toEqual({
      kind: 'csv',
      delimiter: ',',
      columns: ['id;name'],
      rows: [['1;"a;b"'], ['2;"line'], ['break"'], ['3'], ['4;x;y']],
      hasMore: false,
    });
    const table = csv.replace('3\r\n4;x;y\r\n', '3;z\r\n');
    expect(await preview(contentOf(table, 5), 'csv', { start: 1, limit: 1 })).toEqual({
      kind: 'csv',
      delimiter: ';',
      columns: ['id', 'name'],
      rows: [['2', 'line\r\nbreak']],
      hasMore: true,
    });
  });

  test('reads UTF-16 and stops reading when it has its rows', async () => {
    const wide = contentOf(Buffer.from(`\ufeffa,b\n${'é,ü\n'.repeat(2_000_000)}`, 'utf16le'));
    expect(await preview(wide, 'csv', { start: 0, limit: 1 })).toMatchObject({
      columns: ['a', 'b'],
      rows: [['é', 'ü']],
      hasMore: true,
    });
    expect(wide.readBytes).toBeLessThan(1_500_000);
  });

  test('with a quote that never closes shows what came before it, and says so', async () => {
    const open = contentOf(`a,b\n1,2\n"${'x'.repeat(3_000_000)}`);
    expect(await preview(open, 'csv', all)).toMatchObject({
      columns: ['a', 'b'],
      rows: [['1', '2']],
      problem: expect.stringMatching(/record/i),
    });
    expect(open.readBytes).toBeLessThan(1_500_000);
  });

  test('of very many columns and very long cells is cut', async () => {
    const { columns, rows } = (await preview(
      contentOf(`${'c,'.repeat(500)}c\n${'y'.repeat(5000)}${',v'.repeat(500)}\n`),
      'csv',
      all,
    )) as { columns: string[]; rows: string[][] };
    expect([columns.length, rows[0]?.length, rows[0]?.[0]?.length]).toEqual([100, 100, 1001]);
  });
});

describe('har', () => {
  const entry = (n: number, body = '') => ({
    time: n,
    request: { method: 'GET', url: `https://app.test/${n}`, headers: [{ name: 'url', value: 'no' }] },
    response: { status: 200 + n, bodySize: 7, content: { size: 10 * n, text: body } },
  });
  const har = (entries: unknown) => JSON.stringify({ log: { version: '1.2', entries, pages: [] } });

  test('shows a row an entry, however large the bodies between', async () => {
    const content = contentOf(har([entry(0), entry(1, '\\"x'.repeat(300_000)), entry(2)]), 1000);
    expect(await preview(content, 'har', all)).toEqual({
      kind: 'har',
      rows: [
        { n: 1, method: 'GET', url: 'https://app.test/0', status: 200, size: 7, ms: 0 },
        { n: 2, method: 'GET', url: 'https://app.test/1', status: 201, size: 10, ms: 1 },
        { n: 3, method: 'GET', url: 'https://app.test/2', status: 202, size: 20, ms: 2 },
      ],
      hasMore: false,
    });
    expect(await preview(content, 'har', { start: 1, limit: 1 })).toMatchObject({ rows: [{ n: 2 }], hasMore: true });
  });

  test('stands entries that are none, and shows what came before the file breaks off', async () => {
    expect(await preview(contentOf(har([null, 5, {}, { request: 'x', time: 'y' }])), 'har', all)).toMatchObject({
      rows: [{ n: 3, method: '', url: '', status: 0, size: 0, ms: 0 }, { n: 4 }],
    });
    const cut = har([entry(0), entry(1)]).slice(0, -80);
    expect(await preview(contentOf(cut), 'har', all)).toMatchObject({
      rows: [{ n: 1 }],
      problem: expect.stringContaining('ends too early'),
    });
    const poisoned = '{"log":{"entries":[{"__proto__":{"x":1},"request":{"constructor":"z","method":"PUT"}}]}}';
    expect(await preview(contentOf(poisoned), 'har', all)).toMatchObject({ rows: [{ method: 'PUT' }] });
  });
});

describe('archive', () => {
  const zip = async () => {
    const entries = ['a.txt', 'b/c.txt', 'd.txt'].map((name) => ({
      name,
      content: name,
      modifiedAt: new Date('2024-02-03T04:05:06Z'),
    }));
    return contentOf(Buffer.concat(await writeZip(entries).toArray()));
  };

  test('shows its members', async () => {
    expect(await preview(await zip(), 'archive', { start: 1, limit: 1 })).toMatchObject({
      kind: 'archive',
      members: [{ name: 'b/c.txt', size: 7, isEncrypted: false }],
      hasMore: true,
    });
    const tar = contentOf(execFileSync('tar', ['-C', '/', '-cf', '-', 'etc/hostname', 'etc/passwd']));
    expect(await preview(tar, 'archive', all)).toMatchObject({
      members: [{ name: 'etc/hostname' }, { name: 'etc/passwd' }],
      hasMore: false,
    });
  });

  test('that is broken says why', async () => {
    const { size, read } = await zip();
    const half = Buffer.concat(await (await read(0, size / 2)).toArray());
    expect(await preview(contentOf(half), 'archive', all)).toMatchObject({ members: [], problem: expect.any(String) });
  });
});

describe('pcap', () => {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 101 });
  for (let n = 0; n < 5; n++) {
    const fields = { src: '10.0.0.1', dst: '10.0.0.2', srcPort: 1000 + n, dstPort: 9 };
    writer.add({ seconds: n, nanoseconds: 0, bytes: udpPacket(Buffer.from('x'), fields) });
  }
  const capture = contentOf(writer.take());

  test('shows rows of packets through the filter', async () => {
    expect(await preview(capture, 'pcap', { start: 1, limit: 1 })).toMatchObject({
      kind: 'pcap',
      rows: [{ n: 2, relTimeMs: 1000, src: '10.0.0.1', dst: '10.0.0.2' }],
      hasMore: true,
    });
    expect(await preview(capture, 'pcap', { ...all, filter: 'port 1003' })).toMatchObject({
      rows: [{ n: 4 }],
      hasMore: false,
    });
  });
});
