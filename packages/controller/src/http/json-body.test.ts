import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../testing/cpu-ms.ts';
import { parseJson, readBody } from './json-body.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const refusal = (code: string, path = '') =>
  expect.objectContaining({ kind: 'invalid', data: { issues: [expect.objectContaining({ code, path })] } });

describe('a JSON body', () => {
  it('is parsed; nothing at all is undefined', () => {
    expect(parse('{"a":[1,"ü",null]}')).toEqual({ a: [1, 'ü', null] });
    expect(parse('')).toBeUndefined();
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it.each([
    ['{', 'BAD_JSON', ''],
    ['{"__proto__":{"x":1}}', 'BAD_JSON', ''],
    ['{"constructor":{"prototype":{}}}', 'BAD_JSON', ''],
    ['{"a":{"b~/c":"x\\u0000"}}', 'BAD_TEXT', '/a/b~0~1c'],
    ['{"a":["ok","\\ud800"]}', 'BAD_TEXT', '/a/1'],
    ['{"\\udc00":1}', 'BAD_TEXT', '/\ufffd'],
    [`${'['.repeat(40)}${']'.repeat(40)}`, 'TOO_DEEP', '/0'.repeat(32)],
  ])('%s is refused as %s', (text, code, path) => {
    expect(() => parse(text)).toThrow(refusal(code, path));
  });

  it('that is no UTF-8 is refused', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(refusal('BAD_JSON'));
  });

  it('of millions of members is looked at in a moment', () => {
    const body = JSON.stringify({ rows: Array.from({ length: 1_000_000 }, () => 'cell') });
    const start = cpuMs();
    parse(body);
    expect(cpuMs() - start).toBeLessThan(3000);
  });
});

it('a body larger than its limit is not read to its end', async () => {
  const chunks = Readable.from([Buffer.alloc(600), Buffer.alloc(600)]);
  await expect(readBody(chunks, 1000)).rejects.toMatchObject({ kind: 'tooLarge', data: { limitBytes: 1000 } });
  expect(await readBody(Readable.from([Buffer.from('abc')]), 3)).toEqual(Buffer.from('abc'));
});
