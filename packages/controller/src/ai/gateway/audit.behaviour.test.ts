import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayCall, type GatewayLab, startGatewayLab } from './testing/gateway-lab.ts';

let lab: GatewayLab;
let call: GatewayCall;
beforeAll(async () => {
  lab = await startGatewayLab();
  ({ call } = await lab.newKey());
});
afterAll(() => lab.close());

/** Does something to the database behind the controller's back. */
const toDatabase = async (text: string) => {
  const { databaseUrl, dataDir } = lab.controller.config;
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(dataDir, 'rushhour.db'));
    database.exec(`PRAGMA busy_timeout = 10000; ${text}`);
    return database.close();
  }
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(text);
  return client.end();
};

const unwritable = expect.objectContaining({
  status: 503,
  data: expect.objectContaining({ code: 'AUDIT_UNAVAILABLE', retryable: true, hint: expect.any(String) }),
});
const reason = 'is written down nowhere';

it('nothing is changed while the audit cannot be written; what was read meanwhile is entered afterwards', async () => {
  const taskId = await lab.newTask();
  const { data: asked } = await call('POST', '/tasks/start', { taskId, reason });
  const { approvalToken } = asked;
  const { data: drafts } = await call('GET', '/drafts');
  await toDatabase('ALTER TABLE "audit" RENAME TO "auditAway"');
  try {
    expect(await call('POST', '/tasks/start/confirm', { approvalToken })).toEqual(unwritable);
    expect(await call('POST', '/drafts', { task: { comment: 'lost' } })).toEqual(unwritable);
    expect(await call('POST', '/tasks/start', { taskId, reason })).toEqual(unwritable);
    expect(await call('POST', '/tasks/actions', { action: 'stop', taskIds: [taskId], reason })).toEqual(unwritable);
    expect(await call('DELETE', '/drafts/1')).toEqual(unwritable);
    expect((await call('GET', `/tasks/${taskId}`)).status).toBe(200);
  } finally {
    await toDatabase('ALTER TABLE "auditAway" RENAME TO "audit"');
  }
  expect(await lab.runsOf(taskId)).toBe(0);
  expect((await call('GET', '/drafts')).data).toEqual(drafts);
  expect((await call('POST', '/tasks/start/confirm', { approvalToken })).status).toBe(200);
  expect(await lab.runsOf(taskId)).toBe(1);
  const { data, chain } = await lab.administrator.client.aiAdmin.activity({
    query: { kind: 'audit', count: 100, verify: true },
  });
  expect(chain).toMatchObject({ isIntact: true });
  const entered = (data as { operationId: string; httpStatus: number }[]).map(({ operationId }) => operationId);
  expect(entered).toContain('aiGateway.task');
});
