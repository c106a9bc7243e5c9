import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readFileRows } from './file-rows.ts';

const format = { delimiter: ',', quote: '"', header: true, encoding: 'utf-8', skipEmpty: true };
const reading = { format, columns: [], path: '/file' };

/** Rows cut into chunks of every size, so that characters, quotes and line ends fall on the seams. */
const inChunks = (text: string, size: number) => {
  const bytes = Buffer.from(text);
  return Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
  );
};

describe('rows of a file', () => {
  it('are the same however the file is cut into chunks', async () => {
    const text = 'a,b\r\n"ü\r\n,""€""",😀\r\nx,y\n\nlast,\r\n';
    for (let size = 1; size < 20; size += 1) {
      const rows: (readonly string[])[] = [];
      const { columns, count } = await readFileRows(inChunks(text, size), reading, (cells) => rows.push(cells));
      expect({ columns, count, rows }).toEqual({
        columns: ['a', 'b'],
        count: 3,
        rows: [
          ['ü\r\n,"€"', '😀'],
          ['x', 'y'],
          ['last', ''],
        ],
      });
    }
  });

  it('pass through in constant memory', async () => {
    const chunk = Buffer.from(`${'name,'.repeat(9)}name\n`.repeat(1300));
    const chunks = 240;
    let peak = 0;
    const start = process.memoryUsage().rss;
    let seen = 0;
    const { count } = await readFileRows(
      Readable.from(Array.from({ length: chunks }, () => chunk)),
      { ...reading, format: { ...format, header: false } },
      () => {
        seen += 1;
        if (seen % 50_000 === 0) peak = Math.max(peak, process.memoryUsage().rss - start);
      },
    );
    expect(count).toBe(chunks * 1300);
    expect(seen).toBe(count);
    // The rows of the file would take ten times as much.
    expect(chunk.length * chunks).toBeGreaterThan(15_000_000);
    expect(peak).toBeLessThan(100 * 1_048_576);
  });

  it('stop being read once there are a hundred problems', async () => {
    let sent = 0;
    const endless = Readable.from(
      (function* () {
        yield Buffer.from('a,b\n');
        for (;;) {
          sent += 1;
          yield Buffer.from('1\n'.repeat(1000));
        }
      })(),
    );
    await expect(readFileRows(endless, reading, () => {})).rejects.toMatchObject({ kind: 'invalid' });
    expect(sent).toBeLessThan(1000);
    expect(endless.destroyed).toBe(false);
    endless.destroy();
  });

  it('leave failures of the stream as they are', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('the disk went away'));
      },
    });
    await expect(readFileRows(broken, reading, () => {})).rejects.toThrow('the disk went away');
  });
});
