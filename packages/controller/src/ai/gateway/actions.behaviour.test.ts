import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayCall, type GatewayLab, startGatewayLab } from './testing/gateway-lab.ts';

let lab: GatewayLab;
let call: GatewayCall;
beforeAll(async () => {
  lab = await startGatewayLab();
  ({ call } = await lab.newKey());
});
afterAll(() => lab.close());

const reason = 'checks the gateway';
const refusal = (status: number, code: string) =>
  expect.objectContaining({ status, data: expect.objectContaining({ code }) });
const act = (action: string, taskIds: number[], more: object = {}, by = call) =>
  by('POST', '/tasks/actions', { action, taskIds, reason, ...more });
const confirm = (approvalToken: string, by = call) => by('POST', '/tasks/actions/confirm', { approvalToken });
const start = (id: number) => lab.administrator.client.tasks.start({ params: { id } });
const statusOf = async (id: number) => (await lab.administrator.client.tasks.get({ params: { id } })).data.status;
const decide = (body: object, by = lab.administrator) => by.client.aiAdmin.decide({ body: body as never });

describe('stopping', () => {
  it('is done at once, several tasks together, and is written down as an approval', async () => {
    const ids = [await lab.newTask(), await lab.newTask()];
    for (const id of ids) await start(id);
    const { status, data } = await act('stop', ids);
    expect(status).toBe(200);
    expect(data.approval).toMatchObject({ risk: 'RS', policy: 'auto', state: 'used', taskIds: ids });
    expect(data.approvalToken).toBeUndefined();
    expect(data.results).toEqual(ids.map((taskId) => expect.objectContaining({ taskId, ok: true, status: 8 })));
  });

  it('of one task in the wrong state stops nothing', async () => {
    const [running, idle] = [await lab.newTask(), await lab.newTask()];
    await start(running);
    const refused = await act('stop', [running, idle]);
    expect(refused).toEqual(refusal(409, 'TASK_WRONG_STATUS'));
    expect(refused.data.tasks).toEqual([{ id: idle, status: 0 }]);
    expect(await statusOf(running)).toBe(1);
    await act('stop', [running]);
  });

  it('is possible in a freeze window, starting is not', async () => {
    const [running, other] = [await lab.newTask(), await lab.newTask()];
    await start(running);
    const freeze = [{ from: '2020-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z' }];
    await lab.administrator.client.settings.update({ body: { ai: { freeze } } });
    expect(await call('POST', '/tasks/start', { taskId: other, reason })).toEqual(refusal(403, 'AI_FROZEN'));
    expect((await act('stop', [running])).status).toBe(200);
    await lab.administrator.client.settings.update({ body: { ai: { freeze: [] } } });
  });
});

it('refuses unknown actions, wrong parameters, tasks that are not there and scopes the key has not', async () => {
  const id = await lab.newTask();
  expect(await act('explode', [id])).toEqual(refusal(400, 'INVALID_REQUEST'));
  expect(await act('set-rate', [id])).toEqual(refusal(400, 'INVALID_REQUEST'));
  expect(await act('pause', [id], { params: { hard: true } })).toEqual(refusal(400, 'INVALID_REQUEST'));
  expect(await act('stop', [999_999])).toEqual(refusal(404, 'NOT_FOUND'));
  expect(await act('pause', [id])).toEqual(refusal(409, 'TASK_WRONG_STATUS'));
  const operator = await lab.newKey({ scopes: ['tasks:control'] });
  expect(await act('delete', [id], {}, operator.call)).toEqual(refusal(403, 'AI_SCOPE_MISSING'));
  const bound = await lab.newKey({ constraints: { projectIDs: [1] } });
  expect(await act('delete', [id], {}, bound.call)).toEqual(refusal(404, 'NOT_FOUND'));
});

it('restarts what is idle at once, and what runs once its run has ended', async () => {
  const id = await lab.newTask();
  await start(id);
  const { data } = await act('restart', [id]);
  expect(data.approval).toMatchObject({ risk: 'R2', state: 'pending' });
  expect((await confirm(data.approvalToken)).status).toBe(200);
  await expect.poll(() => lab.runsOf(id)).toBe(2);
  expect(await statusOf(id)).toBe(1);
  await act('stop', [id]);
});

