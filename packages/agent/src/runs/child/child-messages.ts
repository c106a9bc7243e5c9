import type { Job, LoadChange, PlaneCommand, RunReport, Summary } from '@rushhour/protocol';
import type { Outcome } from '../job/running-job.ts';

/** Why a job could not be prepared; `order` is the index of the job. */
export interface Problem {
  readonly order: number;
  readonly code: string;
  readonly message: string;
}

/** From the agent to the process of a run. Times are on this machine's clock. */
export type ToChild =
  | {
      readonly type: 'prepare';
      readonly orders: readonly Job[];
      /** Paths of the run's files by hash. */
      readonly files: ReadonlyMap<string, string>;
      /** The process ends its traffic if it hears nothing from the agent for this long. */
      readonly silenceMs: number;
      /** Packets of the run are captured on this machine. */
      readonly isCaptured: boolean;
      /** Keys are reported, so that these packets can be decrypted. */
      readonly writesKeys?: boolean;
      /** The jobs are only prepared; nothing may be sent. */
      readonly isDryRun?: boolean;
    }
  | { readonly type: 'start'; readonly at: number }
  | { readonly type: 'pause' | 'resume' | 'alive' }
  | { readonly type: 'changeLoad'; readonly order: number; readonly change: LoadChange }
  | { readonly type: 'command'; readonly order: number; readonly command: PlaneCommand }
  | { readonly type: 'stop'; readonly mode: 'graceful' | 'abort'; readonly orders: readonly number[] };

type Severity = Extract<RunReport, { type: 'event' }>['severity'];

/** From the process of a run to the agent. */
export type FromChild =
  | { readonly type: 'prepared' }
  | { readonly type: 'prepareFailed'; readonly problems: readonly Problem[] }
  | { readonly type: 'started'; readonly at: number }
  | { readonly type: 'summary'; readonly order: number; readonly summary: Summary }
  | {
      readonly type: 'event';
      readonly kind: string;
      readonly severity: Severity;
      readonly message: string;
      readonly order?: number;
    }
  | { readonly type: 'orderEnded'; readonly order: number; readonly outcome: Outcome };
