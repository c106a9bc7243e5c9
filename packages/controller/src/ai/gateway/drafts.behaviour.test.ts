import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTask } from '../../store/tasks/tasks.ts';
import { type GatewayCall, type GatewayLab, startGatewayLab } from './testing/gateway-lab.ts';

let lab: GatewayLab;
let call: GatewayCall;
beforeAll(async () => {
  lab = await startGatewayLab();
  ({ call } = await lab.newKey());
});
afterAll(() => lab.close());

const refusal = (status: number, code: string) =>
  expect.objectContaining({ status, data: expect.objectContaining({ code }) });
const plainTask = () => ({
  configuration: [
    {
      plugin: { id: 1 },
      values: {
        ...{ sources: [{ agent: { id: lab.agentId } }], targets: [{ agent: { id: lab.agentId } }] },
        ...{ requestsPerSecond: 10, duration: { mode: 'time', seconds: 60 } },
      },
    },
  ],
});
const newDraft = async (body: object = { task: plainTask() }) => (await call('POST', '/drafts', body)).data;

it('a draft tells its problems until there are none, and becomes a task that is not started', async () => {
  const draft = await newDraft({ name: 'first', task: { configuration: [{ plugin: { id: 1 }, values: {} }] } });
  expect(draft).toMatchObject({ name: 'first', revision: 1 });
  expect(draft.problems).not.toEqual([]);
  const merge = plainTask();
  const { data: better } = await call('PATCH', `/drafts/${draft.id}`, { revision: 1, merge });
  expect(better).toMatchObject({ revision: 2, problems: [] });
  expect(await call('PATCH', `/drafts/${draft.id}`, { revision: 1, merge })).toEqual(refusal(409, 'DRAFT_CHANGED'));
  const request = { draftId: draft.id, revision: 2 };
  expect(await call('POST', '/tasks', { ...request, revision: 1 })).toEqual(refusal(409, 'DRAFT_CHANGED'));
  const { data: validation } = await call('POST', '/tasks/validate', { draftId: draft.id });
  expect(validation).toMatchObject({ valid: true, errors: [], risk: 'R2', policyForThisKey: 'same-key' });
  const { status, data } = await call('POST', '/tasks', request, { 'idempotency-key': 'once' });
  expect({ status, data }).toMatchObject({
    status: 200,
    data: { status: 0, digest: expect.stringMatching(/^sha256:/) },
  });
  const again = await call('POST', '/tasks', request, { 'idempotency-key': 'once' });
  expect(again.data).toEqual(data);
  const { data: task } = await call('GET', `/tasks/${data.id}`);
  expect(task).toMatchObject({ id: data.id, digest: data.digest, revision: data.revision });
  expect(await lab.runsOf(data.id)).toBe(0);
  expect((await call('DELETE', `/drafts/${draft.id}`)).data).toEqual({ deleted: true });
  expect(await call('GET', `/drafts/${draft.id}`)).toEqual(refusal(404, 'NOT_FOUND'));
});

it('a draft fills a template, names plugins, keeps what a merge does not mention and takes thresholds to its task', async () => {
  const { data: templates } = await lab.administrator.client.taskTemplates.all();
  const templateId = templates.find(({ name }) => name === 'HTTP requests per second')?.id ?? 0;
  const filling = { agentMap: { client: lab.agentId, server: lab.agentId }, parameters: { rps: 7 } };
  const draft = await newDraft({ from: { templateId }, ...filling });
  expect(draft).toMatchObject({ problems: [], task: { configuration: [{ values: { requestsPerSecond: 7 } }] } });
  const wrong = await call('POST', '/drafts', { from: { templateId }, parameters: { colour: 'red' } });
  expect(wrong.status).toBe(400);
  expect((await call('POST', '/drafts', { task: plainTask(), agentMap: {} })).status).toBe(400);
  const fast = { name: 'fast', metric: 'http.latency', aggregation: 'p99', operator: '<', value: 5000 };
  const merged = async (revision: number, metric: string) => {
    const configuration = [{ plugin: 'http', values: { requestsPerSecond: 8 } }];
    const merge = { configuration, thresholds: [{ ...fast, metric }] };
    return (await call('PATCH', `/drafts/${draft.id}`, { revision, merge })).data;
  };
  expect((await merged(1, 'no.such')).problems).toMatchObject([{ path: '/thresholds/0/metric' }]);
  const better = await merged(2, fast.metric);
  expect(better.problems).toEqual([]);
  expect(better.task.configuration[0].values).toMatchObject({
    ...{ requestsPerSecond: 8, sources: [{ agent: { id: lab.agentId } }] },
  });
  const { data: made } = await call('POST', '/tasks', { draftId: draft.id, revision: 3 });
  const { data: thresholds } = await lab.administrator.client.tasks.thresholds({ params: { id: made.id } });
  expect(thresholds).toMatchObject([{ name: 'fast', value: 5000 }]);
  const again = await newDraft({ from: { taskId: made.id } });
  expect(again).toMatchObject({ problems: [], task: { thresholds: [{ name: 'fast' }] } });
});

