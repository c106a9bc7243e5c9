import { createReadStream } from 'node:fs';
import { analyzeCapture, type CaptureAnalysis } from '@rushhour/pcap';

const maxBytes = 256 * 1024 * 1024;

export interface RecordedStep {
  readonly side: 'client' | 'server';
  /** After the first packet of the capture. */
  readonly atMs: number;
  /** Since the end of the step before. */
  readonly gapMs: number;
  readonly bytes: Uint8Array;
}

export interface RecordedSession {
  readonly index: number;
  readonly name: string;
  readonly protocol: 'tcp' | 'udp';
  readonly appProtocol: string;
  /** Of the server. */
  readonly port: number;
  readonly startMs: number;
  readonly steps: readonly RecordedStep[];
}

interface RecordingOptions {
  readonly capture: string;
  readonly clientIp: string;
  readonly sessions: readonly { readonly sessionIndex: number }[];
}

/** Sessions of a capture with their payload, in the order in which they began. */
export const readRecording = async ({ capture, clientIp, sessions }: RecordingOptions): Promise<RecordedSession[]> => {
  const wanted = sessions.map(({ sessionIndex }) => sessionIndex).sort((a, b) => a - b);
  const analysis = await analyzeCapture(createReadStream(capture), {
    ...(clientIp && { clientIp, clientIpOverrides: true }),
    keepPayload: true,
    sessions: wanted,
    maxKeptBytes: maxBytes,
  });
  return wanted.map((index) => recordedSession(analysis, index));
};

const recordedSession = (analysis: CaptureAnalysis, index: number): RecordedSession => {
  const { name, protocol, appProtocol, dstPort, startMs, replayable, reasons } = analysis.session(index);
  if (!replayable) throw new Error(`session ${index} (${name}) cannot be replayed: ${reasons.join(', ')}`);
  const steps = analysis.steps(index).map(({ side, relTimeMs, gapMs, stepIdx }) => ({
    side,
    atMs: startMs + relTimeMs,
    gapMs,
    bytes: analysis.stepBytes(index, stepIdx),
  }));
  return { index, name, protocol, appProtocol, port: dstPort, startMs, steps };
};
