import { PcapError } from '../pcap-error.ts';
import type { CaptureReader } from '../read/capture-reader.ts';
import { linkTypeName } from '../read/link-type.ts';
import { isClientA } from './client-side.ts';
import { type PcapInfo, type PcapSession, type PcapStep, roundMs, type StepEncoding } from './pcap-info.ts';
import type { Session } from './session.ts';
import { type ReportOptions, sessionReport } from './session-report.ts';
import type { SessionTracker } from './session-tracker.ts';
import type { StepRecord, StepRecorder } from './step-recorder.ts';
import { warningsOf } from './warnings.ts';

const LAST_RFC3339_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export interface InfoSelection {
  /** Sessions to describe, by index; all when absent. */
  readonly sessions?: readonly number[];
  /** Describe the recorded steps too. */
  readonly steps?: boolean;
  /** Put payload into the steps: this part of each. */
  readonly data?: StepDataSelection;
}

export interface StepDataSelection {
  /** Only this step; all when absent. */
  readonly stepIdx?: number;
  readonly offset?: number;
  readonly length?: number;
  readonly encoding?: StepEncoding;
}

/** A completed analysis. Texts, hashes and copies are computed on demand. */
export class CaptureAnalysis {
  readonly sessionCount: number;
  readonly #reader: CaptureReader;
  readonly #tracker: SessionTracker;
  readonly #options: ReportOptions;

  constructor(reader: CaptureReader, tracker: SessionTracker, options: ReportOptions) {
    this.#reader = reader;
    this.#tracker = tracker;
    this.#options = options;
    this.sessionCount = tracker.sessions.length;
  }

  info(fileID: number, selection: InfoSelection = {}): PcapInfo {
    const { totals } = this.#tracker;
    const durationMs = totals.latestMs - totals.earliestMs;
    const wanted = selection.sessions ?? this.#tracker.sessions.keys();
    return {
      fileID,
      format: this.#reader.format ?? 'pcap',
      packets: totals.packets,
      wireBytes: totals.wireBytes,
      capturedBytes: totals.capturedBytes,
      firstPacketAt: totals.packets === 0 ? null : timestampOf(totals.firstSeconds, totals.firstNanoseconds),
      durationMs: roundMs(durationMs),
      snapLen: this.#reader.snapLen,
      cutFile: this.#reader.cutFile,
      linkTypes: [...totals.linkTypes].map(([id, packets]) => ({ id, name: linkTypeName(id), packets })),
      ip: { v4: totals.v4, v6: totals.v6, vlan: totals.vlan, fragments: totals.fragments, other: totals.notIp },
      avgBps: durationMs > 0 ? Math.round((totals.wireBytes * 8000) / durationMs) : 0,
      avgPps: durationMs > 0 ? roundMs((totals.packets * 1000) / durationMs) : 0,
      sessionCount: this.sessionCount,
      sessions: Array.from(wanted, (index) => this.#described(index, selection)),
      warnings: warningsOf({
        sessions: this.#tracker.sessions,
        flows: this.#tracker.flows,
        totals,
        cutFile: this.#reader.cutFile,
      }),
    };
  }

  session(index: number): PcapSession {
    const session = this.#session(index);
    return sessionReport(session, this.#tracker.flows.keyOf(index), this.#options);
  }

  /** Steps of a session that was selected for recording. */
  steps(sessionIdx: number, data?: StepDataSelection): PcapStep[] {
    const session = this.#session(sessionIdx);
    const recorder = this.#recorder(session);
    const isA = isClientA(session, this.#tracker.flows.keyOf(sessionIdx), this.#options);
    const offsets = { client: 0, server: 0 };
    let endMs = session.startMs;
    return recorder.steps.map((step, stepIdx) => {
      const side = step.isA === isA ? 'client' : 'server';
      const streamOffset = offsets[side];
      offsets[side] += step.length;
      const gapMs = Math.max(0, step.startMs - endMs);
      endMs = step.endMs;
      return {
        sessionIdx,
        stepIdx,
        side,
        length: step.length,
        streamOffset,
        relTimeMs: roundMs(step.startMs - session.startMs),
        gapMs: roundMs(gapMs),
        sha256: recorder.sha256Of(step),
        data: encodedData(recorder, step, stepIdx, data),
        encoding: data?.encoding ?? 'base64',
      };
    });
  }

  /** Payload of one step, or the part [from, to) of it. */
  stepBytes(sessionIdx: number, stepIdx: number, from = 0, to = Number.POSITIVE_INFINITY): Uint8Array {
    const recorder = this.#recorder(this.#session(sessionIdx));
    const step = recorder.steps[stepIdx];
    if (step === undefined) throw new PcapError('NO_SUCH_STEP', `Session ${sessionIdx} has no step ${stepIdx}.`);
    return recorder.bytesOf(step, Math.max(0, from), Math.min(to, step.length));
  }

  #described(index: number, selection: InfoSelection): PcapSession {
    const report = this.session(index);
    if (selection.steps === true) report.steps = this.steps(index, selection.data);
    return report;
  }

  #session(index: number): Session {
    const session = this.#tracker.sessions[index];
    if (session !== undefined) return session;
    throw new PcapError(
      'NO_SUCH_SESSION',
      `The capture has ${this.sessionCount} sessions, there is no session ${index}.`,
    );
  }

  #recorder(session: Session): StepRecorder {
    if (session.recorder !== null) return session.recorder;
    throw new PcapError('NOT_KEPT', `The steps of session ${session.index} were not recorded.`);
  }
}

function encodedData(
  recorder: StepRecorder,
  step: StepRecord,
  stepIdx: number,
  data: StepDataSelection | undefined,
): string {
  if (data === undefined || (data.stepIdx ?? stepIdx) !== stepIdx) return '';
  const from = Math.min(step.length, data.offset ?? 0);
  const bytes = recorder.bytesOf(step, from, Math.min(step.length, from + (data.length ?? step.length)));
  return Buffer.from(bytes.buffer).toString(data.encoding === 'text' ? 'latin1' : (data.encoding ?? 'base64'));
}

/** Clamped to 1970 … 9999, the years RFC 3339 can express. */
function timestampOf(seconds: number, nanoseconds: number): string {
  const milliseconds = seconds * 1000 + Math.floor(nanoseconds / 1e6);
  return new Date(Math.min(LAST_RFC3339_MS, Math.max(0, milliseconds))).toISOString();
}
