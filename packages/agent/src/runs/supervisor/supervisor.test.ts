import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { Bench, isAlive, type Joined } from '../../testing/agent-process.ts';
import { clientJob, serverJob, totalOf } from '../../testing/jobs.ts';
import { type MessageOf, ProtocolServer } from '../../testing/protocol-server.ts';

const bench = new Bench();
let server: ProtocolServer;
let left: Joined;
let right: Joined;
let third: Joined;
let lastRun = 0;

const newRun = () => ({ runId: ++lastRun, epoch: 1 });
/** The process of a run, as the agent says in its log. */
const processOf = ({ agent }: Joined, runId: number): number =>
  Number(new RegExp(`"runId":${runId},"message":"preparing .* in process (\\d+)`).exec(agent.output)?.[1]);

beforeAll(async () => {
  server = await ProtocolServer.start();
  server.clockAheadMs = 5000;
  [left, right, third] = await Promise.all([bench.join(server), bench.join(server), bench.join(server)]);
  for (const { uuid } of [left, right, third]) {
    await server.until({ type: 'heartbeat', uuid, fits: ({ clockOffsetMs }) => clockOffsetMs !== 0 });
  }
});
afterAll(async () => {
  await bench.close();
  await server.vanish();
  expect(server.violations).toEqual([]);
});

/** A run of one order on the right agent, under way. */
const runningOn = async ({ uuid }: Joined, seconds: number) => {
  const of = newRun();
  const port = await freePort();
  server.send(uuid, {
    type: 'prepare',
    ...of,
    orders: [serverJob(of, port), clientJob(of, port, seconds)],
    files: [],
  });
  await server.until({ type: 'prepared', uuid, fits: ({ runId }) => runId === of.runId });
  server.send(uuid, { type: 'start', ...of, at: Date.now() + server.clockAheadMs + 50 });
  await server.until({ type: 'summaries', uuid, fits: ({ runId, order }) => runId === of.runId && order === 1 });
  return of;
};
const ofRun = (runId: number) => (message: { runId: number }) => message.runId === runId;

