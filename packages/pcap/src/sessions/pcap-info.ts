import type { CaptureFormat } from '../read/capture-format.ts';
import type { AppProtocol, Close, Handshake } from './session.ts';

export interface PcapInfo {
  fileID: number;
  format: CaptureFormat;
  packets: number;
  wireBytes: number;
  capturedBytes: number;
  /** Null when the capture is empty. */
  firstPacketAt: string | null;
  durationMs: number;
  /** 0 = no limit. */
  snapLen: number;
  cutFile: boolean;
  linkTypes: { id: number; name: string; packets: number }[];
  ip: { v4: number; v6: number; vlan: number; fragments: number; other: number };
  avgBps: number;
  avgPps: number;
  sessionCount: number;
  sessions: PcapSession[];
  warnings: PcapWarning[];
}

export interface PcapWarning {
  code: string;
  count: number;
  message: string;
}

export interface PcapSession {
  name: string;
  protocol: 'tcp' | 'udp';
  srcIp: string;
  dstIp: string;
  srcPort: number;
  dstPort: number;
  bytesC2S: number;
  bytesS2C: number;
  exchangeCount: number;
  sessionIndex: number;
  /** After the first packet of the capture. */
  startMs: number;
  durationMs: number;
  packets: number;
  handshake: Handshake;
  close: Close;
  retransmissions: number;
  gaps: number;
  missingBytes: number;
  appProtocol: AppProtocol;
  httpHost: string;
  sni: string;
  ja3: string;
  ja4: string;
  communityId: string;
  replayable: boolean;
  reasons: string[];
  steps: PcapStep[];
}

/** `text` is Latin-1: one character for each byte, so that nothing is lost. */
export type StepEncoding = 'base64' | 'hex' | 'text';

export interface PcapStep {
  sessionIdx: number;
  stepIdx: number;
  side: 'client' | 'server';
  length: number;
  /** Bytes the same side sent before this step. */
  streamOffset: number;
  /** After the first packet of the session. */
  relTimeMs: number;
  /** Between the end of the step before and the start of this one. */
  gapMs: number;
  /** Empty when the payload was neither kept nor hashed. */
  sha256: string;
  /** Empty when the payload was not asked for. */
  data: string;
  encoding: StepEncoding;
}

/** Microseconds are kept, the noise of floating point is not. */
export function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
