import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
let dictionaries: SignedIn['client']['dictionaries'];
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  dictionaries = administrator.client.dictionaries;
});
afterAll(() => controller.close());

type Fields = NonNullable<NonNullable<Parameters<typeof dictionaries.create>[0]>['upload']>['fields'];

const upload = async (
  filename: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Omit<Fields, 'name'> = {},
) => {
  const file = new Blob([content]);
  const name = `${filename} ${Math.random()}`;
  const { data } = await dictionaries.create({ upload: { fields: { name, ...fields }, file, filename } });
  return (await dictionaries.get({ params: { id: data } })).data;
};
const issue = (code: string, message: RegExp | string = '') => ({
  status: 400,
  data: {
    code: 'INVALID_DICTIONARY',
    issues: [{ path: '/file', code, message: expect.stringMatching(message) }],
  },
});
const count = async () => (await dictionaries.list()).cursor.totalRows;

describe('an uploaded file', () => {
  it('becomes a table: quotes, line ends of every system, empty lines', async () => {
    const csv = '\ufefflogin,"full name"\r\nanna,"Smith, ""A"""\n\nbob,"two\nlines"\rcem,\n';
    expect(await upload('people.csv', csv, { tags: 'people', selection: 'shuffle' })).toMatchObject({
      type: 'table',
      selection: 'shuffle',
      tags: 'people',
      columns: ['login', 'full name'],
      rows: [
        ['anna', 'Smith, "A"'],
        ['bob', 'two\nlines'],
        ['cem', ''],
      ],
      rowCount: 3,
      issuerId: 1,
    });
  });

  it('is cut as its name or the request says', async () => {
    expect(await upload('a.tsv', 'x\ty\n1\t2\n')).toMatchObject({ columns: ['x', 'y'], rows: [['1', '2']] });
    expect(await upload('a.csv', '1|2\n3|4', { delimiter: '|', header: false })).toMatchObject({
      columns: ['column1', 'column2'],
      rows: [
        ['1', '2'],
        ['3', '4'],
      ],
    });
    expect(await upload('a.dat', 'x\ty\n"1\t2"', { delimiter: 'tab', quote: '' })).toMatchObject({
      rows: [['"1', '2"']],
    });
    expect(await upload('words.txt', 'one, two\n"three\n\n four \n')).toMatchObject({
      type: 'list',
      columns: ['value'],
      values: ['one, two', '"three', ' four '],
    });
    expect(await upload('words.txt', 'word\none\n\ntwo', { header: true, skipEmpty: false })).toMatchObject({
      columns: ['word'],
      values: ['one', '', 'two'],
    });
  });

  it('is read in its encoding', async () => {
    expect(await upload('l.txt', new Uint8Array([0x4b, 0xf6, 0x6c, 0x6e]), { encoding: 'iso-8859-1' })).toMatchObject({
      values: ['Köln'],
    });
    const utf16 = new Uint8Array(Buffer.from('\ufeffa,b\n日,本\n', 'utf16le'));
    expect(await upload('u.csv', utf16, { encoding: 'utf-16le' })).toMatchObject({ rows: [['日', '本']] });
    const before = await count();
    await expect(upload('bad.csv', new Uint8Array([0x61, 0x0a, 0x62, 0x0a, 0xff, 0xfe]))).rejects.toMatchObject(
      issue('BAD_ENCODING', /utf-8/),
    );
    expect(await count()).toBe(before);
  });

  it('is refused with the lines that are wrong, and nothing is stored', async () => {
    const before = await count();
    await expect(upload('r.csv', 'a,b\n\n"1\r\n",2\n3\n4,5,6\n7,8\n')).rejects.toMatchObject({
      data: {
        issues: [
          { path: '/file', code: 'ROW_RAGGED', message: 'line 5 has 1 cells, not 2' },
          { path: '/file', code: 'ROW_RAGGED', message: 'line 6 has 3 cells, not 2' },
        ],
      },
    });
    const bad: [string, string, RegExp][] = [
      ['a,b\n1,"2\n3,4\n', 'QUOTE_NOT_CLOSED', /^line 3/],
      ['a,b\n1,"2"x\n', 'INVALID_CLOSING_QUOTE', /^line 2/],
      ['a,b\n1,2"x\n', 'INVALID_OPENING_QUOTE', /^line 2/],
      ['a,b\n1,\0\n', 'BAD_TEXT', /^line 2, cell 2/],
      [`a,b\n1,2\n1,${'x'.repeat(8193)}\n`, 'CELL_TOO_LONG', /^line 3, cell 2/],
      [`a,b\n1,${'x'.repeat(2_000_000)}\n`, 'MAX_RECORD_SIZE', /^line 2/],
      ['a,b,a\n1,2,3\n', 'COLUMN_DUPLICATE', /"a" is there twice/],
      ['a,,c\n1,2,3\n', 'COLUMN_INVALID', /name/],
      [`${','.repeat(100)}\n1\n`, 'COLUMNS_TOO_MANY', /101 cells/],
      ['a,b\n', 'ROWS_MISSING', /no rows/],
      ['', 'ROWS_MISSING', /no rows/],
    ];
    for (const [content, code, message] of bad) {
      await expect(upload('bad.csv', content), code).rejects.toMatchObject(issue(code, message));
    }
    await expect(upload('w.csv', 'a,w\n1,2\n', { selection: 'weighted' })).rejects.toMatchObject({
      data: { issues: [{ path: '/config/$selection/weights', code: 'WEIGHTS_MISSING' }] },
    });
    expect(await count()).toBe(before);
  });

  it('names a hundred problems at most', async () => {
    const ragged = `a,b\n${'1\n'.repeat(5000)}`;
    const { data } = await upload('r.csv', ragged).catch((error) => error);
    expect(data.issues).toHaveLength(100);
  });

  it('may hold 100,000 rows, and no more', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `user${i},${i}`).join('\n');
    expect(await upload('most.csv', `login,n\n${lines}`)).toMatchObject({ rowCount: 100_000, rowsPartial: true });
    await expect(upload('more.csv', `login,n\n${lines}\nlast,1\n`)).rejects.toMatchObject(issue('ROWS_TOO_MANY'));
  });

  it('is refused as soon as it is too large, however much of it is still to come', async () => {
    const wide = `a,b,c,d\n${`${`${'x'.repeat(4000)},`.repeat(3)}x\n`.repeat(3000)}`;
    await expect(upload('wide.csv', wide)).rejects.toMatchObject(issue('ROWS_TOO_MANY', /bytes need type file/));
  });

  it('leaves nothing behind when it breaks off', async () => {
    const before = await count();
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const body = new ReadableStream({
        start: (stream) =>
          stream.enqueue(
            Buffer.from(
              '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\nbroken\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n1,2\r\n',
            ),
          ),
      });
      const sending = administrator.send(`${controller.url}/v1/dictionaries`, {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body,
        duplex: 'half',
        signal: AbortSignal.timeout(100),
      } as RequestInit);
      await expect(sending).rejects.toThrow();
    }
    await vi.waitFor(async () => expect(await upload('after.csv', 'a\n1\n')).toMatchObject({ rowCount: 1 }));
    expect(await count()).toBe(before + 1);
  });

  it('needs a name, and text parts that are known', async () => {
    const send = (fields: object) =>
      dictionaries.create({ upload: { fields: fields as Fields, file: new Blob(['a\n1']), filename: 'a.csv' } });
    await expect(send({})).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/name', code: 'REQUIRED' }] },
    });
    await expect(send({ name: 'n', colour: 'blue', encoding: 'ebcdic', delimiter: 'ab' })).rejects.toMatchObject({
      data: {
        issues: expect.arrayContaining([
          expect.objectContaining({ path: '/colour', code: 'UNKNOWN_MEMBER' }),
          expect.objectContaining({ path: '/encoding', code: 'ENUM' }),
          expect.objectContaining({ path: '/delimiter', code: 'PATTERN' }),
        ]),
      },
    });
  });
});
