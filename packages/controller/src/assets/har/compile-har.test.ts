import { describe, expect, it } from 'vitest';
import { compileHar } from './compile-har.ts';
import { HarError } from './har-warnings.ts';
import { type HarOptions, harOf, paramsOf, type Shown } from './testing/har-fixture.ts';

const compiled = (shown: Shown[], options: HarOptions = {}) => compileHar(harOf(...shown), paramsOf(options));
const urlsOf = (shown: Shown[], options: HarOptions) =>
  compiled(shown, options).answers.answers.map(({ host, path }) => `${host}${path}`);
const stepsOf = (shown: Shown[], options: HarOptions) =>
  compiled(shown, options).script.pages.flatMap(({ steps }) => steps);
const codesOf = ({ warnings }: { warnings: readonly { code: string }[] }) => warnings.map(({ code }) => code);

describe('a recording', () => {
  it.each([
    ['{', 'HAR_BROKEN'],
    ['[]', 'HAR_BROKEN'],
    ['{"log":{"entries":{}}}', 'HAR_BROKEN'],
    ['{"log":{"entries":[]}}', 'HAR_EMPTY'],
    ['{"log":{"entries":[1,null,{"request":7,"response":[]}]}}', 'HAR_EMPTY'],
    [harOf({ url: 'wss://a.test/socket', status: 101 }), 'HAR_EMPTY'],
  ])('that cannot be played is refused: %s', (text, code) => {
    const problem = (() => {
      try {
        compileHar(text, paramsOf());
        return undefined;
      } catch (error) {
        return error;
      }
    })();
    expect(problem).toBeInstanceOf(HarError);
    expect((problem as HarError).code).toBe(code);
  });

  it('is played without what cannot be, and says so', () => {
    const made = compiled([
      { url: 'http://a.test/' },
      { url: 'http://a.test/ws', status: 101 },
      { url: 'ws://a.test/ws', atMs: 1 },
      { url: 'data:text/plain,x', atMs: 2 },
      { url: 'http://a.test/blocked', status: 0 },
      { url: 'not an address' },
      { url: 'http://a.test/cached', more: { _fromCache: 'disk' } },
      { url: 'http://a.test/film', size: 5_000_000_000 },
      { url: 'http://a.test/undated', more: { startedDateTime: 'yesterday' } },
      { url: 'http://a.test/h', headers: { 'bad name': 'x', good: 'a\u0007b', fine: 'ü☃' } },
      { url: 'http://a.test/3', version: 'h3' },
      { url: 'http://a.test/g', post: { mimeType: 'text/plain', text: 'body' } },
    ]);
    expect(codesOf(made)).toEqual([
      'HAR_WEBSOCKET',
      'HAR_SCHEME',
      'HAR_UNANSWERED',
      'HAR_BROKEN_ENTRY',
      'HAR_FROM_CACHE',
      'HAR_BODY_MISSING',
      'HAR_TIME_UNSOUND',
      'HAR_HEADER_UNSOUND',
      'HAR_BODY_ON_GET',
    ]);
    expect(made.issues).toMatchObject([{ path: ['httpVersion'], code: 'HAR_HTTP3' }]);
    expect(made.summary.usesHttp3).toBe(false);
    expect(made.warnings[0]?.message).toBe('2 entries are WebSockets, which are not played; the first is entry 1');
    expect(made.script.entries.map(({ index }) => index).sort((a, b) => a - b)).toEqual([0, 7, 8, 9, 10, 11]);
    expect(made.script.entries.find(({ index }) => index === 9)?.headers).toEqual([
      { name: 'fine', value: [Buffer.from('ü☃').toString('latin1')] },
    ]);
    expect(made.answers.answers.find(({ index }) => index === 7)?.body).toEqual({ size: 5_000_000_000 });
  });

  it('is played in parts: hosts, addresses, methods, pages, kinds', () => {
    const shown: Shown[] = [
      { url: 'http://app.test/' },
      { url: 'http://app.test/api/save', method: 'POST', atMs: 1 },
      { url: 'http://cdn.app.test/x.png', atMs: 2, text: Buffer.of(1) },
      { url: 'http://other.test/t', atMs: 3, page: 'page_2' },
    ];
    expect(urlsOf(shown, { only: ['*app.test'] })).toEqual(['app.test/', 'app.test/api/save', 'cdn.app.test/x.png']);
    expect(urlsOf(shown, { skip: ['cdn.*'], pages: ['First'] })).toEqual(['app.test/', 'app.test/api/save']);
    expect(urlsOf(shown, { urlRegex: '/api/|/t$' })).toEqual(['app.test/api/save', 'other.test/t']);
    expect(urlsOf(shown, { methods: ['POST'] })).toEqual(['app.test/api/save']);
    expect(urlsOf(shown, { pages: ['page_2'] })).toEqual(['other.test/t']);
    expect(urlsOf(shown, { staticAssets: false, maxEntries: 2 })).toEqual(['app.test/', 'app.test/api/save']);
    expect(() => compiled(shown, { urlRegex: '(' })).toThrow('urlRegex');
  });

  it('keeps the pauses between batches, as far as they are wanted', () => {
    const shown: Shown[] = [
      { url: 'http://a.test/1', ms: 100 },
      { url: 'http://a.test/2', atMs: 400, ms: 100 },
      { url: 'http://a.test/3', atMs: 700, ms: 100 },
      { url: 'http://a.test/4', atMs: 90_000 },
      { url: 'http://a.test/5', atMs: 92_005, page: 'page_2' },
    ];
    const batches = [[0, 1], [2], [3], [4]];
    const pauses = (options: HarOptions) => stepsOf(shown, options).map(({ pauseMs }) => pauseMs);
    expect(stepsOf(shown, {}).map(({ entries }) => entries)).toEqual(batches);
    expect(pauses({})).toEqual([0, 0, 30_000, 2000]);
    expect(pauses({ minSleepMs: 0, maxSleepMs: 1_000_000 })).toEqual([0, 200, 89_200, 2000]);
    expect(pauses({ timing: 'none' })).toEqual([0, 0, 0, 0]);
    expect(pauses({ timing: 'fixed', fixedSleepMs: 7 })).toEqual([0, 7, 7, 7]);
    expect(pauses({ batchWindowMs: 0, timing: 'fixed', fixedSleepMs: 7 })).toHaveLength(5);
  });

  it('lets what follows a redirect wait for it', () => {
    const { script } = compiled([
      { url: 'http://a.test/', status: 301, answerHeaders: [['Location', 'http://a.test/x?y=1']] },
      { url: 'http://a.test/logo', atMs: 1 },
      { url: 'http://a.test/x?y=1', atMs: 2 },
    ]);
    expect(script.entries.map(({ after }) => after)).toEqual([[], [], [0]]);
  });
});

