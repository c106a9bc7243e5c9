import type { AgentFacts, LogLine, Question } from '@rushhour/protocol';
import type { CaptureStore } from './captures/capture-store.ts';
import type { FileStore } from './files/file-store.ts';
import { probe } from './runs/supervisor/probe.ts';
import { installPackage } from './upgrade/install.ts';
import type { Versions } from './upgrade/versions.ts';

export interface QuestionDeps {
  readonly files: FileStore;
  readonly captures: Pick<CaptureStore, 'read'>;
  readonly versions: Versions;
  /** Keys that may sign upgrade packages. */
  readonly trustedKeys: () => readonly string[];
  readonly cacheFolder: string;
  readonly allowedTargets: () => readonly string[];
  /** Collects the facts about the machine again. */
  readonly rescan: () => Promise<AgentFacts>;
  readonly readLogs: () => Promise<LogLine[]>;
  /** Ends all runs and removes their results. */
  readonly reset: () => Promise<void>;
  /** Begins a restart after the answer is sent. */
  readonly restart: (reason: string) => void;
}

type Answers = { [Kind in Question['kind']]: (question: Extract<Question, { kind: Kind }>) => Promise<unknown> };

/** Answers the questions of the controller outside of a run. Throws if a question cannot be answered. */
export const createAnswers = (deps: QuestionDeps): ((question: Question) => Promise<unknown>) => {
  const answers: Answers = {
    ping: async () => ({}),
    rescan: () => deps.rescan(),
    restart: async () => {
      deps.restart('the controller requested a restart');
      return {};
    },
    upgrade: async ({ sha256, size, version }) => {
      const file = await deps.files.fetch({ sha256, size });
      const { versions, trustedKeys } = deps;
      await installPackage({ file, version, versionsFolder: versions.folder, trustedKeys: trustedKeys() });
      await deps.versions.choose(version);
      deps.restart(`upgrade to ${version}`);
      return {};
    },
    collectLogs: () => deps.readLogs(),
    probe: async (question) =>
      probe(question, {
        cacheFolder: deps.cacheFolder,
        allowedTargets: deps.allowedTargets(),
        files: await deps.files.present(),
      }),
    fetchFile: async ({ sha256, size, verify }) => {
      await deps.files.fetch({ sha256, size }, verify);
      return { bytes: size };
    },
    readDump: (question) => deps.captures.read(question),
    reset: async () => {
      await deps.reset();
      return {};
    },
  };
  return (question) => (answers[question.kind] as (question: Question) => Promise<unknown>)(question);
};
