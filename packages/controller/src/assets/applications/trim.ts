import { PassThrough } from 'node:stream';
import type { TrimBody } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { assertFresh } from '../../crud.ts';
import { conflict, invalid } from '../../errors.ts';
import { applications } from '../../store/assets/applications.ts';
import type { Staged } from '../../store/blobs/blobs.ts';
import type { Store } from '../../store/store.ts';
import { type ApplicationFiles, type CaptureFile, captureFacts, requireCapture } from './application-files.ts';
import { runCaptureTask } from './captures/run-capture-task.ts';
import type { TrimOutcome } from './captures/trim-job.ts';
import { checkPlayable, explained } from './check-application.ts';
import { complete, type FullApplication, findApplication, playedFileId } from './stored-application.ts';

interface Deps {
  readonly store: Store;
  readonly files: ApplicationFiles;
}

/** Makes a smaller capture of the one that is played, moves every mapping to it, and plays it from then on. */
export const trimStored = async ({ store, files }: Deps, id: number, body: TrimBody, caller: Caller) => {
  const before = await findApplication(store.read, id);
  const parent = await requireCapture(files, store.read, playedFileId(before));
  const { staged, outcome } = await explained(() => trimInto(files, parent, before, body, caller.signal));
  try {
    assertNoOrphans(outcome, body.dropMappings ?? false);
    const sessions = movedSessions(before, outcome);
    const { clientIp, parameters } = outcome;
    const around = { read: store.read, open: () => files.blobs.readStaged(staged), signal: caller.signal };
    const checked = await checkPlayable({ mode: before.mode, clientIp, parameters, sessions }, around);
    const facts = captureFacts({
      format: outcome.format,
      name: body.name ?? trimmedName(parent.name, outcome.format),
      source: 'trimmed',
      original_sha256: parent.sha256,
    });
    return await explained(() =>
      files.keep([staged], () =>
        store.change(caller, async (tx) => {
          assertFresh('application', await findApplication(tx, id), before.updatedAt);
          const trimmedPcapFileId = await files.insert(tx, staged, facts);
          const columns = { trimmedPcapFileId, pcapMd5: staged.md5, clientIp, ...checked.measured };
          await applications.update(tx, id, columns);
          await complete(tx, id, { parameters, sessions: checked.sessions });
          const { sessionsRemap, orphans } = outcome;
          const data = { trimmedPcapFileId, sha256: staged.sha256, sessionsRemap: [...sessionsRemap] };
          return { data: { ...data, orphans: [...orphans] } };
        }),
      ),
    );
  } finally {
    await files.blobs.discard(staged);
  }
};

/** Output of the thread goes directly into storage; when one of the two fails, both end. */
const trimInto = async (
  { blobs }: ApplicationFiles,
  parent: CaptureFile,
  { clientIp, parameters }: FullApplication,
  { name: _, dropMappings: __, ...options }: TrimBody,
  signal: AbortSignal,
): Promise<{ staged: Staged; outcome: TrimOutcome }> => {
  const output = new PassThrough({ highWaterMark: 1_048_576 });
  const staging = blobs.stage(output, { signal });
  staging.catch((error) => output.destroy(error));
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => output.write(bytes, (error) => (error ? reject(error) : resolve())));
  const job = {
    clientIp,
    parameters: parameters.map(({ applicationId: _owner, ...parameter }) => parameter),
    options,
  };
  try {
    const outcome = await runCaptureTask({ kind: 'trim', job }, { open: parent.open, write, signal });
    output.end();
    return { staged: await staging, outcome };
  } catch (error) {
    output.destroy(error as Error);
    await staging.catch(() => undefined);
    throw error;
  }
};

const assertNoOrphans = ({ orphans }: TrimOutcome, mayDrop: boolean) => {
  if (orphans.length === 0 || mayDrop) return;
  const message = `${orphans.length} mappings would be lost; dropMappings gives them up`;
  throw conflict('MAPPED_SESSION_REMOVED', message, { orphans });
};

/** The sessions of the application that are left, under their new indexes and old names. */
const movedSessions = ({ sessions }: FullApplication, { sessionsRemap }: TrimOutcome) => {
  const moved = new Map(sessionsRemap.map(({ from, to }) => [from, to]));
  const left = sessions.flatMap(({ sessionIndex, name }) => {
    const to = moved.get(sessionIndex);
    return to === undefined ? [] : [{ sessionIndex: to, name }];
  });
  if (left.length > 0) return left;
  const message = 'no session of the application is left';
  throw invalid([{ path: '/keepSessions', code: 'NOTHING_LEFT', message }], 'NOTHING_LEFT');
};

const trimmedName = (name: string, format: string) => {
  const stem = name.replace(/\.(pcap|pcapng|cap)$/i, '').slice(0, 230);
  return `${stem}-trimmed.${format === 'pcapng' ? 'pcapng' : 'pcap'}`;
};
