import { expect, it } from 'vitest';
import { readGotestwaf } from './gotestwaf.ts';
import type { ReadTemplate } from './template.ts';

const read = (placeholder: string, payload: string, encoder = 'Plain') => {
  const text = `payload: [${JSON.stringify(payload)}]\nencoder: [${encoder}]\nplaceholder: [${placeholder}]\ntype: XSS\n`;
  const [outcome] = readGotestwaf({ path: 'owasp/xss.yml', bytes: Buffer.from(text) });
  return outcome as ReadTemplate & { refused?: string };
};
const carriedBy = (placeholder: string, payload: string, encoder?: string) =>
  read(placeholder, payload, encoder).draft?.payloads?.[0]?.values?.[0];

/** What Go writes for the address that gotestwaf builds. */
it.each([
  ['URLParam', 'Plain', 'a b<c>#d', '/?a4f19c0b7e=a b<c>'],
  ['URLParam', 'URL', "<a'b>/c?d", '/?a4f19c0b7e=%3Ca%27b%3E%2Fc%3Fd'],
  ['URLPath', 'Plain', '<a>/%2e', '/%3Ca%3E/.'],
  ['URLPath', 'Plain', "..%2f'x", "/..%2f'x"],
  ['URLPath', 'URL', '../x', '/..%2Fx'],
  ['JSONRequest', 'Plain', '<é', '\\u003c\\u00e9'],
  ['SOAPBody', 'Plain', `<'"&`, '<string>&lt;&#39;&#34;&amp;</string>'],
  ['HTMLForm', 'Plain', 'a=b&c', 'a=b&c'],
  ['gRPC', 'Plain', 'hi', Buffer.from([0, 0, 0, 0, 4, 0x0a, 2, 0x68, 0x69]).toString('base64')],
])('%s with %s carries %s as %s', (placeholder, encoder, payload, sent) => {
  expect(carriedBy(placeholder, payload, encoder)).toBe(sent);
});

it('addresses that Go refuses are left out', () => {
  expect(read('URLPath', 'a%zz').refused).toContain('none of the payloads');
  expect(read('Header', 'a\r\nb').refused).toContain('none of the payloads');
});

it('an escaped apostrophe in double quotes is an apostrophe', () => {
  const text = 'payload:\n  - "\\\'-alert(1)//"\nencoder: [Plain]\nplaceholder: [JSONBody]\ntype: XSS\n';
  const [outcome] = readGotestwaf({ path: 'owasp/xss.yml', bytes: Buffer.from(text) }) as [ReadTemplate];
  expect(outcome.draft.payloads?.[0]?.values).toEqual(["'-alert(1)//"]);
});
