import { once } from 'node:events';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
beforeAll(async () => {
  controller = await startTestController({ allowedHosts: ['lab.example.test', '*.proxy.test'] });
});
afterAll(() => controller.close());

/** Sends a request with exactly these header lines. */
const ask = async (path: string, headers: readonly string[], version = '1.1') => {
  const { hostname: address, port } = new URL(controller.url);
  const socket = connect(Number(port), address);
  await once(socket, 'connect');
  socket.write([`GET ${path} HTTP/${version}`, ...headers, 'Connection: close', '', ''].join('\r\n'));
  let text = '';
  for await (const chunk of socket) text += chunk;
  return { status: Number(text.split(' ', 2)[1]), text };
};

describe('the Host header', () => {
  it('names the controller by its address, the machine, or an allowed name', async () => {
    const { port } = new URL(controller.url);
    const own = [`127.0.0.1:${port}`, 'localhost', '[::1]:8080', hostname(), 'LAB.example.test:443', 'a.proxy.test'];
    for (const host of own) {
      expect([host, (await ask('/v1/projects', [`Host: ${host}`])).status]).toEqual([host, 401]);
    }
  });

  it('of another name is refused before anything else, with the setting that would allow it', async () => {
    const foreign = ['evil.example', 'lab.example.test.evil.example', 'proxy.test', '192.0.2.9', 'a b', 'x@localhost'];
    for (const host of foreign) {
      const { status, text } = await ask('/v1/projects', [`Host: ${host}`]);
      expect([host, status]).toEqual([host, 421]);
      expect(text).toContain('RUSHHOUR_ALLOWED_HOSTS');
    }
    for (const path of ['/', '/docs', '/openapi.json', '/metrics', '/mcp', '/v1/tasks'])
      expect([path, (await ask(path, ['Host: evil.example'])).status]).toEqual([path, 421]);
    for (const path of ['/livez', '/readyz']) expect((await ask(path, ['Host: probe.example'])).status).toBe(200);
  });

  it('is given once', async () => {
    const twice = await ask('/v1/projects', ['Host: localhost', 'Host: localhost']);
    expect([twice.status, twice.text]).toEqual([400, expect.stringContaining('DUPLICATE_HOST')]);
    expect((await ask('/v1/projects', [], '1.0')).status).toBe(401);
    expect((await ask('/v1/projects', [])).status).toBe(400);
  });
});
