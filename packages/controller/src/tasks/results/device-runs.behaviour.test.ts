import { afterAll, beforeAll, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { createMeasuredWorld, type MeasuredWorld } from './testing/measured-world.ts';

let world: MeasuredWorld;
beforeAll(async () => {
  world = await createMeasuredWorld();
});
afterAll(() => world.close());
const api = () => world.administrator.client.tasks;
const labels = { device: 'edge-fw', deviceVendor: 'Example', deviceVersion: '9.1' };
const load = { metric: 'achievedLoad', unit: '/s', type: 'gauge', avg: 400 };
const entry = { configurationIndex: 0, pluginID: 2, plugin: 'http', role: 'client', window: 'steady', seconds: 3 };

it('lists devices by version, and the results of a device over all tasks', async () => {
  const first = await world.begin({ labels });
  await world.end(first, { summary: { entries: [{ ...entry, metrics: [load] }], thresholds: [] } });
  const second = await world.begin({ labels: { ...labels, deviceVersion: '9.2' } });
  await world.end(second);
  const third = await world.begin({ labels: { device: 'other' } });
  await world.end(third);
  const { data } = await api().counters({ query: { devices: true, device: 'edge-fw' } });
  expect(data.devices?.map(({ name, vendor, version, runs }) => [name, vendor, version, runs]).sort()).toEqual([
    ['edge-fw', 'Example', '9.1', 1],
    ['edge-fw', 'Example', '9.2', 1],
    ['other', '', '', 1],
  ]);
  expect(data.deviceRuns?.map(({ id }) => id)).toEqual([second.runId, first.runId]);
  expect(data.deviceRuns?.[1]).toMatchObject({ taskID: first.taskId, labels, summary: [{ metrics: [load] }] });
  expect((await api().counters({ query: {} })).data).not.toHaveProperty('devices');
});

it('changes notes, labels and pins of runs, also while the task is active', async () => {
  const run = await world.begin({ comment: 'before', labels: { site: 'lab' } });
  const body = { id: run.taskId, runs: [{ id: run.runId, comment: 'Cable replaced', pinned: true }] };
  await api().update({ body });
  const params = { id: run.taskId, runId: run.runId };
  expect((await api().run({ params, query: {} })).data).toMatchObject({
    comment: 'Cable replaced',
    labels: { site: 'lab' },
    pinned: true,
  });
  const other = await world.begin();
  await expect(api().update({ body: { id: run.taskId, runs: [{ id: other.runId, pinned: true }] } })).rejects.toEqual(
    refused(404, 'NOT_FOUND'),
  );
  await world.end(run);
  await world.end(other);
});

it('keeps the device under test of a task, and finds tasks by it', async () => {
  const { taskId: id } = await world.begin();
  const device = { name: 'core-router', vendor: 'Example', model: 'X2', version: '1.0' };
  await api().update({ body: { id, device } });
  expect((await api().get({ params: { id } })).data.device).toEqual(device);
  expect((await api().list({ query: { device: 'core-router' } })).data.map((task) => task.id)).toEqual([id]);
  await api().update({ body: { id, device: null } });
  expect((await api().get({ params: { id } })).data.device).toBeNull();
});
