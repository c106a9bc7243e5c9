import type { Analysis, AnalyzeOptions, Suggestion } from '@rushhour/contract';
import {
  analyzeCapture,
  type CaptureAnalysis,
  type CaptureFormat,
  type CaptureSource,
  formatOf,
  issuesOfLength,
  issuesOfMappings,
  type PcapInfo,
  type PcapSession,
  type PcapStep,
} from '@rushhour/pcap';
import type { FoundIssue, Parameter } from '../parameter.ts';
import { lengthsOf } from '../parameter-lengths.ts';
import type { RecordedStep } from '../recorded-step.ts';
import { suggestParameters } from '../suggestions/suggest.ts';
import { allEncodings, createFinder } from '../values/find-values.ts';
import { Renderer } from '../values/render.ts';
import { chooseSessions } from './choose-sessions.ts';

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

/** Reads the capture once and does everything that was asked for. `onSearch` hears, before patterns are tried, over how many bytes. */
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
  const steps = new Steps(analysis, info, new Set(chosen.map(({ sessionIndex }) => sessionIndex)));
  issues.push(...issuesOfMappings(parameters, (index) => steps.outline(index)));
  if (issues.every(({ severity }) => severity !== 'error')) issues.push(...lengthIssues(parameters, mode, steps));
  const looked = isLooking(options) ? [...steps.all(options.sessionIdx)] : [];
  const startedAtMs = Date.parse(info.firstPacketAt ?? '1970-01-01T00:00:00Z');
  const matches = matchesOf(looked, options, issues, onSearch);
  const isSound = issues.every(({ severity }) => severity !== 'error');
  const scene = { sessions: info.sessions, startedAtMs };
  const suggestions: Suggestion[] = options.suggest ? suggestParameters(looked, scene) : [];
  const rendered = isSound ? renderedOf(job, { steps, info, startedAtMs }, issues) : [];
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

/** Payload is kept only of the sessions that are looked into. */
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

/** The recorded steps, made when they are first asked for. */
class Steps {
  readonly #analysis: CaptureAnalysis;
  readonly #info: PcapInfo;
  readonly #chosen: ReadonlySet<number>;
  readonly #known = new Map<number, (PcapStep & { atMs: number })[]>();

  constructor(analysis: CaptureAnalysis, info: PcapInfo, chosen: ReadonlySet<number>) {
    this.#analysis = analysis;
    this.#info = info;
    this.#chosen = chosen;
  }

  outline(sessionIdx: number) {
    if (!this.#chosen.has(sessionIdx)) return undefined;
    const known = this.#known.get(sessionIdx);
    if (known) return known;
    const startMs = this.#info.sessions[sessionIdx]?.startMs ?? 0;
    const steps = this.#analysis.steps(sessionIdx).map((step) => ({ ...step, atMs: startMs + step.relTimeMs }));
    this.#known.set(sessionIdx, steps);
    return steps;
  }

  one(sessionIdx: number, stepIdx: number): RecordedStep {
    const step = this.outline(sessionIdx)?.[stepIdx];
    if (step === undefined) throw new RangeError(`there is no step ${stepIdx} in session ${sessionIdx}`);
    const { side, atMs } = step;
    return { sessionIdx, stepIdx, side, atMs, bytes: this.#analysis.stepBytes(sessionIdx, stepIdx) };
  }

  *all(wanted: readonly number[] | undefined): Generator<RecordedStep> {
    for (const sessionIdx of new Set(wanted ?? this.#chosen)) {
      for (const { stepIdx } of this.outline(sessionIdx) ?? []) yield this.one(sessionIdx, stepIdx);
    }
  }

  appProtocol(sessionIdx: number) {
    return this.#info.sessions[sessionIdx]?.appProtocol ?? 'unknown';
  }
}

const lengthIssues = (parameters: readonly Parameter[], mode: string, steps: Steps): FoundIssue[] => {
  const formats = new Map<string, ReturnType<typeof formatOf>>();
  const formatAt = (sessionIdx: number, stepIdx: number) => {
    const key = `${sessionIdx} ${stepIdx}`;
    let format = formats.get(key);
    if (format === undefined) {
      format = formatOf(steps.one(sessionIdx, stepIdx).bytes, { mode, appProtocol: steps.appProtocol(sessionIdx) });
      formats.set(key, format);
    }
    return format;
  };
  return parameters.flatMap((parameter, p) =>
    parameter.stepsMappings.flatMap((mapping, m) =>
      issuesOfLength({
        path: `/parameters/${p}/stepsMappings/${m}`,
        length: mapping.length,
        rule: formatAt(mapping.sessionIdx, mapping.stepIdx).ruleAt(mapping),
        type: parameter.type,
        values: lengthsOf(parameter),
      }),
    ),
  );
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
    const message = `only the first ${maxMatches} places are told`;
    issues.push({ path: '/options/find', code: 'TOO_MANY_MATCHES', message, severity: 'warning' });
  }
  return matches;
};

const renderedOf = (
  { mode, parameters, options }: AnalyzeJob,
  { steps, info, startedAtMs }: { steps: Steps; info: PcapInfo; startedAtMs: number },
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
