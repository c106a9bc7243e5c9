import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { useTestController } from '../testing/use-controller.ts';

const controller = await useTestController();

it('the API document and its page are compressed and answered with 304 while they are current', async () => {
  for (const path of ['/openapi.json', '/docs/viewer/swagger-ui-bundle.js', '/docs/viewer/swagger-ui.css']) {
    const headers = { 'accept-encoding': 'gzip, br' };
    const first = await request(`${controller.url}${path}`, { headers });
    const small = Buffer.from(await first.body.arrayBuffer());
    expect([path, first.statusCode, first.headers['content-encoding']]).toEqual([path, 200, 'gzip']);
    const plain = await request(`${controller.url}${path}`);
    const whole = Buffer.from(await plain.body.arrayBuffer());
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gunzipSync(small).equals(whole)).toBe(true);
    expect(small.length).toBeLessThan(whole.length / 3);
    const again = await request(`${controller.url}${path}`, {
      headers: { ...headers, 'if-none-match': String(first.headers['etag']) },
    });
    await again.body.dump();
    expect([path, again.statusCode]).toEqual([path, 304]);
  }
});

it('the page follows the colours of the system', async () => {
  expect(await (await fetch(`${controller.url}/docs/start.js`)).text()).toContain('prefers-color-scheme: dark');
  expect(await (await fetch(`${controller.url}/docs/viewer/swagger-ui.css`)).text()).toContain('dark-mode');
  const page = await fetch(`${controller.url}/docs`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
});