describe('runs on agents', () => {
  it('makes traffic between two agents from a common start to the planned end', { retry: 2 }, async () => {
    const of = newRun();
    const port = await freePort();
    server.send(right.uuid, { type: 'prepare', ...of, orders: [serverJob(of, port)], files: [] });
    server.send(left.uuid, { type: 'prepare', ...of, orders: [clientJob(of, port, 2)], files: [] });
    for (const { uuid } of [left, right]) await server.until({ type: 'prepared', uuid, fits: ofRun(of.runId) });
    const at = Date.now() + server.clockAheadMs + 300;
    for (const { uuid } of [left, right]) server.send(uuid, { type: 'start', ...of, at });
    const started = await server.until({ type: 'started', uuid: left.uuid, fits: ofRun(of.runId) });
    expect(Math.abs(started.at - at)).toBeLessThan(250);
    const end = await server.until({ type: 'orderEnded', uuid: left.uuid, fits: ofRun(of.runId) });
    expect(end.outcome).toMatchObject({ status: 'finished', error: '' });
    server.send(right.uuid, { type: 'stop', ...of, mode: 'graceful' });
    for (const { uuid } of [left, right]) await server.until({ type: 'ended', uuid, fits: ofRun(of.runId) });
    const sent = totalOf(server, left.uuid, { runId: of.runId, order: 0, metric: 'http.requests' });
    const served = totalOf(server, right.uuid, { runId: of.runId, order: 0, metric: 'http.served' });
    expect(sent.seqs).toEqual(Array.from({ length: end.outcome.lastSeq }, (_, index) => index + 1));
    expect(sent.total).toBeGreaterThan(80);
    expect(served.total).toBe(sent.total);
    const [first] = server.all('summaries', left.uuid)[0]?.summaries ?? [];
    expect(Math.abs((first?.at ?? 0) - at - 1000)).toBeLessThan(400);
  });

  it('pauses, resumes and changes the load', async () => {
    const { uuid } = right;
    const of = await runningOn(right, 30);
    server.send(uuid, { type: 'pause', ...of });
    await server.until({ type: 'event', uuid, fits: (event) => event.runId === of.runId && event.kind === 'paused' });
    const pausedSeconds = () =>
      server
        .all('summaries', uuid)
        .filter(({ runId, order }) => runId === of.runId && order === 1)
        .flatMap(({ summaries }) => summaries.filter(({ phase }) => phase === 'paused'));
    await expect.poll(() => pausedSeconds().length).toBeGreaterThan(2);
    const requests = pausedSeconds()
      .slice(1)
      .flatMap(({ series }) => series.map(({ counters }) => counters['http.requests'] ?? 0));
    expect(requests.filter((count) => count > 0)).toEqual([]);
    server.send(uuid, { type: 'resume', ...of });
    server.send(uuid, { type: 'changeLoad', ...of, order: 1, change: { requestsPerSecond: 400 } });
    server.send(uuid, { type: 'changeLoad', ...of, order: 1, change: { packetsPerSecond: 1 } });
    const refused = await server.until({ type: 'event', uuid, fits: ({ kind }) => kind === 'loadRejected' });
    expect(refused).toMatchObject({ severity: 'warning', order: 1 });
    const fast = (message: { summaries: { series: { counters: Record<string, number> }[] }[] }) =>
      message.summaries.some(({ series }) => series.some(({ counters }) => (counters['http.requests'] ?? 0) > 250));
    await server.until({ type: 'summaries', uuid, fits: (message) => message.runId === of.runId && fast(message) });
    server.send(uuid, { type: 'stop', ...of, mode: 'graceful' });
    server.send(uuid, { type: 'stop', ...of, mode: 'graceful' });
    await server.until({ type: 'ended', uuid, fits: ofRun(of.runId) });
    const outcomes = server.all('orderEnded', uuid).filter(ofRun(of.runId));
    expect(outcomes.map(({ outcome }) => outcome.status)).toEqual(['stopped', 'stopped']);
  });

  it('survives a run whose process is killed, and reports what happened', async () => {
    const { uuid } = left;
    const of = await runningOn(left, 30);
    process.kill(processOf(left, of.runId), 'SIGKILL');
    const event = await server.until({ type: 'event', uuid, fits: ({ kind }) => kind === 'engineCrashed' });
    expect(event).toMatchObject({ runId: of.runId, severity: 'error' });
    await server.until({ type: 'ended', uuid, fits: ofRun(of.runId) });
    const ends = server.all('orderEnded', uuid).filter(ofRun(of.runId));
    expect(ends.map(({ outcome }) => outcome.status)).toEqual(['failed', 'failed']);
    expect(ends[0]?.outcome.error).toContain('SIGKILL');
    expect(await server.ask(uuid, { kind: 'ping' })).toMatchObject({ ok: true });
  });

  it('does not wait for a process that is frozen', async () => {
    const { uuid } = left;
    const of = await runningOn(left, 30);
    process.kill(processOf(left, of.runId), 'SIGSTOP');
    server.send(uuid, { type: 'stop', ...of, mode: 'abort' });
    await server.until({ type: 'ended', uuid, fits: ofRun(of.runId) });
    const [end] = server.all('orderEnded', uuid).filter(ofRun(of.runId));
    expect(end?.outcome).toMatchObject({ status: 'stopped', notes: [expect.stringContaining('was killed')] });
    expect(isAlive(processOf(left, of.runId))).toBe(false);
  });

  it('resends unacknowledged summaries after a lost connection, without a gap', async () => {
    const { uuid } = third;
    const of = await runningOn(third, 30);
    server.unacknowledged.add(of.runId);
    const isLater = (seq: number) => (message: MessageOf<'summaries'>) =>
      message.runId === of.runId && message.order === 1 && (message.summaries.at(-1)?.seq ?? 0) >= seq;
    await server.until({ type: 'summaries', uuid, fits: isLater(4) });
    const after = server.heard.length;
    server.drop(uuid);
    const hello = await server.until({ type: 'hello', uuid, after });
    expect(hello.runs.find(ofRun(of.runId))).toMatchObject({ state: 'running', endedByDeadMan: false });
    const replayed = await server.until({ type: 'summaries', uuid, after, fits: ({ order }) => order === 1 });
    expect(replayed.summaries.length).toBeGreaterThan(1);
    const { seqs } = totalOf(server, uuid, { runId: of.runId, order: 1, metric: 'http.requests' });
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
    server.send(uuid, { type: 'abandon', ...of, reason: 'test' });
    await server.ask(uuid, { kind: 'reset' });
    expect(isAlive(processOf(third, of.runId))).toBe(false);
    expect(server.all('ended', uuid)).toEqual([]);
  });

  it('lets a newer epoch replace an older one, never the reverse', async () => {
    const { uuid } = left;
    const of = newRun();
    const port = await freePort();
    const prepare = (epoch: number) =>
      server.send(uuid, {
        type: 'prepare',
        runId: of.runId,
        epoch,
        orders: [serverJob({ ...of, epoch }, port)],
        files: [],
      });
    prepare(2);
    await server.until({ type: 'prepared', uuid, fits: ({ runId, epoch }) => runId === of.runId && epoch === 2 });
    prepare(1);
    prepare(2);
    await server.until({ type: 'prepared', uuid, fits: ({ runId, epoch }) => runId === of.runId && epoch === 2 });
    prepare(3);
    await server.until({ type: 'prepared', uuid, fits: ({ runId, epoch }) => runId === of.runId && epoch === 3 });
    expect(
      server
        .all('prepared', uuid)
        .filter((message) => message.runId === of.runId)
        .map(({ epoch }) => epoch),
    ).toEqual([2, 2, 3]);
    server.send(uuid, { type: 'stop', ...of, epoch: 2, mode: 'abort' });
    server.send(uuid, { type: 'stop', ...of, epoch: 3, mode: 'abort' });
    await server.until({ type: 'ended', uuid, fits: ({ runId, epoch }) => runId === of.runId && epoch === 3 });
    server.send(uuid, { type: 'forget', ...of, epoch: 3 });
    server.send(uuid, { type: 'start', runId: 999, epoch: 1, at: Date.now() });
    await server.until({ type: 'prepareFailed', uuid, fits: ofRun(999) });
  });

  it('refuses targets outside its limits and reports the problem of every job', async () => {
    const { uuid } = left;
    const of = newRun();
    const port = await freePort();
    const blocker = createServer().listen(port, '127.0.0.1');
    const client = (host: string, allowedTargets: string[]) => {
      const order = clientJob(of, port, 1);
      return { ...order, allowedTargets, config: { ...(order.config as object), targets: [{ host, port }] } };
    };
    const orders = [
      serverJob(of, port),
      client('10.1.2.3', ['10.0.0.0/8']),
      client('10.1.2.3', ['10.1.2.3/32']),
      client('127.0.0.1', ['10.0.0.0/8']),
      { ...clientJob(of, port, 1), engine: 'warp' },
    ];
    server.send(uuid, { type: 'prepare', ...of, orders, files: [] });
    const failed = await server.until({ type: 'prepareFailed', uuid, fits: ofRun(of.runId) });
    expect(failed.problems.map(({ order, message }) => `${order} ${message}`)).toEqual([
      expect.stringContaining('0 listen EADDRINUSE'),
      '1 target 10.1.2.3 is not allowed',
      '3 target 127.0.0.1 is not allowed',
      '4 unknown engine warp',
    ]);
    await server.until({ type: 'ended', uuid, fits: ofRun(of.runId) });
    const { result } = await server.ask(uuid, {
      kind: 'probe',
      orders: [...orders, { engine: 'http' }],
      gateways: ['203.0.113.1'],
    });
    const { problems } = result as { problems: { order: number; code: string }[] };
    expect(problems.map(({ order, code }) => `${order} ${code}`)).toEqual([
      '-1 GATEWAY_UNREACHABLE',
      '0 PORT_IN_USE',
      '1 TARGET_NOT_ALLOWED',
      '3 TARGET_NOT_ALLOWED',
      '4 ENGINE_UNKNOWN',
      '5 BAD_ORDER',
    ]);
    blocker.close();
    const fine = await server.ask(uuid, { kind: 'probe', orders: [serverJob(of, port)], gateways: [] });
    expect(fine.result).toEqual({ problems: [] });
  });
});
