import type { AgentFacts, LogLine, Question } from '@rushhour/protocol';
import type { Dumps } from './captures/captures.ts';
import type { FileStore } from './files/file-store.ts';
import { probe } from './probe/probe.ts';
import { installPackage } from './upgrade/install.ts';
import type { Versions } from './upgrade/versions.ts';

export interface QuestionDeps {
  readonly files: FileStore;
  readonly dumps: Pick<Dumps, 'read'>;
  readonly versions: Versions;
  readonly cacheFolder: string;
  readonly allowedTargets: () => readonly string[];
  /** Looks at the machine anew. */
  readonly rescan: () => Promise<AgentFacts>;
  readonly readLogs: () => Promise<LogLine[]>;
  /** Ends everything left of earlier runs. */
  readonly reset: () => Promise<void>;
  /** Begins a restart; what was answered still leaves. */
  readonly restart: (reason: string) => void;
}

type Answers = { [Kind in Question['kind']]: (question: Extract<Question, { kind: Kind }>) => Promise<unknown> };

/** What the controller may ask outside a run. A question that cannot be answered throws. */
export const createAnswers = (deps: QuestionDeps): ((question: Question) => Promise<unknown>) => {
  const answers: Answers = {
    ping: async () => ({}),
    rescan: () => deps.rescan(),
    restart: async () => {
      deps.restart('the controller asks for a restart');
      return {};
    },
    upgrade: async ({ sha256, size, version }) => {
      const file = await deps.files.fetch({ sha256, size });
      await installPackage(file, version, deps.versions.folder);
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
    readDump: (question) => deps.dumps.read(question),
    reset: async () => {
      await deps.reset();
      return {};
    },
  };
  return (question) => (answers[question.kind] as (question: Question) => Promise<unknown>)(question);
};
