import type { Readable } from 'node:stream';
import { type ConfigurationEntry, pcapReplayPlugin } from '@rushhour/contract';
import { recordedSession } from '../../assets/applications/captures/analyze-job.ts';
import { CaptureFailure, runCaptureTask } from '../../assets/applications/captures/run-capture-task.ts';
import { validEntriesOf } from '../core/checked-values.ts';
import type { PlanCapture, PlanFile } from '../core/plan-input.ts';
import { createRecent } from './recent.ts';

interface CaptureRequest {
  /** Of the entry. */
  readonly path: string;
  readonly file: PlanFile;
  readonly clientIp: string;
}

/** Reads the sessions of captures; the result is keyed by the path of the entry. */
export type CaptureSessions = (requests: readonly CaptureRequest[]) => Promise<ReadonlyMap<string, PlanCapture>>;

/** The captures whose sessions a definition replays. Entries and files that are not valid get their issues when planned. */
export const captureRequests = (
  configuration: readonly ConfigurationEntry[],
  files: ReadonlyMap<number, PlanFile>,
): CaptureRequest[] =>
  validEntriesOf(pcapReplayPlugin, configuration).flatMap(({ path, values }) => {
    const { mode, fileId, clientIp = '' } = values.pcapReplayParams;
    const file = mode === 'stateful' ? files.get(fileId) : undefined;
    return file?.isReady === true ? [{ path, file, clientIp }] : [];
  });

const maxKept = 32;

interface Blobs {
  read(sha256: string): Promise<Readable>;
}

const sessionsOf = async (blobs: Blobs, { file, clientIp }: CaptureRequest): Promise<PlanCapture> => {
  const job = { mode: 'stateful', clientIp, parameters: [], sessions: undefined, options: {} };
  try {
    const open = () => blobs.read(file.sha256);
    const { chosen, issues } = await runCaptureTask({ kind: 'analyze', job }, { open });
    const problem = issues.find(({ severity }) => severity === 'error');
    return problem === undefined ? { sessions: chosen.map(recordedSession) } : { problem };
  } catch (error) {
    if (!(error instanceof CaptureFailure)) throw error;
    return { problem: { code: error.code, message: error.message } };
  }
};

export const readCaptureSessions = (blobs: Blobs): CaptureSessions => {
  const recent = createRecent<PlanCapture>(maxKept);
  const find = (request: CaptureRequest): Promise<PlanCapture> =>
    recent(`${request.file.sha256} ${request.clientIp}`, () => sessionsOf(blobs, request));
  return async (requests) =>
    new Map(await Promise.all(requests.map(async (request) => [request.path, await find(request)] as const)));
};
