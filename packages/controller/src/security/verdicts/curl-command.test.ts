import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { HttpRequest } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { curlOf } from './curl-command.ts';

const attempt = (request: Partial<HttpRequest>) => ({
  exchange: {
    protocol: 'http' as const,
    steps: [
      {
        request: { method: 'POST', path: '/a/../b?q=<x>', version: '1.1' as const, headers: [], ...request },
        answer: { mode: 'canned' as const, status: 200, headers: [] },
      },
    ],
  },
});

/** What a server receives when the command runs in a shell. */
const received = async (command: string): Promise<Buffer> => {
  const parts: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('data', (part) => {
      parts.push(part);
      setTimeout(() => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'), 50);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const child = spawn('sh', ['-c', command], { env: { ...process.env, TARGET: `http://127.0.0.1:${port}/` } });
  await once(child, 'exit');
  server.close();
  return Buffer.concat(parts);
};

it('the command sends the same target, headers and body', async () => {
  execFileSync('curl', ['--version']);
  const body = { data: Buffer.from("name='; drop").toString('base64') };
  const headers = [{ name: 'X-Quote', value: "it's" }];
  const text = (await received(curlOf(attempt({ headers, body })))).toString('latin1');
  expect(text).toMatch(/^POST \/a\/\.\.\/b\?q=<x> HTTP\/1\.1\r\n/);
  expect(text).toContain("X-Quote: it's\r\n");
  expect(text.endsWith("\r\n\r\nname='; drop")).toBe(true);
});

it('nothing is added that the attempt did not have, and empty headers stay', async () => {
  const body = { data: Buffer.from('a=1').toString('base64') };
  const headers = [
    { name: 'Host', value: 'app.test' },
    { name: 'X-Empty', value: '' },
    { name: 'Content-Length', value: '3' },
  ];
  const text = (await received(curlOf(attempt({ path: '/a', headers, body })))).toString('latin1');
  const lines = text.split('\r\n');
  expect(lines.slice(1, -2).map((line) => line.toLowerCase())).toEqual(
    expect.arrayContaining(['host: app.test', 'x-empty:', 'content-length: 3']),
  );
  expect(lines).toHaveLength(6);
});

it('says so when a body is shown in part', () => {
  const large = curlOf(attempt({ body: { data: Buffer.alloc(9000, 'x').toString('base64') } }));
  expect(large.startsWith('# the first 8192 of 9000 bytes of the body\n')).toBe(true);
});

it('bytes stay bytes', async () => {
  const bytes = Buffer.from([0, 0xff, 0x0a, 0x27]);
  const sent = await received(curlOf(attempt({ body: { data: bytes.toString('base64') } })));
  expect(sent.subarray(-4).equals(bytes)).toBe(true);
});

it('samples are not put into commands', () => {
  expect(curlOf(attempt({ body: { file: 'a'.repeat(64) } }))).toBe('');
});
