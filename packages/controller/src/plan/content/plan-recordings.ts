import { type ConfigurationEntry, entriesOf, type HarReplayValues } from '@rushhour/contract';
import type { HarSummary } from '../../assets/har/compile-har.ts';
import type { HarIssue } from '../../assets/har/har-correlation.ts';
import type { HarParams } from '../../assets/har/har-selection.ts';
import type { HarWarning } from '../../assets/har/har-warnings.ts';
import type { PlanFile } from '../core/plan-input.ts';
import { PlanIssues } from '../core/plan-issues.ts';
import { checkValues } from '../core/plugin-values.ts';

/** What agents play of a recording, as files; or why there is nothing to play. */
export type PlanRecording =
  | {
      readonly client: Pick<PlanFile, 'sha256' | 'size'>;
      readonly server: Pick<PlanFile, 'sha256' | 'size'>;
      readonly summary: HarSummary;
      readonly warnings: readonly HarWarning[];
      readonly issues: readonly HarIssue[];
    }
  | { readonly problem: { readonly code: string; readonly message: string } };

export interface RecordingWish {
  /** Of the entry. */
  readonly path: string;
  readonly file: PlanFile;
  readonly params: HarParams;
}

/** Compiles recordings; the answer is by the path of the entry. */
export type PlanRecordings = (wishes: readonly RecordingWish[]) => Promise<ReadonlyMap<string, PlanRecording>>;

const replayPlugin = 9;
export const mostHarBytes = 128 * 1024 * 1024;

/** The recordings a definition plays. What is wrong with an entry or its file is told when it is planned. */
export const recordingWishes = (
  configuration: readonly ConfigurationEntry[],
  files: ReadonlyMap<number, PlanFile>,
): RecordingWish[] =>
  entriesOf(configuration)
    .filter(({ pluginId }) => pluginId === replayPlugin)
    .flatMap((entry) => {
      const values = checkValues(entry, new PlanIssues()) as unknown as HarReplayValues | undefined;
      const file = values && files.get(values.harReplayParams.fileId);
      if (values === undefined || file === undefined || !file.isReady || file.size > mostHarBytes) return [];
      return [{ path: entry.path, file, params: values.harReplayParams }];
    });
