import { Readable } from 'node:stream';
import { isActive } from '@rushhour/contract';
import { type DumpState, dumpPieceBytes, isInstant } from '@rushhour/protocol';
import type { Logger } from 'pino';
import { type AgentGateway, AgentUnreachable } from '../../agents/gateway/gateway.ts';
import { clockNowIso } from '../../clock.ts';
import { createKeyedQueue } from '../../concurrency/keyed-queue.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { type Executor, StorageUnavailable } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import {
  doomDumps,
  doomedDumps,
  dumpPart,
  findDump,
  isDumpTooMany,
  putDump,
  type RunDumpRecord,
  removeDoomed,
  runsWithOldDumps,
  settleDump,
} from '../../store/runs/run-dumps.ts';
import { countDropped } from '../../store/runs/run-events.ts';
import { lockRun, runs } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';

interface CollectDeps {
  store: Store;
  blobs: Blobs;
  gateway: AgentGateway;
}

/** The bytes sent by an agent differ from those it announced. */
class CaptureDamaged extends Error {}

const pieceMs = 30_000;

const readPiece = async ({ gateway }: CollectDeps, dump: RunDumpRecord, offset: number): Promise<Buffer> => {
  const { runID: runId, epoch, name, size } = dump;
  const length = Math.min(dumpPieceBytes, size - offset);
  const answer = await gateway.ask(dump.agentID, { kind: 'readDump', runId, epoch, name, offset, length }, pieceMs);
  const { base64 } = (answer ?? {}) as { base64?: unknown };
  const bytes = Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64');
  if (bytes.length === 0 || bytes.length > length) throw new CaptureDamaged('the agent has not what it announced');
  return bytes;
};

/** Fetches a closed capture from its agent, resuming an earlier attempt. False when it is no longer wanted. */
const collectCapture = async (deps: CollectDeps, dump: RunDumpRecord): Promise<boolean> => {
  const { store, blobs } = deps;
  const part = dumpPart(dump.id);
  let offset = await blobs.partSize(part);
  if (offset === undefined || offset > dump.size) {
    await blobs.openPart(part);
    offset = 0;
  }
  while (offset < dump.size) {
    const piece = await readPiece(deps, dump, offset);
    offset = await blobs.append(part, offset, Readable.from([piece]), { maxBytes: dumpPieceBytes });
  }
  const staged = await blobs.finishPart(part);
  if (staged.sha256 !== dump.sha256) {
    await blobs.discard(staged);
    await blobs.removePart(part);
    throw new CaptureDamaged('what arrived is not what the agent captured');
  }
  let isWanted = false;
  await blobs.commit(staged, async () => {
    isWanted = await store.database.transaction((tx) => settleDump(tx, { ...dump, state: 'ready' }));
  });
  return isWanted;
};

interface Deps extends CollectDeps {
  settings: Pick<SettingsStore, 'current'>;
  log: Logger;
  /** True when another record uses this content. */
  isUsed(sha256: string): Promise<boolean>;
  retryMs?: number;
}

const dayMs = 86_400_000;
const maxDamagedFetches = 3;
const defaultRetryMs = 5000;
const timeOf = (ms: number | null) => (ms === null || !isInstant(ms) ? null : new Date(ms).toISOString());

const createCaptureContext = (deps: Deps) => {
  const { retryMs = defaultRetryMs } = deps;
  // Work per agent runs in order; an agent sends one capture at a time.
  const queue = createKeyedQueue<number>();
  const damaged = new Map<number, number>();
  const waiting = new Set<NodeJS.Timeout>();
  const state = { isClosed: false };
  return { ...deps, queue, state, waiting, retryMs, damaged };
};
type CaptureContext = ReturnType<typeof createCaptureContext>;

const post = ({ queue, log }: CaptureContext, agentId: number, work: () => Promise<unknown>) =>
  queue.run(agentId, work).catch((error) => log.error({ err: error, agentID: agentId }, 'could not store a capture'));

const forget = (
  { gateway }: CaptureContext,
  agentId: number,
  { runId, epoch, name }: Pick<DumpState, 'runId' | 'epoch' | 'name'>,
) => gateway.send(agentId, { type: 'forgetDump', runId, epoch, name });

const later = (context: CaptureContext, agentId: number, id: number) => {
  const { state, waiting, retryMs } = context;
  if (state.isClosed) return;
  const timer = setTimeout(() => {
    waiting.delete(timer);
    void post(context, agentId, () => fetch(context, agentId, id));
  }, retryMs).unref();
  waiting.add(timer);
};

const giveUp = async (context: CaptureContext, agentId: number, dump: RunDumpRecord, problem: string) => {
  const { store, blobs } = context;
  await store.database.transaction((tx) => settleDump(tx, { id: dump.id, state: 'lost', problem }));
  await blobs.removePart(dumpPart(dump.id));
  forget(context, agentId, { ...dump, runId: dump.runID });
};

