import type { AnalyzeJob, AnalyzeOutcome } from './analyze-job.ts';
import type { TrimJob, TrimOutcome } from './trim-job.ts';

/** What is done with a capture away from the requests of others. */
export type CaptureTask =
  | { readonly kind: 'analyze'; readonly job: AnalyzeJob }
  | { readonly kind: 'trim'; readonly job: TrimJob };

export type OutcomeOf<Task extends CaptureTask> = Task extends { kind: 'analyze' } ? AnalyzeOutcome : TrimOutcome;

/** What the thread asks for. `open` begins the capture anew; `pull` and `write` wait for an answer. */
export type FromThread =
  | { readonly kind: 'open' | 'pull' }
  | { readonly kind: 'searching'; readonly bytes: number }
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** The answer: the next bytes, null at the end of the capture or when there is nothing to say. */
export type ToThread = Uint8Array<ArrayBuffer> | null;
