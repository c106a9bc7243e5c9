import type { Summary } from '@rushhour/protocol';
import { jobOf, setRun, storeRun } from '../../../metrics/testing/stored-run.ts';
import { createRandom, histogramOf, summaryOf } from '../../../metrics/testing/summaries.ts';
import { appendEvent, type NewRunEvent } from '../../../store/runs/run-events.ts';
import { lockRun, type RunRecord } from '../../../store/runs/runs.ts';
import { tasks } from '../../../store/tasks/tasks.ts';
import { enrolTestAgent, type TestAgent } from '../../../testing/agent.ts';
import { startTestController } from '../../../testing/controller.ts';

export const origin = { userId: null, address: '', requestId: 'test', operation: 'test' };
const random = createRandom(5);

export interface Started {
  taskId: number;
  runId: number;
  t0: number;
}

const clientSecond = (seq: number, t0: number): Summary =>
  summaryOf({
    ...{ seq, t0, phase: seq <= 2 ? 'rampUp' : 'steady' },
    counters: { 'http.requests': 100, 'http.txBytes': 1000, ...(seq === 4 && { 'http.errors.reset': 2 }) },
    gauges: { 'http.targetLoad': 100, 'agent.cpuPct': 30 + seq },
    histograms: { 'http.latency': histogramOf(random, 100, 800, 0.4) },
  });
const serverSecond = (seq: number, t0: number): Summary =>
  summaryOf({ seq, t0, target: '', counters: { 'http.served': 100, 'http.rxBytes': 900 } });

/** Sends seconds over the channel of the agent; resolves when they are acknowledged. */
export const sendSeconds = async (agent: TestAgent, runId: number, summaries: Summary[]) => {
  const lastSeq = summaries.at(-1)?.seq ?? 0;
  let from = agent.messages.length;
  agent.send({ type: 'summaries', runId, epoch: 0, order: 0, summaries });
  for (;;) {
    const acknowledged = await agent.next('acknowledge', { from });
    if (acknowledged.runId === runId && acknowledged.seq >= lastSeq) return;
    from = agent.messages.indexOf(acknowledged) + 1;
  }
};

/** A controller with a client and a server that report what the test says. Runs are stored as the conductor would. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of actions for tests
export const createMeasuredWorld = async () => {
  const controller = await startTestController();
  const administrator = await controller.signIn();
  const enrol = (name: string) => enrolTestAgent(administrator.client, { url: controller.url, name });
  const [client, server] = [await enrol('client'), await enrol('server')];
  const { store, bus } = controller;

  const begin = (run: Partial<RunRecord> = {}, more: { taskId?: number; status?: number; t0?: number | null } = {}) => {
    const startedAt = Date.now() - 60_000;
    return storeRun(store, {
      t0: startedAt,
      agents: { [client.agentId]: [jobOf()], [server.agentId]: [jobOf({ role: 'server' })] },
      ...more,
      run: { plannedSec: 600, startedBy: 1, startedAt: new Date(startedAt).toISOString(), ...run },
    });
  };
  const happen = (runId: number, ...events: Partial<NewRunEvent>[]) =>
    store.change(origin, async (tx) => {
      await lockRun(tx, runId);
      for (const event of events) {
        await appendEvent(tx, runId, { type: 'note', source: 'controller', message: 'something', ...event });
      }
      tx.afterCommit(() => bus.publish('run.changed', { runId }));
    });

  return {
    controller,
    administrator,
    client,
    server,
    begin,
    happen,
    /** Both agents report seconds of a run. */
    report: async ({ runId, t0 }: Started, from: number, to: number) => {
      const seqs = Array.from({ length: to - from + 1 }, (_, i) => from + i);
      await Promise.all([
        sendSeconds(
          client,
          runId,
          seqs.map((seq) => clientSecond(seq, t0)),
        ),
        sendSeconds(
          server,
          runId,
          seqs.map((seq) => serverSecond(seq, t0)),
        ),
      ]);
    },
    end: async ({ taskId, runId }: Started, run: Partial<RunRecord> = {}) => {
      const values = { status: 7, verdict: 1, stopReason: 'duration', finishedAt: new Date().toISOString(), ...run };
      await setRun(store, runId, values);
      await store.change(origin, (tx) => tasks.update(tx, taskId, { status: values.status }));
      await happen(runId, { type: 'status', data: { status: values.status } });
      bus.publish('task.status', { id: taskId, status: values.status, permission: 41 });
    },
    close: async () => {
      await client.close();
      await server.close();
      // After a broken stream the client opens connections it has no use for; unused ones would hold up the end.
      await Promise.all(Array.from({ length: 12 }, () => administrator.client.users.me()));
      await controller.close();
    },
  };
};

export type MeasuredWorld = Awaited<ReturnType<typeof createMeasuredWorld>>;
