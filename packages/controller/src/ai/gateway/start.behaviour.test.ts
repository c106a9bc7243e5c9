import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newestRunOf } from '../../store/runs/runs.ts';
import { type GatewayCall, type GatewayLab, startGatewayLab } from './testing/gateway-lab.ts';

let lab: GatewayLab;
let call: GatewayCall;
beforeAll(async () => {
  lab = await startGatewayLab();
  ({ call } = await lab.newKey());
});
afterAll(() => lab.close());

const cursor = { count: 1, currentPage: 1, totalPages: 1, totalRows: 1 };
const reason = 'checks the gateway';
const ask = (taskId: number, more: object = {}, by = call) => by('POST', '/tasks/start', { taskId, reason, ...more });
const confirm = (approvalToken: string, more: object = {}, by = call) =>
  by('POST', '/tasks/start/confirm', { approvalToken, ...more });
const stop = (id: number) => lab.administrator.client.tasks.stop({ params: { id } });
const refusal = (status: number, code: string) =>
  expect.objectContaining({ status, data: expect.objectContaining({ code, requestId: expect.any(String) }) });

describe('a start', () => {
  it('is asked for, confirmed by the same key and then done', async () => {
    const id = await lab.newTask();
    const asked = await ask(id);
    expect(asked).toMatchObject({ status: 200, body: { cursor } });
    expect(asked.data.approval).toMatchObject({
      ...{ action: 'task.start', taskIds: [id], risk: 'R2', policy: 'same-key', state: 'pending', reason },
      ...{ digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), result: null, requiredDecisions: 0 },
    });
    expect(asked.data.approval.plan.summary).toMatch(/start 1 task: 1 agents/);
    expect(await lab.runsOf(id)).toBe(0);
    const { data: waiting } = await call('GET', `/approvals/${asked.data.approval.id}`);
    expect(waiting.nextStep).toContain('task_start_confirm');
    const confirmed = await confirm(asked.data.approvalToken);
    expect(confirmed).toMatchObject({ status: 200, body: { cursor } });
    expect(confirmed.data.approval).toMatchObject({ id: asked.data.approval.id, state: 'used' });
    expect(confirmed.data.task).toMatchObject({ id, status: 1, revision: expect.any(Number) });
    expect(await lab.runsOf(id)).toBe(1);
    const { data: runs } = await lab.administrator.client.tasks.runs({ params: { id }, query: {} });
    expect(runs[0]?.statusHistory).toMatchObject([{ status: 1, by: 'ai' }]);
    await stop(id);
  });

  it('tells of other tasks that want the same agents, by name only those of its projects', async () => {
    const [first, id] = [await lab.newTask(), await lab.newTask()];
    await confirm((await ask(first)).data.approvalToken);
    const conflict = { agentID: lab.agentId, taskID: first, from: expect.any(String), to: null };
    expect((await ask(id)).data.approval.plan.conflicts).toContainEqual(conflict);
    const { data: validation } = await call('POST', '/tasks/validate', { taskId: id });
    expect(validation.plan.conflicts).toContainEqual(conflict);
    const { data: projectID } = await lab.administrator.client.projects.create({ body: { name: 'apart' } as never });
    const bound = await lab.newKey({ constraints: { projectIDs: [projectID] } });
    const { data } = await ask(await lab.newTask({}, { projectID }), {}, bound.call);
    expect(data.approval.plan.conflicts).toContainEqual({ agentID: lab.agentId, from: expect.any(String), to: null });
    expect(JSON.stringify(data.approval.plan.conflicts)).not.toContain('taskID');
    await stop(first);
  });

  it('may have thresholds of its own, which are refused when the task cannot have them', async () => {
    const id = await lab.newTask();
    const threshold = { name: 'fast', metric: 'http.latency', aggregation: 'p99', operator: '<', value: 5000 };
    const wrong = await ask(id, { thresholds: [{ ...threshold, metric: 'no.such' }] });
    expect(wrong.status).toBe(409);
    const asked = await ask(id, { thresholds: [threshold] });
    expect(asked.data.approval.params).toMatchObject({ thresholds: [threshold] });
    expect((await confirm(asked.data.approvalToken)).status).toBe(200);
    const { data: runs } = await lab.administrator.client.tasks.runs({ params: { id }, query: {} });
    const params = { id, runId: runs[0]?.id ?? 0 };
    const { data: run } = await lab.administrator.client.tasks.run({ params, query: { full: true } });
    expect(JSON.stringify(run)).toContain('"fast"');
    await stop(id);
  });

  it('ends after the seconds that were asked for', async () => {
    const id = await lab.newTask();
    const asked = await ask(id, { durationSec: 7 });
    expect(asked.data.approval.plan.estimatedDurationSec).toBe(7);
    await confirm(asked.data.approvalToken);
    expect((await newestRunOf(lab.controller.store.read, id))?.plannedSec).toBe(7);
    await stop(id);
  });

  it('is refused for what is not there, not startable, another revision or too long', async () => {
    const id = await lab.newTask();
    expect(await ask(999_999)).toEqual(refusal(404, 'NOT_FOUND'));
    expect(await ask(id, { expectedRevision: 1 })).toEqual(refusal(409, 'REVISION_MISMATCH'));
    expect(await ask(id, { reason: 'no' })).toEqual(refusal(400, 'INVALID_REQUEST'));
    expect(await ask(await lab.newTask({ duration: { mode: 'time', seconds: 4000 } }))).toEqual(
      refusal(403, 'AI_CONSTRAINT'),
    );
    await lab.administrator.client.tasks.start({ params: { id } });
    expect(await ask(id)).toEqual(refusal(409, 'TASK_NOT_STARTABLE'));
    await stop(id);
  });
});

