import type { Readable } from 'node:stream';
import type { AnalyzeOptions } from '@rushhour/contract';
import { ApiError, invalid, unavailable } from '../../errors.ts';
import { dictionaryNames } from '../../store/assets/applications.ts';
import { BlobError } from '../../store/blobs/blob-error.ts';
import type { Executor } from '../../store/engine/database.ts';
import { ArchiveError } from '../archives/archive-error.ts';
import { recordedSession } from './captures/analyze-job.ts';
import { CaptureFailure, runCaptureTask } from './captures/run-capture-task.ts';
import { dictionariesOf, type FoundIssue, issuesOfParameters, type Parameter } from './parameter.ts';

/** Parameters that draw from a dictionary that is not there. */
export const dictionaryIssues = async (parameters: readonly Parameter[], read: Executor): Promise<FoundIssue[]> => {
  const used = dictionariesOf(parameters);
  if (used.length === 0) return [];
  const known = await dictionaryNames(
    read,
    used.map(({ dictionaryId }) => dictionaryId),
  );
  return used
    .filter(({ dictionaryId }) => !known.has(dictionaryId))
    .map(({ dictionaryId, index }) => ({
      path: `/parameters/${index}/defaultValue`,
      code: 'DICTIONARY_UNKNOWN',
      message: `there is no dictionary ${dictionaryId}`,
      severity: 'error',
    }));
};

const pathOf: Readonly<Record<string, string>> = {
  NOT_A_PCAP: '/pcapFileId',
  CORRUPT_CAPTURE: '/pcapFileId',
  CAPTURE_TOO_LARGE: '/options/sessionIdx',
  PAYLOAD_LIMIT: '/options/sessionIdx',
  BAD_ADDRESS: '/clientIp',
  BAD_PATTERN: '/options/find',
  PATTERN_TOO_SLOW: '/options/find',
  NO_SUCH_SESSION: '/keepSessions',
  BAD_RANGE: '/packets',
};

const explain = (error: unknown): unknown => {
  if (error instanceof CaptureFailure) {
    return invalid([{ path: pathOf[error.code] ?? '', code: error.code, message: error.message }], error.code);
  }
  if (error instanceof ArchiveError) {
    return invalid([{ path: '/file', code: error.code, message: error.message }], error.code);
  }
  if (error instanceof BlobError && error.code === 'TOO_LARGE') {
    return new ApiError('tooLarge', 'FILE_TOO_LARGE', error.message, { limitBytes: error.data['limit'] });
  }
  if (error instanceof BlobError && error.code === 'NO_SPACE') return unavailable('NO_SPACE', error.message);
  return error;
};

/** Runs work on captures, archives or storage and turns failures that the client can act on into API errors. */
export const explained = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw explain(error);
  }
};

/** The members of an application that depend on its capture. */
export interface Playable {
  readonly mode: string;
  readonly clientIp: string;
  readonly parameters: readonly Parameter[];
  /** The sessions to play; undefined takes all that can be. */
  readonly sessions: readonly { sessionIndex: number; name?: string }[] | undefined;
}

interface AnalysisContext {
  readonly read: Executor;
  readonly open: () => Promise<Readable>;
  readonly signal?: AbortSignal;
}

/** Checks the parameters, the dictionaries they refer to, and the capture together. */
export const analyzePlayable = async (draft: Playable, options: AnalyzeOptions, context: AnalysisContext) => {
  const { mode, clientIp, parameters, sessions } = draft;
  const issues = [...issuesOfParameters(parameters), ...(await dictionaryIssues(parameters, context.read))];
  const job = { mode, clientIp, parameters, sessions: sessions?.map(({ sessionIndex }) => sessionIndex), options };
  const outcome = await explained(() => runCaptureTask({ kind: 'analyze', job }, context));
  return { ...outcome, issues: [...issues, ...outcome.issues] };
};

/** Refuses an application that cannot be played; returns the facts of its capture to store. */
export const checkPlayable = async (draft: Playable, context: AnalysisContext) => {
  const { issues, chosen, baseBps, basePps, format } = await analyzePlayable(draft, {}, context);
  const errors = issues.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first)
    throw invalid(
      errors.map(({ path, code, message }) => ({ path, code, message })),
      first.code,
    );
  const names = new Map(draft.sessions?.map(({ sessionIndex, name }) => [sessionIndex, name]));
  const sessions = chosen.map((session) => ({
    ...recordedSession(session),
    name: names.get(session.sessionIndex) ?? session.name,
  }));
  return { sessions, format, measured: { baseBps, basePps } };
};
