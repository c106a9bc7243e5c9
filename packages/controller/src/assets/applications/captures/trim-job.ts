import {
  analyzeCapture,
  CaptureAnalyzer,
  type CaptureFormat,
  type CaptureSource,
  type TrimOptions,
  trimCapture,
} from '@rushhour/pcap';
import type { Parameter } from '../parameter.ts';
import { type Orphan, remapParameters, type StepPrint } from './remap.ts';

export interface TrimJob {
  readonly clientIp: string;
  readonly parameters: readonly Parameter[];
  readonly options: TrimOptions;
}

export interface TrimOutcome {
  readonly format: CaptureFormat;
  /** As it is spelled in the new capture. */
  readonly clientIp: string;
  readonly sessionsRemap: readonly { from: number; to: number }[];
  readonly parameters: readonly Parameter[];
  readonly orphans: readonly Orphan[];
}

/** Writes the smaller capture and remaps every mapping by the hashes of the steps in both captures. */
export const trimApplication = async (
  open: () => CaptureSource,
  write: (chunk: Uint8Array) => Promise<void>,
  { clientIp, parameters, options }: TrimJob,
): Promise<TrimOutcome> => {
  const mapped = mappedSessions(parameters);
  const before = mapped.length === 0 ? new Map() : await printsOf(open(), mapped);
  const after = new CaptureAnalyzer(mapped.length === 0 ? {} : recording);
  const copy = async (chunk: Uint8Array) => {
    after.push(chunk);
    await write(chunk);
  };
  const result = await trimCapture(open, copy, { ...options, ...(clientIp && { clientIp }) });
  const analysis = after.finish();
  const moved = new Map(result.sessionsRemap.map(({ from, to }) => [from, to]));
  const remapped = remapParameters(parameters, (sessionIdx) => {
    const to = moved.get(sessionIdx);
    return { to, before: before.get(sessionIdx) ?? [], after: to === undefined ? [] : analysis.steps(to) };
  });
  return {
    format: result.format,
    clientIp: result.clientIp ?? clientIp,
    sessionsRemap: result.sessionsRemap,
    ...remapped,
  };
};

const recording = { steps: true, hashes: true } as const;

const mappedSessions = (parameters: readonly Parameter[]) => [
  ...new Set(
    parameters.flatMap(({ stepsMappings, source, extractSessionIdx }) => [
      ...stepsMappings.map(({ sessionIdx }) => sessionIdx),
      ...(source === 'extract' ? [extractSessionIdx] : []),
    ]),
  ),
];

const printsOf = async (source: CaptureSource, sessions: readonly number[]) => {
  const analysis = await analyzeCapture(source, { ...recording, sessions });
  const there = sessions.filter((index) => index < analysis.sessionCount);
  return new Map<number, readonly StepPrint[]>(there.map((index) => [index, analysis.steps(index)]));
};
