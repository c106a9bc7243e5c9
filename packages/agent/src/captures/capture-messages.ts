import type { Capture, DumpState } from '@rushhour/protocol';
import type { Endpoint } from '../net/packet/capture-filter.ts';

/** What a process that captures shall do. */
export interface CaptureOptions {
  readonly folder: string;
  readonly runId: number;
  readonly epoch: number;
  /** By the name of the dump. */
  readonly interfaces: readonly { readonly name: string; readonly interface: string }[];
  readonly capture: Capture;
  /** What is said with these is no traffic of the run. */
  readonly without: readonly Endpoint[];
}

export type ToCapture = { readonly type: 'begin'; readonly order: CaptureOptions } | { readonly type: 'end' };

export type FromCapture =
  | { readonly type: 'begun'; readonly problems: readonly string[] }
  | { readonly type: 'states'; readonly states: readonly DumpState[] };
