import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNginx } from '../engines/programs.ts';
import { freePort } from '../process/free-port.ts';
import { type AgentProcess, metricOf, runToEnd, type System, startSystem } from '../system/system.ts';
import { recordVisit, startSite } from './har-site.ts';

interface Har {
  readonly log: {
    readonly entries: { request: { httpVersion: string; url: string }; response: { content: { text: string } } }[];
  };
}

let system: System;
let site: Awaited<ReturnType<typeof startSite>>;
let client: AgentProcess;
let server: AgentProcess;
let visit: Har;
let fileId: number;
const paths = ['/', '/start', '/style.css', '/logo.png', '/api/login', '/api/items?page=1', '/api/items'];

const upload = async (name: string, text: string) => {
  const content = Buffer.from(text).toString('base64');
  return (await system.client.files.create({ body: { name, category: 'har', content } })).data;
};

beforeAll(async () => {
  site = await startSite();
  const [text, started] = await Promise.all([recordVisit(site.port), startSystem()]);
  system = started;
  visit = JSON.parse(text) as Har;
  [client, server] = await Promise.all([system.addAgent('browsers'), system.addAgent('site')]);
  fileId = await upload('visit.har', text);
});
afterAll(async () => {
  await system?.close();
  await site?.close();
});

const entryOf = (harReplayParams: object, more: object = {}) => ({
  plugin: { id: 9 },
  values: {
    sources: [{ agent: { id: client.id } }],
    targets: [{ agent: { id: server.id }, ports: String(server.port) }],
    harReplayParams: { fileId, timing: 'none', ...harReplayParams },
    duration: { mode: 'continuous' },
    ...more,
  },
});

const play = async (...configuration: object[]) => {
  const { result } = await runToEnd(system.client, { comment: 'a recording', configuration });
  expect(result).toMatchObject({ status: 7, error: '' });
  const sum = (role: 'client' | 'server') => (name: string) =>
    metricOf(result, role, `har-replay.${name}`)?.['sum'] ?? 0;
  return { result, ofClient: sum('client'), ofServer: sum('server') };
};
const exact = { checks: { status: true, bodySize: true, bodySha256: true } };

describe('a recording of Chromium', () => {
  it('contains the whole visit, over HTTP/2', () => {
    expect(new Set(visit.log.entries.map(({ request }) => request.httpVersion))).toEqual(new Set(['HTTP/2.0']));
    expect(
      visit.log.entries
        .map(({ request }) => new URL(request.url))
        .map((url) => url.pathname + url.search)
        .sort(),
    ).toEqual(paths.toSorted());
  });

  it.each(['recorded', '1.1'])('is answered exactly by a server agent: version %s', async (httpVersion) => {
    const played = await play(entryOf({ httpVersion, users: 4, iterations: 3, ...exact }));
    const { ofClient, ofServer } = played;
    expect([ofClient('requests'), ofClient('ok'), ofClient('ko')]).toEqual([84, 84, 0]);
    expect([ofServer('served'), ofServer('similar'), ofServer('missed')]).toEqual([84, 0, 0]);
    expect([ofClient('iterations'), ofClient('status.302'), ofClient('connections')]).toEqual([
      12,
      12,
      expect.any(Number),
    ]);
    expect(metricOf(played.result, 'client', 'har-replay.entry')?.['count']).toBe(84);
  });

  it('passes a reverse proxy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-proxy-'));
    const { certificate, privateKey } = createSelfSigned(['app.test', 'cdn.test']);
    writeFileSync(join(folder, 'cert.pem'), certificate);
    writeFileSync(join(folder, 'key.pem'), privateKey);
    const [plain, secure] = [await freePort(), await freePort()];
    const nginx = await startNginx(
      plain,
      `listen 127.0.0.1:${secure} ssl http2; ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
       location / { proxy_pass http://127.0.0.1:${server.port}; proxy_http_version 1.1; proxy_set_header Host $host; }`,
    );
    try {
      const answering = entryOf({}, { isServer: true, sources: [] });
      const asking = entryOf(
        { users: 2, iterations: 2, ...exact },
        { targets: [{ ip: '127.0.0.1', ports: String(secure) }] },
      );
      const { ofClient, ofServer } = await play(answering, asking);
      expect([ofClient('ok'), ofClient('ko'), ofServer('missed'), ofServer('similar')]).toEqual([28, 0, 0, 0]);
      expect(nginx.accessLog()).toHaveLength(28);
    } finally {
      await nginx.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is accepted by the real site only with current tokens', async () => {
    const indexOf = (path: string) => visit.log.entries.findIndex(({ request }) => request.url.endsWith(path));
    const { token } = JSON.parse(visit.log.entries[indexOf('/api/login')]?.response.content.text ?? '{}') as {
      token: string;
    };
    const correlate = [
      {
        from: { entryIdx: indexOf('/api/login'), part: 'body', jsonPath: '$.token' },
        to: [
          { entryIdx: indexOf('/api/items?page=1'), part: 'header', match: token },
          { entryIdx: indexOf('/api/items'), part: 'body', match: token },
        ],
      },
    ];
    const outside = { targets: [{ ip: '127.0.0.1', ports: String(site.port) }] };
    const asRecorded = await play(entryOf({ users: 2 }, outside));
    expect([asRecorded.ofClient('ok'), asRecorded.ofClient('koStatus.401')]).toEqual([10, 4]);
    site.log.length = 0;
    const carried = await play(entryOf({ users: 2, iterations: 2, cookies: 'jar', correlate }, outside));
    expect([carried.ofClient('ok'), carried.ofClient('ko'), carried.ofClient('notFound')]).toEqual([28, 0, 0]);
    expect(site.log.filter((line) => line.startsWith('GET /api/items?page=1 200'))).toHaveLength(4);
  });
});

describe('a broken recording', () => {
  it('is reported before the run starts', async () => {
    const broken = await upload('broken.har', '{"log":{"version":"1.2","entries":[{"request":');
    const { data } = await system.client.tasks.validate({
      body: { configuration: [entryOf({ fileId: broken })] } as never,
    });
    expect(data.issues).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        code: 'HAR_BROKEN',
        path: '/configuration/0/values/harReplayParams/fileId',
      }),
    );
  });
});
