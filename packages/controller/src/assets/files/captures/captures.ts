import type { PcapInfo, PcapQuery } from '@rushhour/contract';
import { type PcapInfo as CaptureInfo, PcapError } from '@rushhour/pcap';
import type { Caller } from '../../../caller.ts';
import { conflict, invalid, tooMany } from '../../../errors.ts';
import { type CaptureFacts, findCapture, keepCapture, readSessions } from '../../../store/assets/captures.ts';
import { endAnalysis, type FileRow, isContentUsed } from '../../../store/assets/files.ts';
import { BlobError } from '../../../store/blobs/blob-error.ts';
import type { Blobs } from '../../../store/blobs/blobs.ts';
import type { Executor } from '../../../store/engine/database.ts';
import type { Store } from '../../../store/store.ts';
import { type Content, storedContent } from '../content.ts';
import { type CaptureSelection, parseSearch, type SelectedSessions } from './capture-selection.ts';
import { CaptureThread } from './capture-thread.ts';

const stepBytes = 1024;
const oneStepBytes = 65_536;

const assertSessions = (asked: readonly number[], sessionCount: number) => {
  const unknown = asked.filter((index) => index >= sessionCount);
  if (unknown.length === 0) return;
  const message = `the capture has ${sessionCount} sessions, from 0: there is no ${unknown.join(', ')}`;
  throw invalid([{ path: '/sessionIdx', in: 'query', code: 'NO_SUCH_SESSION', message }], 'NO_SUCH_SESSION');
};

const selectionOf = (query: PcapQuery): Omit<CaptureSelection, 'sessions'> => {
  const { page = 1, count = 20, stepIdx, search, offset = 0, encoding = 'base64' } = query;
  const length = query.length ?? (stepIdx === undefined ? stepBytes : oneStepBytes);
  return {
    page,
    count,
    offset,
    length,
    encoding,
    ...(stepIdx !== undefined && { stepIdx }),
    ...(search !== undefined && { search }),
  };
};

const wantsSteps = ({ steps, stepIdx, offset, length }: PcapQuery) =>
  steps === true || [stepIdx, offset, length].some((value) => value !== undefined);

/** Whether the answer tells what is in packets, not only about them. */
export const showsPayload = (query: PcapQuery) => query.search !== undefined || wantsSteps(query);

/** Facts of a capture and a page of its sessions; their steps are read from the content only when they are asked for. */
export const showCapture = async (
  file: FileRow,
  query: PcapQuery,
  { captures, read, viewer }: { captures: Captures; read: Executor; viewer: Viewer },
): Promise<PcapInfo> => {
  const { page = 1, count = 20, sessionIdx, search } = query;
  if (search !== undefined) parseSearch(search);
  const info = { ...(await captures.infoOf(file)), fileID: file.id };
  if (sessionIdx) assertSessions(sessionIdx, info.sessionCount);
  const selection = selectionOf(query);
  if (search !== undefined) {
    const found = await captures.look(file, { ...selection, ...(sessionIdx && { sessions: sessionIdx }) }, viewer);
    return { ...info, ...found };
  }
  const from = (page - 1) * count;
  const sessions = sessionIdx
    ? sessionIdx.slice(from, from + count)
    : Array.from({ length: Math.max(0, Math.min(count, info.sessionCount - from)) }, (_, at) => from + at);
  if (wantsSteps(query) && sessions.length > 0)
    return { ...info, ...(await captures.look(file, { ...selection, sessions }, viewer)) };
  return { ...info, sessions: await readSessions(read, file.sha256, sessions) };
};

/** Captures up to this size are analysed during the request; larger ones afterwards. */
export const promptBytes = 64 * 1024 * 1024;
const lookTimeoutMs = 20_000;
const maxLooks = 16;
const maxLooksOfUser = 2;
const origin = { userId: null, address: '', requestId: 'analysis', operation: 'files.analyse' };

