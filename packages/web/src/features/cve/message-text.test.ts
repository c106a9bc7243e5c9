import { expect, it } from 'vitest';
import { requestLineOf, requestTextOf, responseTextOf } from './message-text.ts';

it('writes a request as it is sent', () => {
  const headers = [{ name: 'X-Probe', value: '1' }];
  const request = { idx: 0, kind: 'http', method: 'POST', path: '/?q=1', headers, body: 'a=b' } as const;
  expect(requestLineOf(request)).toBe('HTTP/1.1');
  expect(requestTextOf(request)).toBe('POST /?q=1\nX-Probe: 1\n\na=b');
  const raw = { idx: 0, kind: 'raw', transport: 'tcp', port: 8443, data: '6869', encoding: 'hex', tls: true } as const;
  expect(requestLineOf(raw)).toBe('TCP + TLS to port 8443');
  expect(requestTextOf(raw)).toBe('[hex] 6869');
  expect(requestLineOf({ idx: 0, kind: 'dns', qname: 'c2.example.test', qtype: 'TXT' })).toBe(
    'DNS query, TXT c2.example.test',
  );
});

it('shows only responses that the signature contains', () => {
  expect(responseTextOf({ idx: 0, mode: 'canned', status: 404, body: 'gone' })).toBe('Status 404\n\ngone');
  expect(responseTextOf({ idx: 0, mode: 'synthesised' })).toBe('');
});
