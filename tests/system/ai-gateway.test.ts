import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { aiScopes } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentProcess, httpTask, type System, startSystem, until } from './system.ts';

let system: System;
let near: AgentProcess;
let far: AgentProcess;
let secret: string;
const limits = { requestsPerMin: 10_000, writesPerMin: 10_000, parallel: 50 };

beforeAll(async () => {
  system = await startSystem();
  [near, far] = await Promise.all([system.addAgent('near'), system.addAgent('far')]);
  const { data } = await system.client.aiAdmin.createKey({
    body: { name: 'a model', scopes: [...aiScopes], policy: { R2: 'human' }, limits },
  });
  secret = data.secret;
});
afterAll(() => system?.close());

// biome-ignore lint/suspicious/noExplicitAny: tests look into what they expect
type Loose = any;

const connect = async (mode: 'auto' | 'legacy') => {
  const client = new Client({ name: 'whole system', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${secret}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${system.url}/mcp`), { requestInit }));
  const use = async (name: string, given: object = {}): Promise<Loose> => {
    const { structuredContent, content, isError } = await client.callTool({ name, arguments: { ...given } });
    if (isError) throw new Error(`${name}: ${(content as { text: string }[])[0]?.text}`);
    return (structuredContent as { data: unknown }).data;
  };
  return { client, use };
};

const call = async (method: string, path: string, body?: object): Promise<Loose> => {
  const response = await fetch(`${system.url}/v1/ai/gateway${path}`, {
    method,
    headers: { 'x-api-key': secret, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
};

/** A user opens the review page and approves the request. */
const approve = async (id: number) => {
  const { data } = await system.client.aiAdmin.activity({ query: { kind: 'approval', state: 'pending' } });
  const shown = (data as { id: number; digest: string }[]).find((one) => one.id === id);
  await system.client.aiAdmin.decide({
    body: { array: [id], decision: 'approve', digests: { [id]: shown?.digest ?? '' } },
  });
};

const taskOf = (rate: number, seconds: number) =>
  httpTask(near, far, { requestsPerSecond: rate, duration: { mode: 'time', seconds } });

describe.each([
  ['2025', 'legacy'],
  ['current', 'auto'],
] as const)('a model with an MCP client of the %s era', (_, mode) => {
  it('goes from a draft to the report of a real run, approved by a user', async () => {
    const { client, use } = await connect(mode);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(29);

    const draft = await use('draft_create', { name: 'first try', task: taskOf(50, 2) });
    expect(draft.problems).toEqual([]);
    const ops = [{ op: 'replace', path: '/configuration/0/values/requestsPerSecond', value: 100 }];
    const { revision } = await use('draft_update', { id: draft.id, revision: draft.revision, ops });
    const checked = await use('task_validate', { draftId: draft.id });
    expect(checked).toMatchObject({ valid: true, risk: 'R2', policyForThisKey: 'human', errors: [] });
    const { id } = await use('task_create', { draftId: draft.id, revision });

    const asked = await use('task_start_request', { taskId: id, reason: 'how many requests are answered?' });
    expect(asked.approval).toMatchObject({ state: 'pending', policy: 'human', risk: 'R2' });
    expect(asked.nextStep).toContain('task_start_confirm');
    const { approvalToken } = asked;
    await expect(use('task_start_confirm', { approvalToken })).rejects.toThrow('HUMAN_APPROVAL_REQUIRED');
    const waiting = use('approval_get', { id: asked.approval.id, wait: 20 });
    await approve(asked.approval.id);
    expect((await waiting).decisions).toMatchObject([{ decision: 'approve' }]);
    const started = await use('task_start_confirm', { approvalToken });
    expect(started).toMatchObject({ approval: { state: 'used' }, task: { id } });

    await untilEnded(use, id);
    const report = await use('task_report', { id });
    expect(report).toMatchObject({ taskId: id, runId: started.task.runId, status: 'finished' });
    const answered = report.kpis.flatMap((kpi: Loose) => kpi.figures).find((one: Loose) => one.metric === 'http.ok');
    const { data } = await system.client.tasks.run({ params: { id, runId: started.task.runId }, query: {} });
    const truth = data.summary.flatMap(({ metrics }) => metrics).find(({ metric }) => metric === 'http.ok');
    expect(answered.sum).toBeGreaterThan(150);
    expect(answered.sum).toBe(truth?.sum);
    expect(report.validity).toEqual(data.validity);

    const { contents } = await client.readResource({ uri: `rushhour://tasks/${id}/report` });
    expect(JSON.parse((contents[0] as { text: string }).text).data).toEqual(report);
    await client.close();
  });
});

