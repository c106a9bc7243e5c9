import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import { chromium } from 'playwright-core';
import { requireProgram } from '../engines/programs.ts';

const page = `<!doctype html><link rel=stylesheet href="https://cdn.test/style.css"><img src="https://cdn.test/logo.png">
<p id=state>out</p><script>
  const call = (path, options) => fetch(path, options).then((reply) => reply.json());
  const json = { 'Content-Type': 'application/json' };
  (async () => {
    const { token } = await call('/api/login', { method: 'POST', headers: json, body: '{"user":"ann","password":"p"}' });
    const { items } = await call('/api/items?page=1', { headers: { Authorization: 'Bearer ' + token } });
    await call('/api/items', { method: 'POST', headers: json, body: JSON.stringify({ token, add: items.length }) });
    document.title = 'done';
  })();
</script>`;
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface Site {
  readonly port: number;
  /** Requests and their status codes. */
  readonly log: string[];
  close(): Promise<void>;
}

/** A site with a login: without its token and cookie it shows nothing. */
export const startSite = async (): Promise<Site> => {
  const { certificate, privateKey } = createSelfSigned(['app.test', 'cdn.test']);
  const [tokens, sessions] = [new Set<string>(), new Set<string>()];
  const log: string[] = [];
  const secret = (among: Set<string>) => {
    const made = randomBytes(12).toString('hex');
    among.add(made);
    return made;
  };
  const answer = async (request: Http2ServerRequest, reply: Http2ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const send = (status: number, content: string | Buffer, headers: Record<string, string> = {}) => {
      log.push(`${request.method} ${request.url} ${status}`);
      reply.writeHead(status, headers);
      reply.end(content);
    };
    const sid = /sid=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    const token = /Bearer (\w+)|"token":"(\w+)"/.exec(`${request.headers.authorization} ${body}`);
    const isIn = sessions.has(sid) && tokens.has(token?.[1] ?? token?.[2] ?? '');
    const type = { 'Content-Type': 'application/json' };
    if (request.url === '/') send(302, '', { Location: '/start' });
    else if (request.url === '/start') send(200, page, { 'Content-Type': 'text/html' });
    else if (request.url === '/style.css') send(200, 'p { color: red }', { 'Content-Type': 'text/css' });
    else if (request.url === '/logo.png') send(200, logo, { 'Content-Type': 'image/png' });
    else if (request.url === '/api/login') {
      const cookie = { 'Set-Cookie': `sid=${secret(sessions)}; Path=/; Secure; HttpOnly` };
      send(200, JSON.stringify({ token: secret(tokens) }), { ...type, ...cookie });
    } else if (request.url.startsWith('/api/items')) send(isIn ? 200 : 401, '{"items":[1,2]}', type);
    else send(404, '');
  };
  const server = createSecureServer({ cert: certificate, key: privateKey, allowHTTP1: true }, (request, reply) => {
    void answer(request, reply);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    log,
    close: async () => {
      server.close();
    },
  };
};

/** The HAR that Chromium records of a visit. */
export const recordVisit = async (port: number): Promise<string> => {
  requireProgram('chromium');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-visit-'));
  const rules = `MAP app.test:443 127.0.0.1:${port}, MAP cdn.test:443 127.0.0.1:${port}`;
  const args = ['--no-sandbox', `--host-resolver-rules=${rules}`];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  try {
    const path = join(folder, 'visit.har');
    const context = await browser.newContext({ ignoreHTTPSErrors: true, recordHar: { path, content: 'embed' } });
    const tab = await context.newPage();
    await tab.goto('https://app.test/');
    await tab.waitForFunction(() => document.title === 'done');
    await context.close();
    return readFileSync(path, 'utf8');
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
