import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runs } from '../../store/runs/runs.ts';
import { callerWith, type GatewayLab, startGatewayLab } from '../gateway/testing/gateway-lab.ts';

/** One process alone has less to show. */
const tokens = process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres' ? 60 : 30;
const concurrency = 10;
const confirmations = 20;
const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const secretKey = randomBytes(32);
const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-race-'));

let lab: GatewayLab;
let second: ChildProcess | undefined;
/** Where confirmations go to: two processes where the database can be shared, else one. */
let urls: string[];

/** Another controller on the same database; answers where it listens. */
const startSecond = (databaseUrl: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const started = spawn(process.execPath, [main], {
      env: {
        ...process.env,
        ...{ DATABASE_URL: databaseUrl, RUSHHOUR_SECRET_KEY: secretKey.toString('hex'), RUSHHOUR_DATA_DIR: dataDir },
        ...{ RUSHHOUR_PORT: '0', RUSHHOUR_LOCAL_AGENTS: '0', RUSHHOUR_LOG_LEVEL: 'fatal' },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    second = started;
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      const [, url] = /ready at (\S+)/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    });
    started.once('exit', (code) => reject(new Error(`the second controller ended with ${code}`)));
  });

beforeAll(async () => {
  lab = await startGatewayLab({ secretKey });
  const { databaseUrl } = lab.controller.config;
  urls = [lab.controller.url, ...(databaseUrl ? [await startSecond(databaseUrl)] : [])];
});
afterAll(async () => {
  second?.kill('SIGKILL');
  await lab.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it('starts every task once, however many confirm its token at the same time', async () => {
  expect(urls).toHaveLength(process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres' ? 2 : 1);
  const { secret, call } = await lab.newKey();
  const asked: { taskId: number; token: string }[] = [];
  const ask = async () => {
    while (asked.length < tokens) {
      const taskId = await lab.newTask();
      const { data } = await call('POST', '/tasks/start', { taskId, reason: 'a race' });
      asked.push({ taskId, token: data.approvalToken });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, ask));
  const calls = urls.map((url) => callerWith(url, secret));
  const raced: { taskId: number; outcome: string }[] = [];
  const race = async ({ taskId, token }: { taskId: number; token: string }) => {
    const confirming = Array.from({ length: confirmations }, async (_, i) => {
      const confirm = calls[i % calls.length] as typeof call;
      const { status, data } = await confirm('POST', '/tasks/start/confirm', { approvalToken: token });
      return { taskId, outcome: status === 200 ? 'started' : `${status} ${data.code}` };
    });
    raced.push(...(await Promise.all(confirming)));
  };
  for (let from = 0; from < asked.length; from += concurrency) {
    await Promise.all(asked.slice(from, from + concurrency).map(race));
  }
  expect(raced.filter(({ outcome }) => outcome === 'started')).toHaveLength(asked.length);
  expect(new Set(raced.map(({ outcome }) => outcome))).toEqual(new Set(['started', '409 TOKEN_ALREADY_USED']));
  const started = new Set(raced.filter(({ outcome }) => outcome === 'started').map(({ taskId }) => taskId));
  expect(started.size).toBe(asked.length);
  const { rows } = await runs.page(lab.controller.store.read, {
    ...{ limit: 10 * tokens, offset: 0, key: 'id', order: 'asc', filters: {} },
  } as never);
  expect(rows.map(({ taskID }) => taskID).sort((a, b) => a - b)).toEqual([...started].sort((a, b) => a - b));
});