/** Follows the task as a model does, by long polling. */
const untilEnded = async (use: (name: string, given: object) => Promise<Loose>, id: number) => {
  let since = 0;
  for (let round = 0; round < 60; round += 1) {
    const { status, revision } = await use('task_status', { id, wait: 10, since });
    if ([7, 8, 9].includes(status)) return;
    since = revision;
  }
  throw new Error(`task ${id} did not end`);
};

describe('a run controlled by an AI key', () => {
  let id: number;
  const act = async (action: string, params: object = {}) =>
    call('POST', '/tasks/actions', { action, taskIds: [id], params, reason: `wants to ${action}` });
  const statusIs = (statuses: readonly number[]) =>
    until(`status ${statuses}`, async () => {
      const { data } = await call('GET', `/tasks/${id}/status`);
      return statuses.includes(data.status) ? data : undefined;
    });
  const confirmed = async (asked: Loose) => {
    await approve(asked.data.approval.id);
    const path = asked.data.approval.action === 'task.start' ? '/tasks/start/confirm' : '/tasks/actions/confirm';
    return call('POST', path, { approvalToken: asked.data.approvalToken });
  };
  const rateOver = (minRate: number, maxRate: number) =>
    until(`a rate between ${minRate} and ${maxRate}`, async () => {
      const { data } = await call('GET', `/tasks/${id}/status`);
      const { rate = 0 } = data.rates.find(({ metric }: { metric: string }) => metric === 'http.requests') ?? {};
      return rate >= minRate && rate <= maxRate;
    });

  it('starts after an approval, and pauses and stops without one', async () => {
    ({ data: id } = await system.client.tasks.create({ body: taskOf(50, 60) as never }));
    const asked = await call('POST', '/tasks/start', { taskId: id, reason: 'to be steered' });
    expect((await confirmed(asked)).status).toBe(200);
    await statusIs([4]);
    await rateOver(40, 60);

    expect((await act('pause')).data).toMatchObject({ approval: { state: 'used', risk: 'RS', policy: 'auto' } });
    await statusIs([5]);
    const resuming = await act('resume');
    expect(resuming.data.approval).toMatchObject({ state: 'pending', risk: 'R2', policy: 'human' });
    expect((await confirmed(resuming)).data.results).toMatchObject([{ taskId: id, ok: true }]);
    await statusIs([4]);
  });

  it('slows down immediately and speeds up after an approval', async () => {
    const slower = await act('set-rate', { changes: [{ index: 0, requestsPerSecond: 10 }] });
    expect(slower.data.approval).toMatchObject({ state: 'used', risk: 'RS' });
    await rateOver(5, 15);
    const faster = await act('set-rate', { changes: [{ index: 0, requestsPerSecond: 200 }] });
    expect(faster.data.approval).toMatchObject({ state: 'pending', risk: 'R2' });
    expect((await confirmed(faster)).status).toBe(200);
    await rateOver(150, 250);
  });

  it('stops immediately, and its results can be read', async () => {
    expect((await act('stop')).data.approval).toMatchObject({ state: 'used', action: 'task.stop' });
    await statusIs([7, 8, 9]);
    const results = await call('GET', `/tasks/${id}/results?series=http.requests&maxPoints=10`);
    expect(results.data.summary.length).toBeGreaterThan(0);
    const [series] = results.data.series.series;
    expect(series.values.length).toBeGreaterThan(2);
    expect(series.values.length).toBeLessThanOrEqual(11);
    const events = await call('GET', `/tasks/${id}/events?count=100`);
    expect(events.data.map(({ code }: { code: string }) => code)).toContain('loadChanged');
    const text = await call('GET', `/tasks/${id}/report?format=markdown&maxChars=1000`);
    expect(text.data.markdown).toContain(`Task ${id}`);
    const other = await call('GET', `/tasks/${id}/results?baseline=${id - 1}`);
    expect(other.data.deltas.metrics.length).toBeGreaterThan(0);
  });
});
