import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareFirstStart } from '../../people/first-start.ts';
import { aiApprovals } from '../../store/ai/ai-approvals.ts';
import { newestRunOf } from '../../store/runs/runs.ts';
import { createTask } from '../../tasks/records/write-task.ts';
import { storeAgent } from '../../tasks/testing/stored-agent.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { aiCaller } from '../testing/ai-caller.ts';
import { openApprovals } from '../testing/open-approvals.ts';
import { confirmSteps } from './approval-confirm.ts';

const child = fileURLToPath(new URL('../testing/confirm-child.ts', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-crash-'));
const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
let storeOptions: { dataDir: string; databaseUrl?: string };
let opened: Awaited<ReturnType<typeof openApprovals>>;
let agentId: number;
beforeAll(async () => {
  const databaseUrl = await createDatabase();
  storeOptions = { dataDir, ...(databaseUrl && { databaseUrl }) };
  opened = await openApprovals(storeOptions);
  await prepareFirstStart(opened.store, admin);
  agentId = await storeAgent(opened.store);
});
afterAll(async () => {
  await opened.store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const ask = async () => {
  const { store, approvals } = opened;
  const ends = { sources: [{ agent: { id: agentId } }], targets: [{ agent: { id: agentId } }] };
  const values = { ...ends, requestsPerSecond: 10, duration: { mode: 'time', seconds: 60 } };
  const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
  const taskId = await store.change(origin, (tx) =>
    createTask(tx, store.secrets, { configuration: [{ plugin: { id: 1 }, values }] } as never),
  );
  const request = { action: 'start', taskIds: [taskId], params: {}, reason: 'test' } as const;
  const { data } = await approvals.request(aiCaller(), request);
  return { taskId, token: data.approvalToken as string, id: data.approval.id };
};

/** Confirms in another process and answers the signal that ended it. */
const confirmElsewhere = (token: string, killAt: string): Promise<string | null> =>
  new Promise((resolve) => {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'rushhour-compile-cache') };
    const started = spawn(process.execPath, [child, JSON.stringify(storeOptions), token, killAt], {
      env,
      stdio: 'inherit',
    });
    started.on('close', (_, signal) => resolve(signal));
  });

const stateOf = async ({ id, taskId }: { id: number; taskId: number }) => {
  const { read } = opened.store;
  // SQLite shows what another process has written a tenth of a second later.
  await sleep(200);
  const [approval, run] = await Promise.all([aiApprovals.find(read, id), newestRunOf(read, taskId)]);
  return { state: approval?.state, runs: run?.number ?? 0 };
};

const confirmHere = (approvalToken: string) =>
  opened.approvals
    .confirm(aiCaller(), { family: 'start', approvalToken })
    .then(({ data }) => data.approval.state as string)
    .catch(({ code }) => code as string);

const afterCrash = async (killAt: string) => {
  const asked = await ask();
  expect(await confirmElsewhere(asked.token, killAt)).toBe('SIGKILL');
  const isDone = killAt === 'committed';
  expect([killAt, await stateOf(asked)]).toEqual([
    killAt,
    { state: isDone ? 'used' : 'pending', runs: isDone ? 1 : 0 },
  ]);
  expect([killAt, await confirmHere(asked.token)]).toEqual([killAt, isDone ? 'TOKEN_ALREADY_USED' : 'used']);
  expect([killAt, await stateOf(asked)]).toEqual([killAt, { state: 'used', runs: 1 }]);
};

it('a process killed anywhere in a confirmation leaves a token used if and only if the run exists', async () => {
  await Promise.all(confirmSteps.map(afterCrash));
});
