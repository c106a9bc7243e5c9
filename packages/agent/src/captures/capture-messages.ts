import type { Capture, DumpState } from '@rushhour/protocol';
import type { Endpoint } from '../net/packet/capture-filter.ts';

/** The job of a capture process. */
export interface CaptureOptions {
  readonly folder: string;
  readonly runId: number;
  readonly epoch: number;
  /** Interfaces and the names of their captures. */
  readonly interfaces: readonly { readonly name: string; readonly interface: string }[];
  readonly capture: Capture;
  /** Traffic with these endpoints is not part of the run. */
  readonly excluded: readonly Endpoint[];
}

export type ToCapture = { readonly type: 'begin'; readonly job: CaptureOptions } | { readonly type: 'end' };

export type FromCapture =
  | { readonly type: 'begun'; readonly problems: readonly string[] }
  | { readonly type: 'states'; readonly states: readonly DumpState[] };
