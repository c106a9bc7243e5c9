import { parseAddress } from '../dissect/ip-address.ts';
import type { CaptureSource } from '../read/capture-reader.ts';
import { CaptureReader } from '../read/capture-reader.ts';
import { CaptureAnalysis } from './capture-analysis.ts';
import type { ReportOptions } from './session-report.ts';
import { SessionTracker } from './session-tracker.ts';
import { KeepBudget, type RecordOptions, StepRecorder, type StepWindow } from './step-recorder.ts';

export const DEFAULT_MAX_SESSIONS = 262_144;
export const DEFAULT_MAX_KEPT_BYTES = 64 * 1024 * 1024;

export interface AnalyzeOptions {
  /** Address of the client, used for sessions without a handshake. */
  readonly clientIp?: string;
  /** `clientIp` overrides the handshake. */
  readonly clientIpOverrides?: boolean;
  /** Count and replay missing payload as zeros. */
  readonly fillGaps?: boolean;
  /** Record steps: of all sessions, or of `sessions`. */
  readonly steps?: boolean;
  readonly sessions?: readonly number[];
  /** Keep the payload of recorded steps; `window` limits it to a part of each. */
  readonly keepPayload?: boolean;
  readonly window?: StepWindow;
  /** Hash recorded steps as they pass, also where their payload is not kept. */
  readonly hashes?: boolean;
  /** Memory limit for steps and payload; exceeding it is the error PAYLOAD_LIMIT. */
  readonly maxKeptBytes?: number;
  /** Sessions beyond this are only counted as packets, under the warning too-many-sessions. */
  readonly maxSessions?: number;
}

/** Takes a capture chunk by chunk and holds only what the options ask for. */
export class CaptureAnalyzer {
  readonly #reader: CaptureReader;
  readonly #tracker: SessionTracker;
  readonly #report: ReportOptions;

  constructor(options: AnalyzeOptions = {}) {
    const fillGaps = options.fillGaps ?? false;
    this.#report = {
      clientIp: options.clientIp ? parseAddress(options.clientIp) : undefined,
      clientIpOverrides: options.clientIpOverrides ?? false,
      fillGaps,
    };
    const tracker = new SessionTracker({
      maxSessions: options.maxSessions ?? DEFAULT_MAX_SESSIONS,
      fillGaps,
      recorderFor: recorders(options),
    });
    this.#tracker = tracker;
    this.#reader = new CaptureReader((packet) => {
      tracker.add(packet);
      return true;
    });
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  finish(): CaptureAnalysis {
    this.#reader.end();
    this.#tracker.finish();
    return new CaptureAnalysis(this.#reader, this.#tracker, this.#report);
  }
}

/** Reads a whole capture and describes it. */
export async function analyzeCapture(source: CaptureSource, options: AnalyzeOptions = {}): Promise<CaptureAnalysis> {
  const analyzer = new CaptureAnalyzer(options);
  if (source instanceof Uint8Array) analyzer.push(source);
  else for await (const chunk of source) analyzer.push(chunk);
  return analyzer.finish();
}

function recorders(options: AnalyzeOptions): (index: number) => StepRecorder | null {
  const isRecording = options.steps === true || options.keepPayload === true;
  if (!isRecording) return () => null;
  const budget = new KeepBudget(options.maxKeptBytes ?? DEFAULT_MAX_KEPT_BYTES);
  const selected = options.sessions === undefined ? undefined : new Set(options.sessions);
  const record: RecordOptions = {
    keepPayload: options.keepPayload ?? false,
    window: options.window,
    hashes: options.hashes ?? false,
    fillGaps: options.fillGaps ?? false,
  };
  return (index) => (selected === undefined || selected.has(index) ? new StepRecorder(record, budget) : null);
}