describe('a confirmation answers', () => {
  it('400 without a token, 404 with a text that is none', async () => {
    expect(await call('POST', '/tasks/start/confirm', {})).toEqual(refusal(400, 'INVALID_REQUEST'));
    expect(await confirm('nonsense')).toEqual(refusal(404, 'TOKEN_NOT_FOUND'));
  });

  it('401 without a key, 403 without the scope', async () => {
    const asked = await ask(await lab.newTask());
    const stranger = await fetch(`${lab.controller.url}/v1/ai/gateway/tasks/start/confirm`, { method: 'POST' });
    expect(stranger.status).toBe(401);
    const reader = await lab.newKey({ scopes: ['tasks:read'] });
    expect(await confirm(asked.data.approvalToken, {}, reader.call)).toEqual(refusal(403, 'AI_SCOPE_MISSING'));
  });

  it('404 for unknown tokens, tokens of another key, or for another operation', async () => {
    const asked = await ask(await lab.newTask());
    const { approvalToken } = asked.data;
    for (const unknown of [`rh_aat_${'0'.repeat(49)}`, 'x', 'rh_aat_', '☂ '.repeat(100)])
      expect(await confirm(unknown)).toEqual(refusal(404, 'TOKEN_NOT_FOUND'));
    expect(await confirm(approvalToken, {}, (await lab.newKey()).call)).toEqual(refusal(404, 'TOKEN_NOT_FOUND'));
    expect(await call('POST', '/tasks/actions/confirm', { approvalToken })).toEqual(refusal(404, 'TOKEN_NOT_FOUND'));
  });

  it('409 once it is used, and the same answer under the same idempotency key', async () => {
    const id = await lab.newTask();
    const { data } = await ask(id);
    const first = await confirm(data.approvalToken, { idempotencyKey: `c${id}` });
    expect(first.status).toBe(200);
    const again = await confirm(data.approvalToken, { idempotencyKey: `c${id}` });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await confirm(data.approvalToken)).toEqual(refusal(409, 'TOKEN_ALREADY_USED'));
    expect(await confirm(data.approvalToken, { idempotencyKey: 'another' })).toEqual(
      refusal(409, 'TOKEN_ALREADY_USED'),
    );
    expect(await lab.runsOf(id)).toBe(1);
    await stop(id);
  });

  it('409 when the idempotency key of the request is not repeated, or was used to confirm something else', async () => {
    const id = await lab.newTask();
    const asked = await call('POST', '/tasks/start', { taskId: id, reason }, { 'idempotency-key': `"r${id}"` });
    const again = await ask(id, { idempotencyKey: `r${id}` });
    expect(again.body).toEqual(asked.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await ask(id, { idempotencyKey: `r${id}`, reason: 'another reason' })).toEqual(
      refusal(409, 'IDEMPOTENCY_KEY_MISMATCH'),
    );
    const { approvalToken } = asked.data;
    expect(await confirm(approvalToken)).toEqual(refusal(409, 'IDEMPOTENCY_KEY_MISMATCH'));
    expect(await confirm(approvalToken, { idempotencyKey: 'x' })).toEqual(refusal(409, 'IDEMPOTENCY_KEY_MISMATCH'));
    expect((await confirm(approvalToken, { idempotencyKey: `r${id}` })).status).toBe(200);
    const other = await ask(await lab.newTask());
    expect(await confirm(other.data.approvalToken, { idempotencyKey: `r${id}` })).toEqual(
      refusal(409, 'IDEMPOTENCY_KEY_MISMATCH'),
    );
    await stop(id);
  });

  it('409 when the task was changed, with the places; a comment changes nothing', async () => {
    const id = await lab.newTask();
    const { data: first } = await ask(id);
    const { data: second } = await ask(id);
    await lab.administrator.client.tasks.update({ body: { id, comment: 'renamed' } });
    const { data: task } = await lab.administrator.client.tasks.get({ params: { id } });
    const [entry] = structuredClone(task.configuration) as { values: Record<string, unknown> }[];
    (entry as { values: Record<string, unknown> }).values['requestsPerSecond'] = 11;
    expect((await confirm(first.approvalToken)).status).toBe(200);
    await stop(id);
    await lab.administrator.client.tasks.update({ body: { id, configuration: [entry] as never } });
    const refused = await confirm(second.approvalToken);
    expect(refused).toEqual(refusal(409, 'TASK_CHANGED'));
    expect(refused.data.changed).toEqual(['/configuration/0/values/requestsPerSecond']);
    expect(await confirm(second.approvalToken)).toEqual(refusal(409, 'TOKEN_NOT_PENDING'));
    const { data } = await call('GET', `/approvals/${second.approval.id}`);
    expect(data).toMatchObject({ state: 'revoked', stateReason: 'task_changed' });
  });

  it('410 when it came too late', async () => {
    const id = await lab.newTask();
    const { data } = await ask(id);
    await lab.controller.store.database.transaction((tx) =>
      tx.run(
        {
          name: '',
          sql: `update "aiApprovals" set "expiresAt" = '2020-01-01T00:00:00.000Z' where id = ${data.approval.id}`,
        },
        [],
      ),
    );
    expect((await call('GET', `/approvals/${data.approval.id}`)).data.state).toBe('expired');
    expect(await confirm(data.approvalToken)).toEqual(refusal(410, 'TOKEN_EXPIRED'));
    expect(await confirm(data.approvalToken)).toEqual(refusal(410, 'TOKEN_EXPIRED'));
    expect(await lab.runsOf(id)).toBe(0);
  });

  it('429 beyond the budgets of the key', async () => {
    const { call: poor } = await lab.newKey({ limits: { startsPerDay: 1, pendingApprovals: 2 } });
    const [one, two, three] = [await lab.newTask(), await lab.newTask(), await lab.newTask()];
    const first = await ask(one, {}, poor);
    const second = await ask(two, {}, poor);
    expect(await ask(three, {}, poor)).toEqual(refusal(429, 'APPROVAL_QUOTA'));
    expect((await confirm(first.data.approvalToken, {}, poor)).status).toBe(200);
    expect(await confirm(second.data.approvalToken, {}, poor)).toEqual(refusal(429, 'BUDGET_EXCEEDED'));
    await stop(one);
  });
});

it('is withdrawn by the key itself, once', async () => {
  const { data } = await ask(await lab.newTask());
  const { id } = data.approval;
  expect((await call('POST', `/approvals/${id}/cancel`, { reason: 'changed my mind' })).data.state).toBe('revoked');
  expect(await call('POST', `/approvals/${id}/cancel`, {})).toEqual(refusal(409, 'APPROVAL_NOT_PENDING'));
  expect(await confirm(data.approvalToken)).toEqual(refusal(409, 'TOKEN_NOT_PENDING'));
  const other = await lab.newKey();
  expect(await other.call('GET', `/approvals/${id}`)).toEqual(refusal(404, 'NOT_FOUND'));
});
