import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callerWith, type GatewayLab, startGatewayLab } from '../collections/ai-gateway/testing/gateway-lab.ts';

const tokens = 15;
const confirmations = 20;
const main = fileURLToPath(new URL('../main.ts', import.meta.url));
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
}, 120_000);
afterAll(async () => {
  second?.kill('SIGKILL');
  await lab.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it('starts every task once, however many confirm its token at the same time', async () => {
  expect(urls).toHaveLength(process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres' ? 2 : 1);
  const { secret, call } = await lab.newKey();
  const asked: { taskId: number; token: string }[] = [];
  for (let i = 0; i < tokens; i += 1) {
    const taskId = await lab.newTask();
    const { data } = await call('POST', '/tasks/start', { taskId, reason: 'a race' });
    asked.push({ taskId, token: data.approvalToken });
  }
  const calls = urls.map((url) => callerWith(url, secret));
  const raced = await Promise.all(
    asked.flatMap(({ taskId, token }) =>
      Array.from({ length: confirmations }, async (_, i) => {
        const confirm = calls[i % calls.length] as typeof call;
        const { status, data } = await confirm('POST', '/tasks/start/confirm', { approvalToken: token });
        return { taskId, outcome: status === 200 ? 'started' : `${status} ${data.code}` };
      }),
    ),
  );
  for (const { taskId } of asked) {
    const outcomes = raced.filter((one) => one.taskId === taskId).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['started', '409 TOKEN_ALREADY_USED']));
    expect(await lab.runsOf(taskId)).toBe(1);
  }
}, 180_000);
