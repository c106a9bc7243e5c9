import {
  type CaptureAnalysis,
  CaptureAnalyzer,
  PcapError,
  type PcapSession,
  type StepDataSelection,
  type StepEncoding,
} from '@rushhour/pcap';
import { invalid } from '../../../errors.ts';

interface Match {
  readonly offset: number;
  readonly length: number;
}

/** Finds the matches of a search in the payload of one step, up to a limit. */
type Search = (bytes: Buffer) => Match[];

const maxMatchesPerStep = 100;

const refuse = (message: string) =>
  invalid([{ path: '/search', in: 'query', code: 'BAD_SEARCH', message }], 'BAD_SEARCH');

const findBytes =
  (wanted: Buffer): Search =>
  (bytes) => {
    const matches: Match[] = [];
    for (
      let at = bytes.indexOf(wanted);
      at !== -1 && matches.length < maxMatchesPerStep;
      at = bytes.indexOf(wanted, at + 1)
    ) {
      matches.push({ offset: at, length: wanted.length });
    }
    return matches;
  };

const findPattern = (source: string): Search => {
  const pattern = compile(source);
  // One character per byte, so offsets in the text are offsets in the payload.
  return (bytes) =>
    Iterator.from(bytes.toString('latin1').matchAll(pattern))
      .take(maxMatchesPerStep)
      .map(({ index, 0: { length } }) => ({ offset: index, length }))
      .toArray();
};

const compile = (source: string) => {
  try {
    return new RegExp(source, 'g');
  } catch (error) {
    throw refuse(`is no regular expression: ${(error as Error).message.slice(0, 200)}`);
  }
};

/** Reads a text, `hex:` and bytes, or `re:` and a regular expression. */
export const parseSearch = (text: string): Search => {
  if (text.startsWith('re:')) return findPattern(text.slice(3));
  if (!text.startsWith('hex:')) return findBytes(Buffer.from(text));
  const digits = text.slice(4).replace(/[\s:]/g, '');
  if (!/^([0-9a-f]{2})+$/i.test(digits)) throw refuse('needs pairs of hexadecimal digits behind hex:');
  return findBytes(Buffer.from(digits, 'hex'));
};

/** Which sessions and which part of their payload is shown. */
export interface CaptureSelection {
  /** Sessions by index; with `search` the ones that are searched, all when absent. */
  readonly sessions?: readonly number[];
  readonly stepIdx?: number;
  readonly offset: number;
  readonly length: number;
  readonly encoding: StepEncoding;
  readonly search?: string;
  /** Of the sessions that were found. */
  readonly page: number;
  readonly count: number;
}

interface FoundMatch extends Match {
  readonly sessionIdx: number;
  readonly stepIdx: number;
}

export interface SelectedSessions {
  readonly sessions: PcapSession[];
  readonly matches?: FoundMatch[];
}

const maxShownBytes = 16 * 1024 * 1024;
const maxSearchedBytes = 64 * 1024 * 1024;
const maxMatches = 1000;

/** Records just what the selection will show; a search needs the payload whole. */
export const analyzerFor = ({ sessions, stepIdx, offset, length, search }: CaptureSelection) => {
  const chosen = sessions === undefined ? {} : { sessions };
  if (search !== undefined) {
    return new CaptureAnalyzer({ steps: true, keepPayload: true, ...chosen, maxKeptBytes: maxSearchedBytes });
  }
  const window = { offset, length, ...(stepIdx !== undefined && { stepIdx }) };
  const payload = length > 0 ? { keepPayload: true, window } : {};
  return new CaptureAnalyzer({ steps: true, hashes: true, ...payload, ...chosen, maxKeptBytes: maxShownBytes });
};

const describe = (analysis: CaptureAnalysis, index: number, selection: CaptureSelection): PcapSession => {
  const { stepIdx, offset, length, encoding } = selection;
  const data: StepDataSelection = { offset, length, encoding, ...(stepIdx !== undefined && { stepIdx }) };
  const steps = analysis.steps(index, length > 0 ? data : undefined);
  if (stepIdx === undefined) return { ...analysis.session(index), steps };
  const step = steps[stepIdx];
  if (step === undefined) throw new PcapError('NO_SUCH_STEP', `Session ${index} has no step ${stepIdx}.`);
  return { ...analysis.session(index), steps: [step] };
};

const searchSession = (analysis: CaptureAnalysis, sessionIdx: number, search: Search): FoundMatch[] =>
  analysis.steps(sessionIdx).flatMap(({ stepIdx }) => {
    const bytes = Buffer.from(analysis.stepBytes(sessionIdx, stepIdx));
    return search(bytes).map((match) => ({ sessionIdx, stepIdx, ...match }));
  });

const searched = (analysis: CaptureAnalysis, text: string, selection: CaptureSelection): SelectedSessions => {
  const search = parseSearch(text);
  const { page, count, stepIdx } = selection;
  const found: FoundMatch[][] = [];
  for (const index of selection.sessions ?? Array(analysis.sessionCount).keys()) {
    const matches = searchSession(analysis, index, search).filter((m) => m.stepIdx === (stepIdx ?? m.stepIdx));
    if (matches.length > 0) found.push(matches);
  }
  const shown = found.slice((page - 1) * count, page * count);
  const sessions = shown.map((matches) => {
    const session = describe(analysis, matches[0]?.sessionIdx ?? 0, selection);
    const steps = new Set(matches.map((match) => match.stepIdx));
    return { ...session, steps: session.steps.filter((step) => steps.has(step.stepIdx)) };
  });
  return { sessions, matches: shown.flat().slice(0, maxMatches) };
};

export const selectSessions = (analysis: CaptureAnalysis, selection: CaptureSelection): SelectedSessions => {
  if (selection.search !== undefined) return searched(analysis, selection.search, selection);
  return { sessions: (selection.sessions ?? []).map((index) => describe(analysis, index, selection)) };
};
