import { type ConfigurationEntry, entriesOf, type PcapReplayValues } from '@rushhour/contract';
import type { PlanFile } from '../core/plan-input.ts';
import { PlanIssues } from '../core/plan-issues.ts';
import { checkValues } from '../core/plugin-values.ts';

/** A session of a capture that sockets can play. */
export interface PlanSession {
  readonly sessionIndex: number;
  readonly protocol: string;
  readonly dstPort: number;
  readonly bytesC2S: number;
  readonly bytesS2C: number;
}

/** What sockets can play of a capture; or why there is nothing to play. */
export type PlanCapture =
  | { readonly sessions: readonly PlanSession[] }
  | { readonly problem: { readonly code: string; readonly message: string } };

export interface CaptureWish {
  /** Of the entry. */
  readonly path: string;
  readonly file: PlanFile;
  readonly clientIp: string;
}

/** Looks into captures; the answer is by the path of the entry. */
export type PlanCaptures = (wishes: readonly CaptureWish[]) => Promise<ReadonlyMap<string, PlanCapture>>;

const replayPlugin = 8;

/** The captures whose sessions a definition plays. What is wrong with an entry or its file is told when it is planned. */
export const captureWishes = (
  configuration: readonly ConfigurationEntry[],
  files: ReadonlyMap<number, PlanFile>,
): CaptureWish[] =>
  entriesOf(configuration)
    .filter(({ pluginId }) => pluginId === replayPlugin)
    .flatMap((entry) => {
      const values = checkValues(entry, new PlanIssues()) as unknown as PcapReplayValues | undefined;
      const { mode, fileId, clientIp = '' } = values?.pcapReplayParams ?? {};
      const file = mode === 'stateful' && fileId !== undefined ? files.get(fileId) : undefined;
      return file?.isReady === true ? [{ path: entry.path, file, clientIp }] : [];
    });
