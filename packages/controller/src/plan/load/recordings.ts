import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ConfigurationEntry, harReplayPlugin } from '@rushhour/contract';
import type { HarResult } from '../../assets/har/compile-recording.ts';
import { compileRecording } from '../../assets/har/compile-recording.ts';
import type { HarParams } from '../../assets/har/har-selection.ts';
import { findHarScript, keepHarScript } from '../../store/assets/har-scripts.ts';
import { BlobError } from '../../store/blobs/blob-error.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Store } from '../../store/store.ts';
import { validEntriesOf } from '../core/checked-values.ts';
import type { PlanFile, PlanRecording } from '../core/plan-input.ts';

interface RecordingRequest {
  /** Of the entry. */
  readonly path: string;
  readonly file: PlanFile;
  readonly params: HarParams;
}

/** Compiles HAR recordings; the result is keyed by the path of the entry. */
export type PlanRecordings = (requests: readonly RecordingRequest[]) => Promise<ReadonlyMap<string, PlanRecording>>;

export const maxHarBytes = 128 * 1024 * 1024;

/** The recordings a definition replays. Entries and files that are not valid get their issues when planned. */
export const recordingRequests = (
  configuration: readonly ConfigurationEntry[],
  files: ReadonlyMap<number, PlanFile>,
): RecordingRequest[] =>
  validEntriesOf(harReplayPlugin, configuration).flatMap(({ path, values: { harReplayParams: params } }) => {
    const file = files.get(params.fileId);
    return file?.isReady === true && file.size <= maxHarBytes ? [{ path, file, params }] : [];
  });

const maxKnown = 200;
const maxHeldBytes = 128 * 1024 * 1024;
const heldMs = 300_000;

type Contents = Pick<Blobs, 'read' | 'exists'>;

interface Deps {
  store: Store;
  blobs: Contents;
}

const createRecordingContext = (deps: Deps) => {
  const known = new Map<string, Promise<PlanRecording>>();
  /** Compiled scripts requested last: agents fetch them in chunks, one agent after the other. */
  const held = new Map<string, Uint8Array>();
  return { ...deps, held, known };
};
type RecordingContext = ReturnType<typeof createRecordingContext>;

/** Some files, such as sealed samples, have no plain content. */
const missingContent = (error: unknown): undefined => {
  if (error instanceof BlobError && error.code === 'NOT_FOUND') return undefined;
  throw error;
};

const compile = async ({ blobs }: RecordingContext, fileSha256: string, params: HarParams): Promise<HarResult> => {
  const content = await blobs.read(fileSha256).catch(missingContent);
  if (content === undefined)
    return { problem: { code: 'FILE_UNREADABLE', message: 'has no content that can be read' } };
  const recording = Buffer.concat(await content.toArray());
  return compileRecording({ recording: new Uint8Array(recording), params });
};

const hold = ({ held }: RecordingContext, sha256: string, bytes: Uint8Array) => {
  held.set(sha256, bytes);
  setTimeout(() => held.get(sha256) === bytes && held.delete(sha256), heldMs).unref();
  const total = () => [...held.values()].reduce((sum, { length }) => sum + length, 0);
  for (const oldest of held.keys()) {
    if (total() <= maxHeldBytes || held.size === 1) break;
    held.delete(oldest);
  }
};

const make = async (context: RecordingContext, fileSha256: string, params: HarParams): Promise<PlanRecording> => {
  const { store } = context;
  const result = await compile(context, fileSha256, params);
  if ('problem' in result) return result;
  const { client, server, ...facts } = result;
  const row = { fileSha256, params: JSON.stringify(params) };
  await store.database.transaction(async (tx) => {
    await keepHarScript(tx, { ...row, sha256: client.sha256, side: 'client' });
    await keepHarScript(tx, { ...row, sha256: server.sha256, side: 'server' });
  });
  for (const { sha256, bytes } of [server, client]) hold(context, sha256, bytes);
  return {
    ...facts,
    client: { sha256: client.sha256, size: client.bytes.length },
    server: { sha256: server.sha256, size: server.bytes.length },
  };
};

const recordingOf = (context: RecordingContext, fileSha256: string, params: HarParams): Promise<PlanRecording> => {
  const { known } = context;
  const key = createHash('sha256').update(fileSha256).update(JSON.stringify(params)).digest('hex');
  const found = known.get(key) ?? make(context, fileSha256, params);
  known.set(key, found);
  // A failure may come from a lack of time or memory: the next request compiles again.
  found.then((made) => 'problem' in made && known.delete(key)).catch(() => known.delete(key));
  if (known.size > maxKnown) known.delete(known.keys().next().value as string);
  return found;
};

const bytesOf = async (context: RecordingContext, sha256: string): Promise<Uint8Array | undefined> => {
  const { held, store } = context;
  const script = held.has(sha256) ? undefined : await findHarScript(store.read, sha256);
  if (script === undefined) return held.get(sha256);
  const result = await compile(context, script.fileSha256, JSON.parse(script.params) as HarParams);
  if ('problem' in result) return undefined;
  const { bytes } = script.side === 'client' ? result.client : result.server;
  hold(context, sha256, bytes);
  return bytes;
};

/**
 * Compiles recordings for agents on demand and does not store the result: the same recording and parameters always
 * give the same bytes.
 */
export const createRecordings = (deps: Deps) => {
  const context = createRecordingContext(deps);
  const { blobs } = context;

  const plan: PlanRecordings = async (requests) =>
    new Map(
      await Promise.all(
        requests.map(
          async ({ path, file, params }) => [path, await recordingOf(context, file.sha256, params)] as const,
        ),
      ),
    );

  return {
    plan,
    /** Adds the compiled scripts to the contents that agents can fetch. */
    beside: (others: Pick<Blobs, 'read'>): Pick<Blobs, 'read'> => ({
      read: async (sha256, range = {}) => {
        const isStored = await blobs.exists(sha256).catch(() => true);
        const bytes = isStored ? undefined : await bytesOf(context, sha256);
        if (bytes === undefined) return others.read(sha256, range);
        return Readable.from([Buffer.from(bytes.subarray(range.start ?? 0, range.end))]);
      },
    }),
  };
};

export type Recordings = ReturnType<typeof createRecordings>;
