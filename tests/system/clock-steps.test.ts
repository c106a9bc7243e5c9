import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentProcess, httpTask, metricOf, type System, startSystem, untilStatus } from './system.ts';

const folder = mkdtempSync(join(tmpdir(), 'rushhour-clock-'));
const file = join(folder, 'step');
const hourMs = 3_600_000;
const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
const preload = fileURLToPath(new URL('./stepped-clock.ts', import.meta.url));
const env = { TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import=${preload}` };
const setClock = (stepMs: number) => writeFileSync(file, String(stepMs));

let system: System;
let near: AgentProcess;
let far: AgentProcess;

beforeAll(async () => {
  setClock(0);
  system = await startSystem({}, env);
  [near, far] = await Promise.all([system.addAgent('near', { env }), system.addAgent('far', { env })]);
});
afterAll(async () => {
  await system?.close();
  rmSync(folder, { recursive: true, force: true });
});

const seconds = 4;
const rate = 100;

/** A run during which the system clock of all processes is set, unless both are the same. */
const runWithStep = async (beforeMs: number, afterMs = beforeMs) => {
  setClock(beforeMs);
  await system.client.auth.login({ body: admin });
  const task = httpTask(near, far, { requestsPerSecond: rate, duration: { mode: 'time', seconds } });
  const { data: id } = await system.client.tasks.create({ body: task as never });
  const { data } = await system.client.tasks.start({ params: { id } });
  await untilStatus(system.client, id, [4, 7, 8, 9]);
  await sleep(1500);
  setClock(afterMs);
  await system.client.auth.login({ body: admin });
  await untilStatus(system.client, id, [7, 8, 9]);
  const params = { id, runId: data.runId };
  const { data: result } = await system.client.tasks.run({ params, query: { full: true } });
  const { data: agents } = await system.client.tasks.runAgents({ params });
  const { data: events } = await system.client.tasks.events({ params: { id }, query: { runId: data.runId } });
  return { result, notes: JSON.stringify(agents), events: JSON.stringify(events) };
};

/** On a busy machine the generator is late, which is no fault of the clock. */
const faultsOf = ({ validity }: { validity: { reasons: readonly string[] } }) =>
  validity.reasons.filter((reason) => !/was saturated|of the target load/.test(reason));

const expectAllRequests = (result: Parameters<typeof metricOf>[0]): void => {
  const sum = metricOf(result, 'client', 'http.requests')?.['sum'];
  expect(sum).toBeGreaterThan(seconds * rate * 0.8);
  expect(sum).toBeLessThanOrEqual(seconds * rate);
};

describe('a run during which the system clock is set', () => {
  it.each([
    ['two hours forward', 0, 2 * hourMs],
    ['two hours back', 2 * hourMs, 0],
  ])('%s measures all its seconds, and says so; the next run is as good', async (_, beforeMs, afterMs) => {
    const { result, notes, events } = await runWithStep(beforeMs, afterMs);
    expect(result).toMatchObject({ status: 7, stopReason: 'duration' });
    expect(faultsOf(result)).toEqual([]);
    expectAllRequests(result);
    expect(result.durationSec).toBeLessThan(60);
    expect(notes).toContain('the system clock of the agent was set');
    expect(events).toContain('the system clock of the controller was set');
    const next = await runWithStep(afterMs);
    expect(next.result).toMatchObject({ status: 7 });
    expect(faultsOf(next.result)).toEqual([]);
    expectAllRequests(next.result);
    expect(next.notes).not.toContain('the system clock of the agent was set');
  });
});
