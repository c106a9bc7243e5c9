import { setTimeout as sleep } from 'node:timers/promises';
import type { createClient } from '@rushhour/client';
import type { Attempt, AttemptRecord, ClientObservation, ServerObservation } from '@rushhour/protocol';
import { storeRun } from '../packages/controller/src/metrics/testing/stored-run.ts';
import { settleAttacks } from '../packages/controller/src/security/verdicts/settle-run.ts';
import { insertRunRecords, setRunAttempts } from '../packages/controller/src/store/runs/run-attempts.ts';
import { runs } from '../packages/controller/src/store/runs/runs.ts';
import type { Store } from '../packages/controller/src/store/store.ts';
import type { Row } from './report.ts';

type Client = ReturnType<typeof createClient>;

const same = 'a'.repeat(64);
const target = '10.0.0.2:80';
const recordsAtOnce = 1000;

const attemptOf = (id: number): Attempt => ({
  ...{
    id,
    kind: id % 5 === 0 ? 'benign' : 'waf',
    refId: 1,
    refName: `payload ${id % 700}`,
    category: `module-${id % 12}`,
  },
  ...{
    variant: `url/url-param/${id}`,
    expected: id % 5 === 0 ? 'allow' : 'block',
    severity: 'high',
    techniques: ['T1190'],
  },
  ...{ direction: 'c2s', service: 'http' },
  exchange: {
    protocol: 'http',
    steps: [
      {
        request: { method: 'GET', path: `/search?q=${id}%27%20or%20${id}=${id}`, version: '1.1', headers: [] },
        answer: { mode: 'canned', status: 200, headers: [] },
      },
    ],
  },
});

/** Two of three attacks are stopped by a page; everything else comes through. */
const recordsOf = (id: number): [ClientObservation, ServerObservation | undefined] => {
  const isStopped = id % 5 !== 0 && id % 3 !== 0;
  const times = { startedMs: 100 + id * 10, endedMs: 105 + id * 10 };
  const client: ClientObservation = {
    ...{ side: 'client', attempt: id, target, ip: '10.0.0.1', port: 1024 + (id % 60_000), connect: 'ok' },
    ...{ isComplete: true, sentBytes: 200, sentSha256: same, end: 'response', ttfbMs: 1, isShunned: false, ...times },
    ...{ status: isStopped ? 403 : 200, rxBytes: 5, rxSha256: same, responseIsOurs: !isStopped },
  };
  if (isStopped) return [client, undefined];
  return [
    client,
    {
      ...{ side: 'server', attempt: id, step: 0, correlation: 'token', ip: '10.0.0.2', port: 80, peerIp: '10.0.0.1' },
      ...{ peerPort: client.port, seen: 'full', rxBytes: 200, rxSha256: same, sentBytes: 5, sentSha256: same },
      ...{ end: 'none', atMs: times.startedMs + 1 },
    },
  ];
};

const controlAt = (startedMs: number): AttemptRecord => ({
  ...{ side: 'control', reason: 'periodic', service: 'http', target, ip: '10.0.0.1', isGood: true, detail: '' },
  ...{ startedMs, endedMs: startedMs + 1 },
});

/** A run of a security test that has ended, with as many attempts. */
export const storeAttackRun = async (store: Store, count: number) => {
  const t0 = Date.now() - count * 10 - 60_000;
  const { runId, taskId } = await storeRun(store, { t0, status: 7, agents: {} });
  const ids = Array.from({ length: count }, (_, id) => id);
  const text = ids.map((id) => `${JSON.stringify(attemptOf(id))}\n`).join('');
  const sides: [AttemptRecord[], AttemptRecord[]] = [[controlAt(0)], []];
  for (const id of ids) {
    const [client, server] = recordsOf(id);
    sides[0].push(client);
    if (server !== undefined) sides[1].push(server);
  }
  sides[0].push(controlAt(count * 10 + 1000));
  await store.database.transaction(async (tx) => {
    const orders: [number, number, number][] = [
      [1, 0, 0],
      [2, 0, 0],
    ];
    await setRunAttempts(tx, runId, [{ sha256: 'e'.repeat(64), orders, policy: {}, text }]);
    for (const [side, records] of sides.entries()) {
      for (let at = 0; at < records.length; at += recordsAtOnce) {
        const part = records.slice(at, at + recordsAtOnce);
        await insertRunRecords(tx, [{ runID: runId, agentID: side + 1, orderIndex: 0, seq: at + 1, records: part }]);
      }
    }
  });
  const run = await runs.find(store.read, runId);
  if (run === undefined) throw new Error('the run was not stored');
  await settleAttacks({ store, blobs: { read: () => Promise.reject(new Error('there are no alerts')) } }, run);
  return { id: taskId, runId };
};

