import { createReadStream } from 'node:fs';
import { analyzeCapture, type CaptureAnalysis, StepTemplate } from '@rushhour/pcap';
import type { ApplicationPlay, PlayedParameter } from '@rushhour/protocol';
import { isVarying } from './values.ts';

const maxBytes = 256 * 1024 * 1024;

interface RecordedStep {
  readonly side: 'client' | 'server';
  /** Time since the first packet of the capture. */
  readonly atMs: number;
  /** Time since the end of the previous step. */
  readonly gapMs: number;
  readonly bytes: Uint8Array;
}

interface RecordedSession {
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

/** Sessions of a capture with their payload, in order of their start. */
const readRecording = async ({ capture, clientIp, sessions }: RecordingOptions): Promise<RecordedSession[]> => {
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

/** A range of a step and the index of the parameter whose value replaces it. */
interface Use {
  readonly parameter: number;
  readonly offset: number;
  readonly length: number;
  readonly type: string;
}

export interface ScriptStep extends RecordedStep {
  readonly uses: readonly Use[];
  /** Undefined when the step has no parameters. */
  readonly template: StepTemplate | undefined;
  /** The bytes depend on the user or the iteration. */
  readonly isVarying: boolean;
  /** A parameter extracts its value from this step. */
  readonly isExtracted: boolean;
}

export interface ScriptSession extends Omit<RecordedSession, 'steps'> {
  readonly steps: readonly ScriptStep[];
  readonly speed: ApplicationPlay['speed'];
  /** The bytes depend on the user or the iteration. */
  readonly isVarying: boolean;
}

/** One action of the client. */
export interface Action {
  readonly kind: 'open' | 'step' | 'end';
  readonly session: number;
  readonly step: number;
  readonly atMs: number;
  /** Recorded pause before it. */
  readonly gapMs: number;
}

/** A recorded application, prepared for repeated replay. */
export interface Script {
  readonly play: ApplicationPlay;
  /** Index among the applications of the job. */
  readonly index: number;
  readonly sessions: readonly ScriptSession[];
  /** Position in `sessions`, by index in the capture. */
  readonly positions: ReadonlyMap<number, number>;
  readonly timeline: readonly Action[];
  readonly isVarying: boolean;
}

export const loadScript = async (
  play: ApplicationPlay,
  index: number,
  note: (remark: string) => void,
): Promise<Script> => {
  const recorded = (await readRecording(play)).filter((session) => !startsWithServerDatagram(session, play, note));
  if (recorded.length === 0) throw new Error(`${play.name} has no session that can be replayed`);
  const speeds = new Map(play.sessions.map(({ sessionIndex, speed }) => [sessionIndex, speed]));
  const varying = varyingParameters(play.parameters);
  const sessions = recorded.map((session): ScriptSession => {
    const steps = session.steps.map((step, stepIdx) => {
      const made = scriptStep(play.parameters, session, step, stepIdx);
      return { ...made, isVarying: made.uses.some(({ parameter }) => varying.has(parameter)) };
    });
    const isVaryingSession = steps.some((step) => step.isVarying);
    return { ...session, steps, speed: speeds.get(session.index) ?? play.speed, isVarying: isVaryingSession };
  });
  return {
    play,
    index,
    sessions,
    positions: new Map(sessions.map((session, position) => [session.index, position])),
    timeline: timelineOf(sessions),
    isVarying: varying.size > 0,
  };
};

/** A server cannot send datagrams to a client that has not sent any, so both sides skip such sessions. */
const startsWithServerDatagram = (
  { protocol, steps, index, name }: RecordedSession,
  play: ApplicationPlay,
  note: (remark: string) => void,
): boolean => {
  const isSkipped = protocol === 'udp' && steps[0]?.side === 'server';
  if (isSkipped) note(`${play.name}: session ${index} (${name}) starts with a datagram from the server and is skipped`);
  return isSkipped;
};

const scriptStep = (
  parameters: readonly PlayedParameter[],
  { index, appProtocol }: RecordedSession,
  step: RecordedStep,
  stepIdx: number,
): Omit<ScriptStep, 'isVarying'> => {
  const isHere = (position: { sessionIdx: number; stepIdx: number }) =>
    position.sessionIdx === index && position.stepIdx === stepIdx;
  const uses = parameters.flatMap(({ stepsMappings, type }, parameter) =>
    stepsMappings.filter(isHere).map(({ offset, length }) => ({ parameter, offset, length, type })),
  );
  return {
    ...step,
    uses,
    template: uses.length === 0 ? undefined : new StepTemplate(step.bytes, uses, { mode: 'stateful', appProtocol }),
    isExtracted: parameters.some(({ extract }) => extract !== undefined && isHere(extract)),
  };
};

/** Parameters with extracted values vary when the step they are extracted from varies. */
const varyingParameters = (parameters: readonly PlayedParameter[]): ReadonlySet<number> => {
  const varying = new Set<number>();
  const touches = ({ extract }: PlayedParameter) =>
    extract !== undefined &&
    [...varying].some((number) =>
      parameters[number]?.stepsMappings.some(
        ({ sessionIdx, stepIdx }) => sessionIdx === extract.sessionIdx && stepIdx === extract.stepIdx,
      ),
    );
  for (let before = -1; before !== varying.size; ) {
    before = varying.size;
    parameters.forEach((parameter, number) => {
      if (isVarying(parameter) || touches(parameter)) varying.add(number);
    });
  }
  return varying;
};

/** All actions of all sessions in recorded order. */
const timelineOf = (sessions: readonly ScriptSession[]): Action[] => {
  const actions = sessions.flatMap(({ steps, startMs }, session) => [
    { kind: 'open' as const, session, step: 0, atMs: startMs, gapMs: 0 },
    ...steps.map(({ atMs, gapMs }, step) => ({ kind: 'step' as const, session, step, atMs, gapMs })),
    { kind: 'end' as const, session, step: steps.length, atMs: steps.at(-1)?.atMs ?? startMs, gapMs: 0 },
  ]);
  const ordered = actions.sort((a, b) => a.atMs - b.atMs || a.session - b.session || a.step - b.step);
  return ordered.map((action, position) => {
    const before = ordered[position - 1];
    if (before === undefined || before.session === action.session) return action;
    // Across sessions the gap is the time since the previous action.
    return { ...action, gapMs: action.kind === 'end' ? 0 : action.atMs - before.atMs };
  });
};