interface Deps {
  store: Store;
  blobs: Blobs;
  onError(error: unknown): void;
}

type Viewer = Pick<Caller, 'userId' | 'signal'>;

interface StoredCapture {
  readonly sha256: string;
  readonly size: number;
}

/** The last file with the content may have been deleted meanwhile. */
const keepFacts = (store: Store, sha256: string, facts: CaptureFacts) =>
  store.change(origin, async (tx) => {
    if (await isContentUsed(tx, sha256)) await keepCapture(tx, sha256, facts);
    await endAnalysis(tx, sha256, { state: 'ready', problem: '' });
  });

/** Limits how many views run or wait at the same time, of all users and of each. */
const createViewLimit = () => {
  const running: number[] = [];
  return async <T>(userId: number, work: () => Promise<T>): Promise<T> => {
    const own = running.filter((one) => one === userId).length;
    if (running.length >= maxLooks) throw tooMany('TOO_MANY_LOOKS', 'too many requests look into captures', 2);
    if (own >= maxLooksOfUser)
      throw tooMany('TOO_MANY_LOOKS', `more than ${maxLooksOfUser} of your requests look into captures`, 2);
    running.push(userId);
    try {
      return await work();
    } finally {
      running.splice(running.indexOf(userId), 1);
    }
  };
};

const analyse = (thread: CaptureThread, content: Content) => thread.run<CaptureFacts>(content, null);

/** Analyses stored content and stores the facts. */
const readFacts = async ({ store, blobs }: Deps, thread: CaptureThread, capture: StoredCapture) => {
  const facts = await analyse(thread, storedContent(blobs, capture));
  await keepFacts(store, capture.sha256, facts);
  return facts;
};

/** Background analysis of captures: one thread for new contents, one for views. */
export const createCaptures = (deps: Deps) => {
  const { store, blobs, onError } = deps;
  const arrivals = new CaptureThread();
  const looks = new CaptureThread();
  const wanted = new Map<string, Promise<void>>();
  const limited = createViewLimit();
  let isClosed = false;

  const analyseStored = async (capture: StoredCapture) => {
    const { sha256 } = capture;
    try {
      await readFacts(deps, arrivals, capture);
    } catch (error) {
      if (isClosed || (error instanceof BlobError && error.code === 'NOT_FOUND')) return;
      if (!(error instanceof PcapError)) return onError(error);
      const problem = `${error.code}: ${error.message}`;
      await store.change(origin, (tx) => endAnalysis(tx, sha256, { state: 'failed', problem })).catch(onError);
    }
  };

  /** Queues stored content for analysis; queueing it again has no effect. */
  const want = (capture: StoredCapture): Promise<void> => {
    const { sha256 } = capture;
    const running = wanted.get(sha256) ?? analyseStored(capture).finally(() => wanted.delete(sha256));
    wanted.set(sha256, running);
    return running;
  };

  return {
    analyse: (content: Content) => analyse(arrivals, content),
    want,
    /** Facts of a stored capture without its sessions; refuses while they are not known yet. */
    infoOf: async (capture: StoredCapture): Promise<Omit<CaptureInfo, 'sessions'>> => {
      let info = await findCapture(store.read, capture.sha256);
      if (info === undefined && capture.size <= promptBytes) ({ info } = await readFacts(deps, arrivals, capture));
      if (info !== undefined) return JSON.parse(info);
      void want(capture);
      throw conflict('ANALYSING', 'the capture is being analysed: ask again in a moment');
    },
    look: (capture: StoredCapture, selection: CaptureSelection, { userId, signal }: Viewer) =>
      limited(userId, () => {
        const limits = { timeoutMs: lookTimeoutMs, signal };
        return looks.run<SelectedSessions>(storedContent(blobs, capture), selection, limits);
      }),
    close: async () => {
      isClosed = true;
      await Promise.all([arrivals.close(), looks.close(), ...wanted.values()]);
    },
  };
};

export type Captures = ReturnType<typeof createCaptures>;