const askEveryMs = 50;

/** The longest that nobody was answered while something else was done. */
const silenceDuring = async (
  url: string,
  work: () => Promise<unknown>,
): Promise<{ tookMs: number; silentMs: number }> => {
  const startedAt = performance.now();
  let silentMs = 0;
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const askedAt = performance.now();
      await (await fetch(`${url}/livez`)).arrayBuffer();
      silentMs = Math.max(silentMs, performance.now() - askedAt);
      await sleep(askEveryMs);
    }
  })();
  await work().finally(() => {
    isDone = true;
  });
  const tookMs = performance.now() - startedAt;
  await asking;
  return { tookMs, silentMs };
};

/** Planning a replay of all signatures while others are answered. */
export const measurePlanning = async (url: string, client: Client, signatures: number): Promise<Row[]> => {
  const values = {
    sources: [{ agent: { id: 1 } }],
    targets: [{ agent: { id: 2 } }],
    cveReplayParams: { filter: { source: ['nuclei'] }, benign: { enabled: false } },
  };
  const body = { configuration: [{ plugin: { id: 16 }, values }] };
  let codes: string[] = [];
  const { tookMs, silentMs } = await silenceDuring(url, async () => {
    const { data } = await client.tasks.validate({ body: body as never, query: {} });
    codes = data.issues.map(({ code }) => code);
  });
  if (codes.some((code) => ['NO_ATTEMPTS', 'TOO_MANY_ATTEMPTS', 'TOO_MANY_SIGNATURES'].includes(code)))
    throw new Error(`the ${signatures} signatures were not planned: ${codes.join(', ')}`);
  return [
    { name: 'cve-plan-50000-seconds', value: tookMs / 1000, goal: 60, better: 'lower' },
    { name: 'cve-plan-50000-livez-ms', value: silentMs, goal: 1000, better: 'lower' },
  ];
};

interface AttackRun {
  readonly id: number;
  readonly runId: number;
}

/** A report of ten thousand attempts as a page, and one of four thousand on paper. */
export const measureReports = async (
  url: string,
  client: Client,
  { large, printed }: { readonly large: AttackRun; readonly printed: AttackRun },
): Promise<Row[]> => {
  const read = async (params: AttackRun, format: 'html' | 'pdf' | 'json') => {
    const answer = await client.tasks.report({ params, query: { format } as never });
    return Buffer.from(await answer.arrayBuffer());
  };
  let page = Buffer.alloc(0);
  const html = await silenceDuring(url, async () => {
    page = await read(large, 'html');
  });
  const { security } = JSON.parse((await read(large, 'json')).toString()) as { security: { attempts: unknown[] } };
  if (security.attempts.length !== 10_000) throw new Error(`${security.attempts.length} attempts are in the report`);
  const paper = await silenceDuring(url, async () => {
    const bytes = await read(printed, 'pdf');
    if (bytes.subarray(0, 5).toString() !== '%PDF-') throw new Error('the report is not on paper');
  });
  return [
    { name: 'report-10000-html-seconds', value: html.tookMs / 1000, goal: 10, better: 'lower' },
    { name: 'report-10000-html-mib', value: page.length / 2 ** 20, goal: 5, better: 'lower' },
    { name: 'report-10000-livez-ms', value: html.silentMs, goal: 1000, better: 'lower' },
    { name: 'report-4000-pdf-seconds', value: paper.tookMs / 1000, goal: 60, better: 'lower' },
    { name: 'report-4000-pdf-livez-ms', value: paper.silentMs, goal: 1000, better: 'lower' },
  ];
};
