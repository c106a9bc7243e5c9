import type { Readable } from 'node:stream';
import type { AnalyzeOptions } from '@rushhour/contract';
import { invalid } from '../../errors.ts';
import type { Executor } from '../../store/engine/database.ts';
import { explained } from './capture-refusals.ts';
import { recordedSession } from './captures/analyze-job.ts';
import { runCaptureTask } from './captures/run-capture-task.ts';
import { dictionaryIssues } from './dictionary-issues.ts';
import { issuesOfParameters, type Parameter } from './parameter.ts';

/** What of an application depends on its capture. */
export interface Playable {
  readonly mode: string;
  readonly clientIp: string;
  readonly parameters: readonly Parameter[];
  /** The sessions to play; undefined takes all that can be. */
  readonly sessions: readonly { sessionIndex: number; name?: string }[] | undefined;
}

interface Surroundings {
  readonly read: Executor;
  readonly open: () => Promise<Readable>;
  readonly signal?: AbortSignal;
}

/** Looks at everything at once: the parameters, the dictionaries they name, and the capture. */
export const analyzePlayable = async (draft: Playable, options: AnalyzeOptions, around: Surroundings) => {
  const { mode, clientIp, parameters, sessions } = draft;
  const issues = [...issuesOfParameters(parameters), ...(await dictionaryIssues(parameters, around.read))];
  const job = { mode, clientIp, parameters, sessions: sessions?.map(({ sessionIndex }) => sessionIndex), options };
  const outcome = await explained(() => runCaptureTask({ kind: 'analyze', job }, around));
  return { ...outcome, issues: [...issues, ...outcome.issues] };
};

/** Refuses an application that cannot be played; answers what is stored of its capture. */
export const checkPlayable = async (draft: Playable, around: Surroundings) => {
  const { issues, chosen, baseBps, basePps, format } = await analyzePlayable(draft, {}, around);
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
