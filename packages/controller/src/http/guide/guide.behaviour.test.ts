import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commonMetrics, plugins } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { useTestController } from '../../testing/use-controller.ts';
import { referenceAddresses } from './reference/reference.ts';

const controller = await useTestController();
const repository = fileURLToPath(new URL('../../../../../', import.meta.url));
const get = (path: string) => fetch(`${controller.url}${path}`, { headers: { accept: 'text/html' } });

const attributesIn = (html: string, name: string) =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value.replaceAll('&amp;', '&'));

it('serves the documents without scripts, compressed and with a menu that marks the page', async () => {
  const page = await get('/guide/quick-start');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('content-encoding')).toBe('gzip');
  const html = await page.text();
  expect(html).toContain('<title>Quick start – Rushhour guide</title>');
  expect(html).toContain('<a href="/guide/quick-start" aria-current="page">Quick start</a>');
  expect(html).not.toContain('<script');
});

it('every link of every page leads to a page, a picture, a file or an anchor that is there', async () => {
  const seen = new Map<string, string>();
  const problems: string[] = [];
  const visit = async (address: string, from: string): Promise<void> => {
    if (seen.has(address)) return;
    seen.set(address, '');
    const reply = await get(address);
    if (reply.status !== 200) problems.push(`${from}: ${address} ${reply.status}`);
    if (!reply.headers.get('content-type')?.startsWith('text/html')) return;
    const html = await reply.text();
    seen.set(address, html);
    for (const link of [...attributesIn(html, 'href'), ...attributesIn(html, 'src')])
      if (link.startsWith('/guide')) await visit(link.split('#', 1)[0] ?? '', address);
  };
  await visit('/guide', '');
  for (const [address, html] of seen)
    for (const link of attributesIn(html, 'href').filter((one) => one.includes('#') && !/^https?:/.test(one))) {
      const [path = '', anchor = ''] = link.split('#', 2);
      const target = seen.get(path === '' ? address : path) ?? '';
      if (!attributesIn(target, 'id').includes(anchor)) problems.push(`${address}: ${link}`);
    }
  expect(problems).toEqual([]);
  const pages = globSync('docs/**/*.md', { cwd: repository }).filter((path) => !path.includes('decisions/'));
  const missing = pages.map((path) => `/guide/${path.slice(5, -3)}`.replace(/\/README$/, ''));
  missing.push(...referenceAddresses().map((address) => `/guide/${address}`));
  expect(missing.filter((address) => !seen.has(address))).toEqual([]);
});

it('no page shows marks that were not understood', async () => {
  for (const path of globSync('docs/**/*.md', { cwd: repository })) {
    const html = await (await get(`/guide/${path.slice(5, -3)}`)).text();
    const text = html.replace(/<(pre|code)[^>]*>[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, '');
    expect([path, /\*\*|```|\]\(|^\|/m.exec(text)?.[0]]).toEqual([path, undefined]);
  }
});

it('the reference has every member of every plugin with its meaning, all metrics, settings and codes', async () => {
  const page = async (address: string) => (await get(`/guide/reference/${address}`)).text();
  for (const { name, schema } of plugins) {
    const html = await page(`plugins/${name}`);
    const missing = Object.keys(schema.properties).filter(
      (member) => !html.includes(`<td><code>${member}</code></td>`),
    );
    expect([name, missing]).toEqual([name, []]);
    const silent = /<td><code>(\w+)<\/code><\/td>(?:<td>(?:(?!<td>).)*<\/td>){2}<td><\/td><\/tr>/.exec(html)?.[1];
    expect([name, silent]).toEqual([name, undefined]);
  }
  const metrics = await page('metrics');
  for (const { name } of commonMetrics) expect(metrics).toContain(`<code>${name}</code>`);
  expect(await page('settings')).toContain('<code>tasks.maxConcurrent</code></td><td>integer from 1 to 10,000</td>');
  expect(await page('operations')).toContain('<code>rushhour tasks start</code>');
  const errors = await page('errors');
  const rows = {
    INVALID_REQUEST: ['400', ''],
    NO_SUCH_ROUTE: ['404', 'http'],
    TOO_MANY_OPEN_UPLOADS: ['', 'assets/files/upload'],
    WINDOW_EMPTY: ['', 'tasks'],
    BAD_SAN: ['', 'assets/certificates'],
    NETWORK_INVALID: ['', 'plan/stack'],
  };
  for (const [code, [status = '', folder = '']] of Object.entries(rows)) {
    const [, statuses, folders] =
      new RegExp(`<tr><td><code>${code}</code></td><td>(.*?)</td><td>(.*?)</td>`).exec(errors) ?? [];
    expect([code, statuses, folders]).toEqual([code, expect.stringContaining(status), expect.stringContaining(folder)]);
  }
  expect(errors.match(/<tr><td><code>[A-Z_0-9]+<\/code>/g)?.length).toBeGreaterThan(400);
});

it('leads nowhere else', async () => {
  const none = ['no-such-page', 'repository/package.json', 'repository/packages/controller/src/main.ts', 'style.css/x'];
  for (const path of none) {
    const reply = await get(`/guide/${path}`);
    expect([path, reply.status, await reply.text()]).toEqual([path, 404, expect.stringContaining('no such page')]);
  }
  const outside = [
    '..%2fpackage.json',
    '..%2f..%2fpackage.json',
    'a%00b',
    'repository/..%2f..%2fetc/passwd',
    '.git/config',
  ];
  for (const path of outside) expect((await get(`/guide/${path}`)).status, path).not.toBe(200);
});
