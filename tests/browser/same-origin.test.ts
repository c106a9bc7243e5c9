import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { api, type Collection, type Route } from '@rushhour/contract';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { type System, startSystem } from '../system/system.ts';
import { administrator, launchBrowser, openPage, signIn } from './browser.ts';

// A page on another port of the same host is the same site: the browser sends our cookies. Only the origin differs.
const operations = Object.values(api as Record<string, Collection>).flatMap(({ tag, routes }) =>
  Object.entries(routes).map(([key, route]) => [`${tag}.${key}`, route as Route] as const),
);
const routes = operations.map(([, route]) => route);
/** Downloads of secrets and samples have audit entries too, but change nothing. */
const readings = new Set<string>(operations.filter(([, { method }]) => method === 'GET').map(([name]) => name));
const pathOf = ({ path }: Route) => `/v1${path.replace(/:\w+/g, '1')}`;
const reading = [...new Set(routes.filter(({ method }) => method === 'GET').map(pathOf))];
const changing = routes.filter(({ method }) => method !== 'GET');
const posting = changing.filter(({ method }) => method === 'POST');
const body = JSON.stringify({ name: 'smuggled', array: [1], email: 'x@example.test', comment: 'smuggled' });

let system: System;
let browser: Browser;
let context: BrowserContext;
let own: Page;
let other: Server;
let evil: Page;

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  browser = await launchBrowser();
  ({ page: own, context } = await openPage(browser));
  await own.goto(system.url);
  await signIn(own, administrator);
  await own.getByRole('heading', { name: 'Overview' }).waitFor();
  other = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>');
  });
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  evil = await context.newPage();
  await evil.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  await browser?.close();
  other?.close();
  await system?.close();
});

/** Every change writes an audit entry in the same transaction: without an entry there was no change. */
const changesOf = () => {
  const database = new DatabaseSync(join(system.dataDir, 'rushhour.db'), { readOnly: true });
  const rows = database.prepare(`select operation from audit where outcome = 'ok'`).all() as { operation: string }[];
  database.close();
  return rows.map(({ operation }) => operation).filter((operation) => !readings.has(operation));
};

/** The status codes of the controller for the requests of an action. */
const answersDuring = async (requests: number, act: () => Promise<unknown>) => {
  const statuses: number[] = [];
  // Our own page keeps polling meanwhile.
  const note = (response: Response) => {
    if (response.request().method() === 'POST') statuses.push(response.status());
  };
  context.on('response', note);
  await act();
  await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(requests);
  context.off('response', note);
  return statuses;
};

const isUpgraded = (url: string, headers: Record<string, string>) =>
  new Promise<boolean>((resolve) => {
    const asked = request(url, { headers }, (response) => {
      response.destroy();
      resolve(false);
    });
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(true);
    });
    asked.on('error', () => resolve(false));
    asked.end();
  });

