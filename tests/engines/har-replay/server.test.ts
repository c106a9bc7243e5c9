import { describe, expect, it } from 'vitest';

import { harOf } from '../../../packages/controller/src/assets/har/testing/har-fixture.ts';

import { execute } from '../programs.ts';
import { allOk, counts, exact, play, serve } from './recording.ts';

describe('the server side', () => {
  it('finds the recorded request most like the given one, and counts unknown requests', async () => {
    const { port, server } = await serve(
      harOf(
        { url: 'http://a.test/s?q=1&t=5', text: 'one' },
        { url: 'http://a.test/s?q=2&t=6', text: 'two' },
        { url: 'http://b.test/s?q=2', text: 'of b' },
      ),
    );
    const asked = async (path: string, host: string) =>
      (await execute('curl', ['-sS', '-H', `Host: ${host}`, `http://127.0.0.1:${port}${path}`])).stdout;
    expect(await asked('/s?q=2&t=6', 'a.test:8080')).toBe('two');
    expect(await asked('/s?q=2&t=99', 'a.test')).toBe('two');
    expect(await asked('/s?q=2', 'B.test')).toBe('of b');
    expect(await asked('/s?q=1&t=5', 'unknown.test')).toBe('one');
    expect(await asked('/nothing', 'a.test')).toMatch(/^no recorded answer/);
    const totals = await server.stop();
    expect(['served', 'similar', 'missed'].map((name) => totals.counter(`har-replay.${name}`))).toEqual([5, 2, 1]);
  });

  it('presents a certificate valid for every recorded name, over HTTP/1.1 and HTTP/2', async () => {
    const { port } = await serve(harOf({ url: 'https://a.test/', text: 'A' }, { url: 'https://b.test/', text: 'B' }));
    const fetched = async (name: string, version: string) =>
      (
        await execute('curl', [
          '-sSk',
          version,
          '-w',
          ' %{http_version}',
          '--resolve',
          `${name}:${port}:127.0.0.1`,
          `https://${name}:${port}/`,
        ])
      ).stdout;
    expect(await fetched('a.test', '--http1.1')).toBe('A 1.1');
    expect(await fetched('b.test', '--http2')).toBe('B 2');
    const { stdout } = await execute('sh', [
      '-c',
      `openssl s_client -connect 127.0.0.1:${port} -servername b.test </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName`,
    ]);
    expect(stdout).toMatch(/DNS:a\.test, DNS:b\.test/);
  });

  it('generates bodies of the recorded size when the recording has none', async () => {
    const site = harOf(
      { url: 'http://a.test/film', size: 30_000_000 },
      { url: 'http://a.test/x', atMs: 5, text: 'abc' },
    );
    const sized = await play(site, { server: { mode: 'size' }, checks: { bodySize: true, bodySha256: true } });
    expect(counts(sized)).toEqual(allOk(2));
    expect(sized.client.counter('har-replay.rxBytes')).toBeGreaterThan(30_000_000);
    const empty = await play(site, { server: { missingBody: 'empty' }, ...exact });
    expect(counts(empty)).toEqual(allOk(2));
    expect(empty.client.counter('har-replay.rxBytes')).toBeLessThan(2000);
  });

  it('echoes the request on demand', async () => {
    const { port } = await serve(
      harOf({
        url: 'http://a.test/e',
        method: 'POST',
        status: 201,
        post: { mimeType: 'text/plain', text: 'a' },
        text: 'b',
      }),
      { server: { mode: 'echo' } },
    );
    const { stdout } = await execute('curl', [
      '-sS',
      '-H',
      'Host: a.test',
      '-d',
      'something else',
      '-w',
      ' %{http_code}',
      `http://127.0.0.1:${port}/e`,
    ]);
    expect(stdout).toBe('something else 201');
  });
});
