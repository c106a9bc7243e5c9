import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createExpander } from './expand.ts';
import { TemplateError } from './template-error.ts';

const expander = (variables: Record<string, string> = {}, seed = '1') =>
  createExpander({ values: new Map([['p', Buffer.from('<a b>')]]), variables, seed });
const expanded = (template: string, variables?: Record<string, string>) =>
  expander(variables)(template).toString('latin1');

it.each([
  ['plain', 'plain'],
  ['x={{p}}', 'x=<a b>'],
  ['{{url_encode(p)}}', '%3Ca%20b%3E'],
  ['{{base64("ab")}}', 'YWI='],
  ["{{hex_decode('00ff')}}", '\x00\xff'],
  ['{{md5("a")}}', '0cc175b9c0f1b6a831c399e269772661'],
  ['{{to_upper(concat("a", p))}}', 'A<A B>'],
  ['{{repeat("ab", 3)}}', 'ababab'],
  ['{{replace("a.b", ".", "-")}}', 'a-b'],
  ['{{len("abc")}}', '3'],
  ['{{trim("xax", "x")}}', 'a'],
  ['{{v}}{{v}}', 'vv'],
  ['{{"{{"}}7*7}}', '{{7*7}}'],
])('%s becomes %s', (template, expected) => {
  expect(expanded(template, { v: '{{to_lower("V")}}' })).toBe(expected);
});

it('random texts are the same for the same seed and name, and differ between names', () => {
  const once = expander({}, 'seed')('{{randstr}} {{randstr_1}} {{randstr}} {{rand_int(5, 6)}}').toString();
  expect(expander({}, 'seed')('{{randstr}} {{randstr_1}} {{randstr}} {{rand_int(5, 6)}}').toString()).toBe(once);
  const [first, second, third, number] = once.split(' ');
  expect(first).toMatch(/^[A-Za-z0-9]{27}$/);
  expect([third === first, second === first, number]).toEqual([true, false, '5']);
  expect(expander({}, 'other')('{{randstr}}').toString()).not.toBe(first);
});

it.each([
  ['{{exec("id")}}', 'FUNCTION_NOT_ALLOWED'],
  ['{{exec}}', 'FUNCTION_NOT_ALLOWED'],
  ['{{unknown}}', 'FUNCTION_NOT_ALLOWED'],
  ['{{constructor}}', 'FUNCTION_NOT_ALLOWED'],
  ['{{1+1}}', 'BAD_EXPRESSION'],
  ['{{a b}}', 'BAD_EXPRESSION'],
  ['{{md5("a"}}', 'BAD_EXPRESSION'],
  ['{{}}', 'BAD_EXPRESSION'],
  ['{{repeat("A", 99999999)}}', 'PAYLOAD_TOO_LARGE'],
  ['{{repeat(repeat("A", 2000), 2000)}}', 'PAYLOAD_TOO_LARGE'],
  ['{{rand_text_alpha(1e9)}}', 'BAD_EXPRESSION'],
  ['{{rand_text_alpha(999999999)}}', 'PAYLOAD_TOO_LARGE'],
  ['{{x}}', 'BAD_EXPRESSION'],
])('%s is refused: %s', (template, code) => {
  expect(() => expanded(template, { x: '{{y}}', y: '{{x}}' })).toThrow(expect.objectContaining({ code }));
});

it('a placeholder within another one is replaced first, and a variable that names itself is a random text', () => {
  expect(expanded('{{base64("{{x}}-{{x}}")}}', { x: 'a' })).toBe(Buffer.from('a-a').toString('base64'));
  expect(expanded('{{x}}', { x: '{{to_lower(x)}}' })).toMatch(/^[a-z0-9]{27}$/);
  expect(expanded('{{"{{"}}x}}')).toBe('{{x}}');
});

it('calls nested without end are refused', () => {
  expect(() => expanded(`{{${'md5('.repeat(100)}"a"${')'.repeat(100)}}}`)).toThrow(TemplateError);
});

it('whatever stands in a template, it expands or is refused', () => {
  const text = fc
    .array(fc.constantFrom('{{', '}}', '(', ')', ',', '"', "'", '\\', 'md5', 'p', 'repeat', '9', ' ', 'é', '\0'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (template) => {
      try {
        expanded(template);
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
  );
});
