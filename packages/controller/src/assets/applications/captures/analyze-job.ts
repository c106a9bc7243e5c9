import type { Analysis, AnalyzeOptions, Suggestion } from '@rushhour/contract';
import {
  analyzeCapture,
  type CaptureFormat,
  type CaptureSource,
  issuesOfMappings,
  type PcapInfo,
  type PcapSession,
} from '@rushhour/pcap';
import type { FoundIssue, Parameter } from '../parameter.ts';
import { suggestParameters } from '../suggestions/suggest.ts';
import { allEncodings, createFinder } from '../values/find-values.ts';
import { Renderer } from '../values/render.ts';
import { chooseSessions } from './choose-sessions.ts';
import { lengthIssues } from './length-check.ts';
import type { RecordedStep } from './session-steps.ts';
import { SessionSteps } from './session-steps.ts';

const maxKeptBytes = 128 * 1_048_576;
const maxMatches = 10_000;
const maxShown = 1000;
const shownBytes = 65_536;

export interface AnalyzeJob {
  readonly clientIp: string;
  readonly mode: string;
  readonly parameters: readonly Parameter[];
  /** Indexes of the sessions the application plays; all that can be replayed when absent. */
  readonly sessions: readonly number[] | undefined;
  readonly options: AnalyzeOptions;
}

export interface AnalyzeOutcome extends Omit<Analysis, 'issues'> {
  readonly format: CaptureFormat;
  readonly chosen: readonly PcapSession[];
  readonly issues: FoundIssue[];
}

/** Reads the capture once and does everything requested. `onSearch` gets the number of bytes before patterns are searched. */
export const analyzeApplication = async (
  source: CaptureSource,
  job: AnalyzeJob,
  onSearch: (bytes: number) => void = () => {},
): Promise<AnalyzeOutcome> => {
  const { clientIp, mode, parameters, options } = job;
  const analysis = await analyzeCapture(source, {
    ...(clientIp && { clientIp, clientIpOverrides: true }),
    ...recordingOf(job),
    maxKeptBytes,
  });
  const info = analysis.info(0);
  const { chosen, issues } = chooseSessions(info.sessions, job);
  const steps = new SessionSteps(analysis, info, new Set(chosen.map(({ sessionIndex }) => sessionIndex)));
  issues.push(...issuesOfMappings(parameters, (index) => steps.outline(index)));
  if (issues.every(({ severity }) => severity !== 'error')) issues.push(...lengthIssues(parameters, mode, steps));
  const looked = isLooking(options) ? [...steps.all(options.sessionIdx)] : [];
  const startedAtMs = Date.parse(info.firstPacketAt ?? '1970-01-01T00:00:00Z');
  const matches = matchesOf(looked, options, issues, onSearch);
  const isValid = issues.every(({ severity }) => severity !== 'error');
  const context = { sessions: info.sessions, startedAtMs };
  const suggestions: Suggestion[] = options.suggest ? suggestParameters(looked, context) : [];
  const rendered = isValid ? renderedOf(job, { steps, info, startedAtMs }, issues) : [];
  return {
    sessions: shownOf(info, options.sessionIdx),
    chosen,
    format: info.format,
    suggestions,
    matches,
    issues,
    rendered,
    baseBps: Math.round(info.avgBps),
    basePps: Math.round(info.avgPps),
  };
};

const isLooking = ({ suggest, find = [] }: AnalyzeOptions) => suggest === true || find.length > 0;

/** Payload is kept only for the sessions that are examined. */
const recordingOf = ({ parameters, sessions, options }: AnalyzeJob) => {
  const touched = parameters.flatMap(({ stepsMappings, source, extractSessionIdx }) => [
    ...stepsMappings.map(({ sessionIdx }) => sessionIdx),
    ...(source === 'extract' ? [extractSessionIdx] : []),
  ]);
  if (options.render) touched.push(options.render.sessionIdx);
  const looked = options.sessionIdx ?? sessions;
  if (isLooking(options) && looked === undefined) return { keepPayload: true };
  if (isLooking(options)) touched.push(...(looked ?? []));
  return touched.length > 0 ? { keepPayload: true, sessions: touched } : {};
};

const matchesOf = (
  steps: readonly RecordedStep[],
  { find = [] }: AnalyzeOptions,
  issues: FoundIssue[],
  onSearch: (bytes: number) => void,
): Analysis['matches'] => {
  if (find.length > 0) onSearch(find.length * steps.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const matches: Analysis['matches'] = [];
  for (const [index, { pattern, type = 'text', encodings = allEncodings, sides }] of find.entries()) {
    const finder = createFinder({ pattern, type, encodings });
    for (const { sessionIdx, stepIdx, side, bytes } of steps) {
      if (sides && !sides.includes(side)) continue;
      const found = finder(bytes, maxMatches - matches.length);
      matches.push(...found.map((match) => ({ sessionIdx, stepIdx, side, ...match, find: index })));
    }
  }
  if (matches.length >= maxMatches) {
    const message = `only the first ${maxMatches} matches are reported`;
    issues.push({ path: '/options/find', code: 'TOO_MANY_MATCHES', message, severity: 'warning' });
  }
  return matches;
};

const renderedOf = (
  { mode, parameters, options }: AnalyzeJob,
  { steps, info, startedAtMs }: { steps: SessionSteps; info: PcapInfo; startedAtMs: number },
  issues: FoundIssue[],
): Analysis['rendered'] => {
  if (options.render === undefined) return [];
  const { sessionIdx, data } = options.render;
  const outline = steps.outline(sessionIdx);
  if (outline === undefined) {
    const message = `the application has no session ${sessionIdx}`;
    issues.push({ path: '/options/render/sessionIdx', code: 'SESSION_UNKNOWN', message, severity: 'error' });
    return [];
  }
  const renderer = new Renderer({
    mode,
    parameters,
    sessions: info.sessions,
    step: (session, step) => steps.one(session, step),
    values: options.values ?? {},
    startedAtMs,
  });
  const rendered = outline.map(({ stepIdx }) => {
    const { bytes, ...step } = renderer.step(sessionIdx, stepIdx);
    return { ...step, ...(data && { data: Buffer.from(bytes.subarray(0, shownBytes)).toString('base64') }) };
  });
  issues.push(...renderer.issues);
  return rendered;
};

const shownOf = ({ sessions }: PcapInfo, wanted: readonly number[] | undefined): Analysis['sessions'] => {
  const shown = wanted ? sessions.filter(({ sessionIndex }) => wanted.includes(sessionIndex)) : sessions;
  return shown.slice(0, maxShown).map(({ appProtocol, replayable, reasons, ...session }) => ({
    ...recordedSession(session),
    appProtocol,
    replayable,
    reasons,
  }));
};

/** The members that an application keeps of a session. */
export const recordedSession = (session: Omit<PcapSession, 'appProtocol' | 'replayable' | 'reasons'>) => ({
  name: session.name,
  protocol: session.protocol,
  srcIp: session.srcIp,
  dstIp: session.dstIp,
  srcPort: session.srcPort,
  dstPort: session.dstPort,
  bytesC2S: session.bytesC2S,
  bytesS2C: session.bytesS2C,
  exchangeCount: session.exchangeCount,
  sessionIndex: session.sessionIndex,
});
