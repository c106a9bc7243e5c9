import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { createKeyedQueue } from '../../../concurrency/keyed-queue.ts';
import {
  agentsWithFile,
  everyAgentId,
  type FileOnAgent,
  filesOwedTo,
  keepFileState,
} from '../../../store/agents/agent-files.ts';
import { filesWithAny } from '../../../store/assets/files.ts';
import type { Store } from '../../../store/store.ts';
import { AgentUnreachable } from '../gateway.ts';
import type { Registry } from '../registry.ts';
import type { WriteBatch } from '../write-batch.ts';

interface PushedFile {
  readonly sha256: string;
  readonly size: number;
}

interface Deps {
  store: Store;
  batch: WriteBatch;
  registry: Registry;
  log: Logger;
}

type State = 'pending' | 'syncing' | 'synced' | 'failed';

const baseTimeoutMs = 60_000;
/** The slowest transfer that is waited for. */
const minBytesPerMs = 100;

/** Files for one agent are brought one after the other. */
const createPushContext = (deps: Deps) => ({ ...deps, queue: createKeyedQueue<number>() });
type PushContext = ReturnType<typeof createPushContext>;

const note = (
  { batch }: PushContext,
  agentID: number,
  file: PushedFile,
  state: State,
  more: Partial<FileOnAgent> = {},
) =>
  batch.write((tx) =>
    keepFileState(tx, {
      agentID,
      sha256: file.sha256,
      state,
      bytes: 0,
      error: '',
      updatedAt: new Date().toISOString(),
      ...more,
    }),
  );

const bring = async (context: PushContext, agentID: number, file: PushedFile, verify: boolean) => {
  const { registry } = context;
  if (!registry.isOnline(agentID)) return;
  await note(context, agentID, file, 'syncing');
  const timeoutMs = baseTimeoutMs + file.size / minBytesPerMs;
  try {
    await registry.ask(agentID, { kind: 'fetchFile', sha256: file.sha256, size: file.size, verify }, timeoutMs);
    await note(context, agentID, file, 'synced', { bytes: file.size });
  } catch (error) {
    const isAway = error instanceof AgentUnreachable && !registry.isOnline(agentID);
    if (isAway) await note(context, agentID, file, 'pending');
    else await note(context, agentID, file, 'failed', { error: (error as Error).message });
  }
};

const enqueue = (context: PushContext, agentID: number, file: PushedFile, verify: boolean) =>
  void context.queue
    .run(agentID, () => bring(context, agentID, file, verify))
    .catch((error) => context.log.error({ err: error, agentID }, 'a file could not be pushed'));

const resume = async (context: PushContext, agentID: number) => {
  const { queue, store } = context;
  if (queue.isBusy(agentID)) return;
  const owed = (await filesOwedTo(store.read, agentID)).map(({ sha256 }) => sha256);
  if (owed.length === 0) return;
  const known = await filesWithAny(store.read, owed);
  const sizes = new Map(known.map(({ sha256, size }) => [sha256, size]));
  for (const sha256 of owed) {
    const size = sizes.get(sha256);
    if (size === undefined)
      await note(context, agentID, { sha256, size: 0 }, 'failed', { error: 'the file was deleted' });
    else enqueue(context, agentID, { sha256, size }, false);
  }
};

/**
 * Brings files to agents, one after the other for each agent. What an agent that is away has not got stays pending
 * and goes out when it comes back, also after a restart of the controller.
 */
export const createFilePush = (deps: Deps) => {
  const context = createPushContext(deps);
  const { registry, log, store } = context;
  registry.subscribe({
    connected: (agentID) =>
      void resume(context, agentID).catch((error) => log.error({ err: error, agentID }, 'pushing could not go on')),
  });

  return {
    known: async (agents: 'all' | readonly number[]) => {
      const every = await everyAgentId(store.read);
      return agents === 'all' ? every : every.filter((id) => agents.includes(id));
    },
    push: async (push: { files: readonly PushedFile[]; agents: readonly number[]; verify: boolean }) => {
      const pairs = push.agents.flatMap((agentID) => push.files.map((file) => ({ agentID, file })));
      await Promise.all(pairs.map(({ agentID, file }) => note(context, agentID, file, 'pending')));
      for (const { agentID, file } of pairs) enqueue(context, agentID, file, push.verify);
      const bytes = pairs.reduce((sum, { file }) => sum + file.size, 0);
      return { jobID: randomUUID(), pairs: pairs.length, bytes };
    },
    states: async ({ sha256 }: PushedFile, agentID: number | undefined) => {
      const rows = await agentsWithFile(store.read, sha256);
      return rows
        .filter(({ id }) => agentID === undefined || id === agentID)
        .map(({ id, name, state, bytes, error, fileUpdatedAt }) => ({
          agentID: id,
          agentName: name,
          state: (state ?? 'absent') as State | 'absent',
          bytes: bytes ?? 0,
          sha256,
          updatedAt: fileUpdatedAt,
          error: error ?? '',
        }));
    },
  };
};
