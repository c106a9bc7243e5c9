import { expect, it } from 'vitest';
import { payloadOf, reproducerOf } from './reproducer.ts';

const server = { ip: '192.0.2.1', port: 8080 } as never;

it('repeats a request with curl', () => {
  const request = "POST /a?q=1 HTTP/1.1\r\nHost: x\r\nX-Test: it's\r\nContent-Length: 3\r\n\r\na=b";
  expect(reproducerOf({ request, server })).toBe(
    `curl -i --path-as-is -X POST 'http://192.0.2.1:8080/a?q=1' \\\n  -H 'X-Test: it'\\''s' \\\n  --data-binary 'a=b'`,
  );
  expect(reproducerOf({ request: 'PRI * HTTP/2.0', server })).toBeUndefined();
});

it('shows the attack, decoded', () => {
  expect(payloadOf({ request: 'GET /?q=%3Cscript%3E HTTP/1.1\r\n\r\n' })).toBe('q=<script>');
  expect(payloadOf({ request: 'POST / HTTP/1.1\r\n\r\nid=1%27' })).toBe("id=1'");
  expect(payloadOf({ request: 'GET /%zz HTTP/1.1' })).toBe('/%zz');
});