it('operations of JSON Patch change a draft, all or nothing', async () => {
  const draft = await newDraft();
  const path = '/configuration/0/values/requestsPerSecond';
  const ops = [
    { op: 'test', path, value: 10 },
    { op: 'replace', path, value: 20 },
  ];
  expect((await call('PATCH', `/drafts/${draft.id}`, { revision: 1, ops })).data.revision).toBe(2);
  expect(await call('PATCH', `/drafts/${draft.id}`, { revision: 2, ops })).toEqual(refusal(400, 'TEST_FAILED'));
  expect((await call('GET', `/drafts/${draft.id}?path=${path}`)).data).toMatchObject({ revision: 2, task: 20 });
  expect(await call('PATCH', `/drafts/${draft.id}`, { revision: 2 })).toEqual(refusal(400, 'INVALID_REQUEST'));
});

it('drafts belong to the key that made them', async () => {
  const draft = await newDraft();
  const other = await lab.newKey();
  expect(await other.call('GET', `/drafts/${draft.id}`)).toEqual(refusal(404, 'NOT_FOUND'));
  expect((await other.call('GET', '/drafts')).data).toEqual([]);
  const { data } = await call('GET', '/drafts');
  expect(data.map(({ id }: { id: number }) => id)).toContain(draft.id);
});

it('secrets of a task go into the draft and into the next task unseen', async () => {
  const canary = 'canary-of-the-draft';
  const ends = { sources: [{ agent: { id: lab.agentId } }], targets: [{ agent: { id: lab.agentId } }] };
  const source = await lab.newTask(
    {},
    { configuration: [{ plugin: { id: 12 }, values: { ...ends, ipsecPsk: canary } }] },
  );
  const { body, data: draft } = await call('POST', '/drafts', { from: { taskId: source } });
  expect(JSON.stringify(body)).not.toContain(canary);
  const path = '/configuration/0/values/ipsecPsk';
  expect(draft.task.configuration[0].values.ipsecPsk).toMatch(/^__redacted__:hmac:[0-9a-f]{12}$/);
  const patch = (ops: object[], revision = 1) => call('PATCH', `/drafts/${draft.id}`, { revision, ops });
  expect(await patch([{ op: 'copy', from: path, path: '/comment' }])).toEqual(refusal(400, 'SECRET_NOT_ALLOWED'));
  expect(await patch([{ op: 'replace', path, value: 'mine' }])).toEqual(refusal(400, 'SECRET_NOT_ALLOWED'));
  expect((await patch([{ op: 'add', path: '/comment', value: 'copy' }])).status).toBe(200);
  const { data: made } = await call('POST', '/tasks', { draftId: draft.id, revision: 2 });
  const { store } = lab.controller;
  const stored = await openTask(store.read, store.secrets, made.id);
  expect(stored?.configuration[0]?.values?.['ipsecPsk']).toBe(canary);
  expect((await patch([{ op: 'replace', path, value: '__generate__' }], 2)).status).toBe(200);
  const { data: next } = await call('POST', '/tasks', { draftId: draft.id, revision: 3 });
  const generated = await openTask(store.read, store.secrets, next.id);
  expect(generated?.configuration[0]?.values?.['ipsecPsk']).toMatch(/^[0-9a-f]{32}$/);
});

it('validate reports a body that is no task as invalid instead of refusing it', async () => {
  const { status, data } = await call('POST', '/tasks/validate', { task: { configuration: 'none' } });
  expect({ status, data }).toMatchObject({
    status: 200,
    data: { valid: false, risk: 'R3', policyForThisKey: 'human' },
  });
  expect(await call('POST', '/tasks/validate', {})).toEqual(refusal(400, 'INVALID_REQUEST'));
  expect(await call('POST', '/tasks', { task: { configuration: [] } })).toEqual(refusal(400, 'INVALID_REQUEST'));
});