describe('a page of another origin', () => {
  it('is what makes the difference: the same request from our own page works', async () => {
    const before = changesOf();
    const status = await own.evaluate(
      async (content) =>
        (
          await fetch('/v1/projects', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: content,
          })
        ).status,
      JSON.stringify({ name: 'From our own page' }),
    );
    expect(status).toBe(200);
    expect(changesOf()).toEqual([...before, 'projects.create']);
  });

  it('changes nothing by fetch, on any route that changes something', async () => {
    const before = changesOf();
    const targets = changing.map((route) => ({ method: route.method, url: system.url + pathOf(route) }));
    expect(targets.length).toBeGreaterThan(90);
    const readable = await evil.evaluate(
      async ({ targets, body }) => {
        const tries = targets.flatMap(({ method, url }) => [
          fetch(url, { method, credentials: 'include', headers: { 'content-type': 'application/json' }, body }),
          ...(method === 'POST' ? [fetch(url, { method, mode: 'no-cors', credentials: 'include', body })] : []),
        ]);
        const results = await Promise.allSettled(tries);
        return results.filter((result) => result.status === 'fulfilled' && result.value.type !== 'opaque').length;
      },
      { targets, body },
    );
    expect(readable).toBe(0);
    expect(changesOf()).toEqual(before);
  });

  it('changes nothing by a form, on any route that takes one', async () => {
    const before = changesOf();
    const statuses = await answersDuring(posting.length, () =>
      evil.evaluate(
        async ({ urls, body }) => {
          for (const [i, url] of urls.entries()) {
            const frame = document.createElement('iframe');
            frame.name = `frame${i}`;
            const form = document.createElement('form');
            Object.assign(form, { method: 'post', action: url, target: frame.name, enctype: 'text/plain' });
            const field = document.createElement('input');
            Object.assign(field, { name: `${body.slice(0, -1)},"x":"`, value: '"}' });
            form.append(field);
            document.body.append(frame, form);
            const done = new Promise((resolve) => {
              frame.onload = resolve;
            });
            form.submit();
            await done;
            frame.remove();
            form.remove();
          }
        },
        { urls: posting.map((route) => system.url + pathOf(route)), body },
      ),
    );
    // The AI gateway ignores cookies: a request without a key is unauthenticated.
    expect(statuses).toEqual(posting.map(({ access }) => (access === 'aiKey' ? 401 : 403)));
    expect(changesOf()).toEqual(before);
  });

  it('changes nothing by an image, on any route that reads', async () => {
    const before = changesOf();
    const loaded = await evil.evaluate(
      async (urls) => {
        const load = (url: string) =>
          new Promise<boolean>((resolve) => {
            const image = new Image();
            image.onload = () => resolve(true);
            image.onerror = () => resolve(false);
            image.src = url;
            // Event streams do not end.
            setTimeout(() => resolve(false), 3000);
          });
        return (await Promise.all(urls.map(load))).filter(Boolean).length;
      },
      reading.map((path) => system.url + path),
    );
    expect(reading.length).toBeGreaterThan(80);
    expect(loaded).toBe(0);
    expect(changesOf()).toEqual(before);
  });

  it('opens no WebSocket', async () => {
    const paths = ['/', '/agent', '/mcp', '/v1/notifications/stream', '/v1/tasks/1/stream'];
    const opened = await evil.evaluate(
      async (urls) => {
        const open = (url: string) =>
          new Promise<string[]>((resolve) => {
            const socket = new WebSocket(url);
            socket.onopen = () => resolve([url]);
            socket.onclose = () => resolve([]);
          });
        return (await Promise.all(urls.map(open))).flat();
      },
      paths.map((path) => system.url.replace(/^http/, 'ws') + path),
    );
    expect(opened).toEqual([]);
  });

  // Browsers throttle after some rejected WebSockets, so this sends the handshakes itself.
  it('gets no WebSocket on any route', async () => {
    const cookies = await context.cookies(system.url);
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'cnVzaGhvdXIgcnVzaGhvdQ==',
      origin: new URL(evil.url()).origin,
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    };
    const paths = [...new Set(routes.map(pathOf))];
    const upgraded = await Promise.all(paths.map((path) => isUpgraded(system.url + path, headers)));
    expect(paths.length).toBeGreaterThan(150);
    expect(paths.filter((_, i) => upgraded[i])).toEqual([]);
  });

  it('cannot embed our pages in a frame', async () => {
    await evil.evaluate((url) => {
      const frame = document.createElement('iframe');
      frame.src = url;
      document.body.append(frame);
    }, system.url);
    await evil.waitForTimeout(500);
    const frame = evil.frames().find((one) => one.parentFrame() !== null);
    expect(frame?.url() ?? '').not.toContain(system.url);
  });
});

describe('our own page', () => {
  it('runs only its own scripts and sends requests only to the controller', async () => {
    const { page, context: fresh } = await openPage(browser);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const response = await page.goto(system.url);
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect(policy).toContain("frame-ancestors 'none'");
    await signIn(page, administrator);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const ran = await page.evaluate(async () => {
      const inline = document.createElement('script');
      inline.textContent = 'window.ranInline = true';
      document.head.append(inline);
      const remote = document.createElement('script');
      const ended = new Promise<string>((resolve) => {
        remote.onload = () => resolve('loaded');
        remote.onerror = () => resolve('refused');
      });
      remote.src = 'http://127.0.0.1:9/x.js';
      document.head.append(remote);
      return [String((window as { ranInline?: boolean }).ranInline ?? false), await ended];
    });
    expect(ran).toEqual(['false', 'refused']);
    expect(asked.filter((url) => !url.startsWith(system.url) && !url.startsWith('http://127.0.0.1:9/'))).toEqual([]);
    await fresh.close();
  });
});
