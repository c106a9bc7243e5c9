import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DumpState, ToAgent } from '@rushhour/protocol';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AgentGateway, type AgentListener, AgentUnreachable } from '../../agents/gateway/gateway.ts';
import { jobOf, setRun, storeRun } from '../../metrics/testing/stored-run.ts';
import { isContentUsed, isPartUsed } from '../../store/assets/files.ts';
import { createFolderBlobs } from '../../store/blobs/folder.ts';
import { createHashPool } from '../../store/blobs/hash-pool.ts';
import { dumpPart, dumpsOf } from '../../store/runs/run-dumps.ts';
import { runEventsOf } from '../../store/runs/run-events.ts';
import { removeRuns } from '../../store/runs/run-removal.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { type CaptureStore, createCaptureStore } from './capture-store.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-dumps-'));
const hashes = createHashPool();
const blobs = createFolderBlobs({ folder: join(dataDir, 'files'), hashes });
const settings = { dumps: { maxBytesPerRun: 4_000_000 }, retention: { dumpsDays: 30 } };
let store: Store;
let captures: CaptureStore;

/** An agent that holds one capture and serves it while it is online. */
const agent = {
  content: Buffer.alloc(0),
  isOnline: true,
  /** Number of chunks it serves before it disconnects. */
  pieces: Number.POSITIVE_INFINITY,
  offsets: [] as number[],
  sent: [] as ToAgent[],
};
const listeners = new Set<AgentListener>();
const gateway: AgentGateway = {
  isHere: () => true,
  isOnline: () => agent.isOnline,
  roundTripMs: () => 1,
  send: (_, message) => agent.sent.push(message) > 0,
  ask: async (_, question) => {
    if (question.kind !== 'readDump') throw new Error('unexpected question');
    if (agent.pieces-- <= 0) throw new AgentUnreachable('gone');
    agent.offsets.push(question.offset);
    return { base64: agent.content.subarray(question.offset, question.offset + question.length).toString('base64') };
  },
  subscribe: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
  hashes.start();
  captures = createCaptureStore({
    ...{ store, blobs, gateway, log: pino({ level: 'silent' }), retryMs: 20 },
    settings: { current: () => settings as never },
    isUsed: (sha256) => isContentUsed(store.read, sha256),
  });
});
beforeEach(() => {
  Object.assign(agent, { isOnline: true, pieces: Number.POSITIVE_INFINITY, offsets: [], sent: [] });
  agent.content = randomBytes(1_500_000);
});
afterAll(async () => {
  await captures.close();
  await hashes.close();
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const stateOf = (runId: number, more: Partial<DumpState> = {}): DumpState => ({
  ...{ runId, epoch: 0, name: '1-eth0', interface: 'eth0', state: 'closed', size: agent.content.length, packets: 7 },
  ...{ drops: 1, truncated: false, firstAt: 1000, lastAt: 2500.5, problem: '' },
  sha256: createHash('sha256').update(agent.content).digest('hex'),
  ...more,
});
const report = (...dumps: DumpState[]) => {
  for (const listener of listeners) listener.dumps?.(1, JSON.parse(JSON.stringify(dumps)));
};
const ended = async () => (await storeRun(store, { status: 7, agents: { 1: [jobOf()] } })).runId;
const statesOf = async (runId: number) => (await dumpsOf(store.read, runId)).map(({ state }) => state);
const soon = <T>(holds: () => T | Promise<T>) => vi.waitFor(holds, { timeout: 60_000 });
const becomes = (runId: number, ...states: string[]) => soon(async () => expect(await statesOf(runId)).toEqual(states));
/** Forgotten captures of these runs; those of an earlier test may still be on their way. */
const forgotten = (...runIds: number[]) =>
  agent.sent.filter((message) => message.type === 'forgetDump' && runIds.includes(message.runId)).length;

describe('dumps on their way to the controller', () => {
  it('are listed while they grow, fetched when they are closed, and forgotten by the agent then', async () => {
    const runId = await ended();
    report(stateOf(runId, { state: 'open', size: 100, sha256: '', packets: 2 }));
    await becomes(runId, 'open');
    report(stateOf(runId));
    await becomes(runId, 'ready');
    const [dump] = await dumpsOf(store.read, runId);
    expect(dump).toMatchObject({ agentID: 1, interface: 'eth0', packets: 7, drops: 1, size: 1_500_000 });
    expect(dump).toMatchObject({ firstAt: '1970-01-01T00:00:01.000Z', lastAt: '1970-01-01T00:00:02.500Z' });
    const content = await blobs.read(dump?.sha256 ?? '');
    expect(Buffer.concat(await content.toArray()).equals(agent.content)).toBe(true);
    await soon(() => expect(forgotten(runId)).toBe(1));
    report(stateOf(runId));
    await soon(() => expect(forgotten(runId)).toBe(2));
    expect(await statesOf(runId)).toEqual(['ready']);
  });

  it('go on from where the connection broke off', async () => {
    const runId = await ended();
    agent.pieces = 2;
    report(stateOf(runId));
    await soon(() => expect(agent.pieces).toBeLessThan(0));
    expect(await statesOf(runId)).toEqual(['closed']);
    const [{ id = 0 } = {}] = await dumpsOf(store.read, runId);
    expect(await isPartUsed(store.read, dumpPart(id))).toBe(true);
    agent.pieces = Number.POSITIVE_INFINITY;
    report(stateOf(runId));
    await becomes(runId, 'ready');
    expect(agent.offsets).toEqual([0, 524_288, 1_048_576]);
  });

  it('wait until their run is over', async () => {
    const { runId } = await storeRun(store, { status: 4, agents: { 1: [jobOf()] } });
    report(stateOf(runId));
    await becomes(runId, 'closed');
    expect(agent.offsets).toEqual([]);
    await setRun(store, runId, { status: 7 });
    await becomes(runId, 'ready');
  });

  it('are given up when what arrives is never what was announced', async () => {
    const runId = await ended();
    report(stateOf(runId, { sha256: 'ab'.repeat(32) }));
    await becomes(runId, 'lost');
    const [dump] = await dumpsOf(store.read, runId);
    expect(dump?.problem).toContain('not what the agent captured');
    expect(agent.offsets.filter((offset) => offset === 0)).toHaveLength(3);
    expect(await blobs.partSize(dumpPart(dump?.id ?? 0))).toBeUndefined();
  });

  it('are at most 64 of an agent in a run, and the run says how many more there were', async () => {
    const { runId } = await storeRun(store, { status: 4, agents: { 1: [jobOf()] } });
    const named = (count: number) =>
      Array.from({ length: count }, (_, i) => stateOf(runId, { name: `${i}-eth0`, state: 'open', sha256: '' }));
    report(...named(67));
    await soon(() => expect(forgotten(runId)).toBe(3));
    expect(await statesOf(runId)).toHaveLength(64);
    const [note] = await runEventsOf(store.read, runId, 'dumpsDropped');
    expect(note).toMatchObject({ severity: 'warning', source: 'controller', data: { dropped: 3 } });
    await setRun(store, runId, { status: 7 });
  });

  it('are refused when they are larger than a run may store, or of an unknown run', async () => {
    const runId = await ended();
    report(stateOf(runId, { size: 4_000_001 }));
    await becomes(runId, 'lost');
    await soon(() => expect(forgotten(runId)).toBe(1));
    report(stateOf(999_999), stateOf(runId, { epoch: 3 }));
    await soon(() => expect(forgotten(runId, 999_999)).toBe(3));
    expect(agent.offsets).toEqual([]);
  });
});

describe('dumps whose time is up', () => {
  it('go with their content when their run is deleted or has ended long ago, unless it is pinned', async () => {
    const long = { finishedAt: new Date(Date.now() - 31 * 86_400_000).toISOString() };
    const [deleted, old, pinned] = [await ended(), await ended(), await ended()];
    await setRun(store, old, long);
    await setRun(store, pinned, { ...long, pinned: true });
    const hashesOf: Record<number, string> = {};
    for (const runId of [deleted, old, pinned]) {
      agent.content = randomBytes(1000);
      report(stateOf(runId));
      await becomes(runId, 'ready');
      hashesOf[runId] = (await dumpsOf(store.read, runId))[0]?.sha256 ?? '';
    }
    await store.database.transaction((tx) => removeRuns(tx, [deleted]));
    await captures.sweep();
    expect(await Promise.all([deleted, old, pinned].map(statesOf))).toEqual([[], [], ['ready']]);
    const exists = await Promise.all([deleted, old, pinned].map((runId) => blobs.exists(hashesOf[runId] as string)));
    expect(exists).toEqual([false, false, true]);
  });
});
