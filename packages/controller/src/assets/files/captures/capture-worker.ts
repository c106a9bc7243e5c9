import { parentPort } from 'node:worker_threads';
import { CaptureAnalyzer, PcapError, type PcapInfo } from '@rushhour/pcap';
import { ApiError } from '../../../errors.ts';
import { type CaptureFacts, sessionsPerBlock } from '../../../store/assets/captures.ts';
import { analyzerFor, type CaptureSelection, selectSessions } from './capture-selection.ts';

/** Requests to the thread, in order; each gets one reply. */
export type CaptureRequest =
  | { kind: 'begin'; selection: CaptureSelection | null }
  | { kind: 'chunk'; bytes: Uint8Array }
  | { kind: 'end' };

export type CaptureAnswer = { result: unknown } | { code: string; message: string };

/** JSON is serialized here, so that the main thread never stringifies a large capture. */
const factsOf = ({ sessions, ...info }: PcapInfo): CaptureFacts => {
  const blocks: string[] = [];
  for (let at = 0; at < sessions.length; at += sessionsPerBlock) {
    blocks.push(JSON.stringify(sessions.slice(at, at + sessionsPerBlock)));
  }
  return { info: JSON.stringify(info), blocks };
};

let selection: CaptureSelection | null = null;
let analyzer = new CaptureAnalyzer();

const answer = (request: CaptureRequest): unknown => {
  if (request.kind === 'chunk') return analyzer.push(request.bytes);
  if (request.kind === 'begin') {
    selection = request.selection;
    analyzer = selection ? analyzerFor(selection) : new CaptureAnalyzer();
    return undefined;
  }
  const analysis = analyzer.finish();
  analyzer = new CaptureAnalyzer();
  return selection ? selectSessions(analysis, selection) : factsOf(analysis.info(0));
};

parentPort?.on('message', (request: CaptureRequest) => {
  let reply: CaptureAnswer;
  try {
    reply = { result: answer(request) };
  } catch (error) {
    const isExpected = error instanceof PcapError || error instanceof ApiError;
    reply = { code: isExpected ? error.code : '', message: (error as Error).message };
  }
  parentPort?.postMessage(reply);
});