const fail = async (context: CaptureContext, agentId: number, dump: RunDumpRecord, error: unknown) => {
  const { state, damaged, log } = context;
  // An agent that reconnects announces its captures again.
  if (error instanceof AgentUnreachable || state.isClosed) return;
  const count = (damaged.get(dump.id) ?? 0) + 1;
  damaged.set(dump.id, count);
  if (error instanceof CaptureDamaged && count >= maxDamagedFetches)
    return giveUp(context, agentId, dump, error.message);
  log.warn({ err: error, agentID: agentId, dump: dump.id }, 'could not fetch a capture');
  later(context, agentId, dump.id);
};

const fetch = async (context: CaptureContext, agentId: number, id: number) => {
  const { store, state, gateway, damaged } = context;
  const dump = await findDump(store.read, id);
  if (state.isClosed || dump?.state !== 'closed' || !gateway.isOnline(agentId)) return;
  const run = await runs.find(store.read, dump.runID);
  // The path to the controller may be the path under test: nothing large uses it before the run has ended.
  if (run !== undefined && isActive(run.status)) return later(context, agentId, id);
  try {
    await collectCapture(context, dump);
    damaged.delete(id);
    forget(context, agentId, { ...dump, runId: dump.runID });
  } catch (error) {
    await fail(context, agentId, dump, error);
  }
};

const isOurs = async ({ store }: CaptureContext, agentId: number, { runId, epoch }: DumpState) => {
  const run = await runs.find(store.read, runId);
  if (run?.epoch !== epoch) return false;
  return (await runAgentsOf(store.read, runId)).some(({ agentID }) => agentID === agentId);
};

const countTooMany = async (tx: Executor, runId: number) => {
  const writing = { engine: tx.engine, run: tx.run, now: clockNowIso(), afterCommit: () => undefined };
  await lockRun(writing, runId);
  const message = 'an agent announced more captures than it may; those that followed were not kept';
  await countDropped(writing, runId, { type: 'dumpsDropped', message });
};

const hear = async (context: CaptureContext, agentId: number, state: DumpState) => {
  const { store, settings } = context;
  if (!(await isOurs(context, agentId, state))) return void forget(context, agentId, state);
  const { runId, firstAt, lastAt, ...reported } = state;
  const times = { firstAt: timeOf(firstAt), lastAt: timeOf(lastAt) };
  const record = { ...reported, ...times, runID: runId, agentID: agentId };
  const dump = await store.database.transaction(async (tx) =>
    (await isDumpTooMany(tx, record)) ? void (await countTooMany(tx, runId)) : putDump(tx, record),
  );
  if (dump === undefined) return void forget(context, agentId, state);
  if (dump.state === 'ready' || dump.state === 'doomed') return void forget(context, agentId, state);
  if (dump.state !== 'closed') return;
  const { maxBytesPerRun } = settings.current().dumps;
  if (dump.size > maxBytesPerRun) return giveUp(context, agentId, dump, `it has more than ${maxBytesPerRun} bytes`);
  await fetch(context, agentId, dump.id);
};

/** Deletes captures that expired or whose run was deleted. */
const sweepCaptures =
  ({ settings, store, blobs, isUsed }: CaptureContext) =>
  async () => {
    const before = new Date(Date.now() - settings.current().retention.dumpsDays * dayMs).toISOString();
    const late = await runsWithOldDumps(store.read, before);
    if (late.length > 0) await store.database.transaction((tx) => doomDumps(tx, late));
    for (;;) {
      const found = await doomedDumps(store.read);
      for (const { id, sha256 } of found) {
        await store.database.transaction((tx) => removeDoomed(tx, id));
        await blobs.removePart(dumpPart(id));
        // A crash in between leaves content without a row; the next start deletes it.
        if (sha256 !== '') await blobs.remove(sha256, isUsed);
      }
      if (found.length === 0) return;
    }
  };

/** Captures on the controller: records them, fetches them once their run has ended, deletes them when they expire. */
export const createCaptureStore = (deps: Deps) => {
  const context = createCaptureContext(deps);
  const { gateway, retryMs, waiting, state, queue } = context;

  const unsubscribe = gateway.subscribe({
    dumps: (agentId, states) => {
      for (const state of states) {
        const work = () =>
          hear(context, agentId, state).catch((error) => {
            if (!(error instanceof StorageUnavailable) || state.state === 'open') throw error;
            // The agent does not repeat this before it reconnects.
            const timer = setTimeout(() => void post(context, agentId, work), retryMs).unref();
            waiting.add(timer);
          });
        void post(context, agentId, work);
      }
    },
  });

  return {
    sweep: sweepCaptures(context),
    close: async () => {
      state.isClosed = true;
      unsubscribe();
      for (const timer of waiting) clearTimeout(timer);
      await queue.idle();
    },
  };
};

export type CaptureStore = ReturnType<typeof createCaptureStore>;