describe('what is hazardous', () => {
  it('waits for a person, who decides about what they were shown', async () => {
    const id = await lab.newTask();
    const { data } = await act('delete', [id]);
    const { id: approvalId, digest } = data.approval;
    expect(data).toMatchObject({
      approval: { risk: 'R3', policy: 'human', requiredDecisions: 1 },
      reviewUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/approvals\/\d+$/),
    });
    const early = await confirm(data.approvalToken);
    expect(early).toEqual(refusal(403, 'HUMAN_APPROVAL_REQUIRED'));
    expect(early.data).toMatchObject({ retryable: true, reviewUrl: expect.any(String) });
    const { data: news } = await lab.administrator.client.notifications.list({ query: {} });
    expect(news.some(({ kind, entity }) => kind === 'ai.approval' && entity?.id === approvalId)).toBe(true);
    const wrong = { array: [approvalId], decision: 'approve', digests: { [approvalId]: 'sha256:0' } };
    await expect(decide(wrong)).rejects.toMatchObject({ status: 409, data: { code: 'DIGEST_MISMATCH' } });
    await expect(decide({ array: [approvalId], decision: 'approve' })).rejects.toMatchObject({ status: 400 });
    const waiting = call('GET', `/approvals/${approvalId}?wait=20`);
    const decided = await decide({
      array: [approvalId],
      decision: 'approve',
      digests: { [approvalId]: digest },
      comment: 'fine',
    });
    expect(decided.data).toMatchObject([{ id: approvalId, state: 'pending', decisions: [{ decision: 'approve' }] }]);
    expect((await waiting).data.decisions).toHaveLength(1);
    expect((await confirm(data.approvalToken)).data.results).toMatchObject([{ taskId: id, ok: true }]);
    await expect(lab.administrator.client.tasks.get({ params: { id } })).rejects.toMatchObject({ status: 404 });
  });

  it('is refused for good by one who rejects', async () => {
    const { data } = await act('delete', [await lab.newTask()]);
    const { id, digest } = data.approval;
    await decide({ array: [id], decision: 'reject', comment: 'not today' });
    expect(await confirm(data.approvalToken)).toEqual(refusal(409, 'TOKEN_NOT_PENDING'));
    expect((await call('GET', `/approvals/${id}`)).data).toMatchObject({ state: 'rejected', stateReason: 'not today' });
    await expect(decide({ array: [id], decision: 'approve', digests: { [id]: digest } })).rejects.toMatchObject({
      status: 409,
    });
  });

  it('needs as many people as the key says, and not its owner where that is forbidden', async () => {
    const strict = await lab.newKey({ policy: { count: 2, preventSelfApproval: true } });
    const { data } = await act('delete', [await lab.newTask()], {}, strict.call);
    const { id, digest } = data.approval;
    const approval = { array: [id], decision: 'approve', digests: { [id]: digest } };
    await expect(decide(approval)).rejects.toMatchObject({ status: 403, data: { code: 'SELF_APPROVAL' } });
    const first = await lab.controller.signInWith(lab.administrator, [163]);
    const second = await lab.controller.signInWith(lab.administrator, [163]);
    await decide(approval, first);
    await expect(decide(approval, first)).rejects.toMatchObject({ data: { code: 'ALREADY_DECIDED' } });
    expect(await confirm(data.approvalToken, strict.call)).toEqual(refusal(403, 'HUMAN_APPROVAL_REQUIRED'));
    await decide(approval, second);
    expect((await confirm(data.approvalToken, strict.call)).status).toBe(200);
  });

  it('needs a password given a short time ago', async () => {
    const { data } = await act('delete', [await lab.newTask()]);
    const { id, digest } = data.approval;
    const late = await lab.controller.signInWith(lab.administrator, [163]);
    await lab.controller.store.database.transaction((tx) =>
      tx.run(
        { name: '', sql: `update sessions set "createdAt" = '2020-01-01T00:00:00.000Z' where "userID" = ${late.id}` },
        [],
      ),
    );
    const approval = { array: [id], decision: 'approve', digests: { [id]: digest } };
    await expect(decide(approval, late)).rejects.toMatchObject({ data: { code: 'REAUTHENTICATION_REQUIRED' } });
  });

  it('is any start outside the ranges of the key', async () => {
    const narrow = await lab.newKey({ constraints: { targetCidrs: ['10.99.0.0/16'] } });
    const id = await lab.newTask();
    const { data } = await narrow.call('POST', '/tasks/start', { taskId: id, reason });
    expect(data.approval).toMatchObject({ risk: 'R3', policy: 'human' });
  });
});

it('ends what a key waits for when the key is disabled, and when the gateway is switched off', async () => {
  const key = await lab.newKey();
  const { data } = await act('delete', [await lab.newTask()], {}, key.call);
  await lab.administrator.client.aiAdmin.updateKey({ body: { id: key.id, isActive: false } });
  expect((await confirm(data.approvalToken, key.call)).status).toBe(401);
  await lab.administrator.client.aiAdmin.updateKey({ body: { id: key.id, isActive: true } });
  expect(await confirm(data.approvalToken, key.call)).toEqual(refusal(409, 'TOKEN_NOT_PENDING'));
  const { data: other } = await act('delete', [await lab.newTask()]);
  await lab.administrator.client.settings.update({ body: { ai: { enabled: false } } });
  expect(await confirm(other.approvalToken)).toEqual(refusal(403, 'AI_GATEWAY_DISABLED'));
  await expect
    .poll(
      async () => {
        const { data: list } = await lab.administrator.client.aiAdmin.activity({ query: { kind: 'approval' } });
        return list.find((one) => one['id'] === other.approval.id)?.['state'];
      },
      { interval: 500 },
    )
    .toBe('revoked');
  await lab.administrator.client.settings.update({ body: { ai: { enabled: true } } });
});