describe('requests of a recording', () => {
  const secret: Shown = {
    url: 'https://a.test/x?access_token=abcdef&q=1',
    headers: { Authorization: 'Bearer s3cret', Cookie: 'sid=12345; theme', Referer: 'https://a.test/?token=abcdef' },
    answerHeaders: [['Set-Cookie', 'sid=12345; Path=/; Secure']],
  };

  it('do not show credentials, but equal ones stay equal', () => {
    const { script, answers } = compiled([secret]);
    const text = JSON.stringify([script, answers]);
    expect(text).not.toMatch(/abcdef|s3cret|12345/);
    const [entry] = script.entries;
    const headers = Object.fromEntries((entry?.headers ?? []).map(({ name, value }) => [name, value.join('')]));
    const sid = /sid=([0-9a-f]{5}); theme/.exec(headers['Cookie'] ?? '')?.[1];
    expect(headers['Authorization']).toMatch(/^Bearer [0-9a-f]{6}$/);
    expect(answers.answers[0]?.headers[0]?.value).toBe(`sid=${sid}; Path=/; Secure`);
    const token = /access_token=([0-9a-f]{6})&q=1/.exec(entry?.path.join('') ?? '')?.[1];
    expect(headers['Referer']).toBe(`https://a.test/?token=${token}`);
    expect(answers.answers[0]?.query).toBe(`access_token=${token}&q=1`);
  });

  it('show them where that is wanted, and lack what is dropped', () => {
    const { script } = compiled([secret], {
      redactSecrets: false,
      dropHeaders: ['REFERER'],
      addHeaders: [{ name: 'X-A', value: '{{n}}' }],
    });
    expect(script.entries[0]?.headers).toEqual([
      { name: 'Authorization', value: ['Bearer s3cret'] },
      { name: 'Cookie', value: ['sid=12345; theme'] },
      { name: 'X-A', value: ['{{n}}'] },
    ]);
  });

  it('have places for values of answers and of dictionaries', () => {
    const shown: Shown[] = [
      { url: 'https://a.test/login', text: '{"t":"a\\"b"}' },
      {
        url: 'https://a.test/use?t=a%22b&u={{name}}',
        method: 'POST',
        atMs: 1,
        headers: { Authorization: 'Bearer a"b', 'Content-Type': 'application/json' },
        post: { mimeType: 'application/json', text: '{"t":"a\\"b"}' },
      },
    ];
    const to = (['url', 'header', 'body'] as const).map((part) => ({ entryIdx: 1, part, match: 'a"b' }));
    const { script, issues, answers } = compiled(shown, {
      correlate: [{ from: { entryIdx: 0, part: 'body', jsonPath: '$.t' }, to }],
      variables: [{ name: 'name', dictionaryId: 1 }],
    });
    expect(issues).toEqual([]);
    const [login, use] = script.entries;
    expect(login?.takes).toEqual([{ slot: 0, part: 'body', jsonPath: [{ member: 't' }] }]);
    expect(use?.after).toEqual([0]);
    const value = { slot: 0, or: 'a%22b', as: 'url' };
    expect(use?.path).toEqual(['/use?t=', value, '&u=', { slot: 1, or: '{{name}}', as: 'url' }]);
    expect(use?.headers[0]?.value).toEqual(['Bearer ', { slot: 0, or: 'a"b', as: 'plain' }]);
    expect(use?.body).toEqual(['{"t":"', { slot: 0, or: 'a\\"b', as: 'json' }, '"}']);
    expect(answers.answers[1]?.query).toBe('t=a%22b&u={{name}}');
  });

  it('are checked against what is to be carried', () => {
    const shown: Shown[] = [
      { url: 'http://a.test/1', text: 'x' },
      { url: 'http://a.test/2', atMs: 1 },
    ];
    const rule = (from: object, to: object[] = []) => ({ from: { entryIdx: 0, part: 'body', ...from }, to }) as never;
    const codes = (...correlate: never[]) =>
      compiled(shown, { correlate }).issues.map(({ path, code }) => `${path.join('/')} ${code}`);
    expect(codes(rule({ regex: '(' }))).toEqual(['correlate/0/from/regex PATTERN_INVALID']);
    expect(codes(rule({ jsonPath: '$[' }))).toEqual(['correlate/0/from/jsonPath PATTERN_INVALID']);
    expect(codes(rule({}))).toEqual(['correlate/0/from/regex REQUIRED']);
    expect(codes(rule({ entryIdx: 9, regex: 'x' }))).toEqual(['correlate/0/from/entryIdx ENTRY_NOT_PLAYED']);
    expect(codes(rule({ regex: 'nowhere' }))).toEqual(['correlate/0/from/entryIdx VALUE_NOT_RECORDED']);
    expect(codes(rule({ regex: 'x' }, [{ entryIdx: 1, part: 'url', match: 'zz' }]))).toEqual([
      'correlate/0/to/0 MATCH_MISSING',
    ]);
    expect(codes(rule({ regex: 'x' }, [{ entryIdx: 0, part: 'url', match: '1' }]))).toEqual([
      'correlate/0/to/0 ENTRY_NOT_PLAYED',
    ]);
  });

  it('take their fields from forms, and files that were uploaded', () => {
    const params = [
      { name: 'a', value: '1 ü' },
      { name: '' },
      { name: 'f', fileName: 'x.txt', contentType: 'text/plain' },
    ];
    const posted = (mimeType: string) =>
      compiled([{ url: 'http://a.test/', method: 'POST', post: { mimeType, params } as never }]).script.entries[0]
        ?.body;
    expect(posted('application/x-www-form-urlencoded')).toEqual(['a=1+%C3%BC&f=']);
    expect((posted('multipart/form-data; boundary=B') as string[]).join('')).toBe(
      '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1 ü\r\n--B\r\nContent-Disposition: form-data; name="f"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\n\r\n--B--\r\n',
    );
  });
});
