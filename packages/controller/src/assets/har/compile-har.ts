import type { HarAnswer, HarAnswers, HarEntry, HarOrigin, HarScript } from '@rushhour/protocol';
import { type Correlation, correlationOf, type HarIssue, patternProblem } from './har-correlation.ts';
import { framingHeaders } from './har-headers.ts';
import { type RecordedEntry, type Recording, readRecording } from './har-recording.ts';
import { type CompiledRequest, compileRequest, type Substitution } from './har-request.ts';
import { type HarParams, selectEntries } from './har-selection.ts';
import { answerOf, expectationOf, stepsOf, waitsOf } from './har-steps.ts';
import { HarError, type HarWarning } from './har-warnings.ts';

/** The facts of a recording that a plan needs. */
export interface HarSummary {
  readonly origins: readonly Pick<HarOrigin, 'host' | 'port' | 'isTls'>[];
  /** Some entries are to be played over HTTP/3. */
  readonly usesHttp3?: boolean;
  readonly entries: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
}

export interface CompiledHar {
  readonly script: HarScript;
  readonly answers: HarAnswers;
  readonly summary: HarSummary;
  readonly warnings: readonly HarWarning[];
  readonly issues: readonly HarIssue[];
}

/** Compiles a recording into the scripts of both sides. Throws `HarError` when there is nothing to play. */
export const compileHar = (text: string, params: HarParams): CompiledHar => {
  const recording = readRecording(text);
  const entries = chosenOf(recording, params);
  const issues: HarIssue[] = [];
  warnAboutAdded(params, issues);
  const correlation = correlationOf(params.correlate, entries, issues);
  const substitutionsOf = substituter(params, correlation);
  const requests = entries.map((entry, position) => compileRequest(entry, params, substitutionsOf(position)));
  const answers = entries.map((entry, position) => answerOf(entry, requests[position] as CompiledRequest, params));
  const pages = stepsOf(entries, recording.pages, params);
  const waits = waitsOf(entries, pages, { cookies: params.cookies, gives: correlation.gives });
  const origins = originsOf(entries, params);
  warnAboutClear(origins.inClear, issues);
  const ambiguous = repeated(answers);
  const playedOf = (entry: RecordedEntry, position: number): HarEntry => ({
    index: entry.index,
    origin: origins.of(entry),
    method: entry.method,
    ...(requests[position] as CompiledRequest).request,
    ...(entry.connection !== undefined && { connection: entry.connection }),
    after: waits.get(position) ?? [],
    takes: correlation.takes.get(position) ?? [],
    isAmbiguous: ambiguous.has(keyOf(answers[position] as HarAnswer)),
    expect: expectationOf(entry, params),
    recordedMs: Math.round(entry.tookMs * 1000) / 1000,
  });
  const script = { origins: origins.all, entries: entries.map(playedOf), pages, takenSlots: params.correlate.length };
  const summary = summaryOf(entries, requests, origins.all);
  return { script, answers: { answers }, summary, warnings: recording.warnings, issues };
};

const chosenOf = (recording: Recording, params: HarParams): RecordedEntry[] => {
  const problem = params.urlRegex === undefined ? undefined : patternProblem(params.urlRegex);
  if (problem !== undefined) throw new HarError('PATTERN_INVALID', `urlRegex: ${problem}`);
  const entries = selectEntries(recording, params);
  if (entries.length > 0) return entries;
  throw new HarError('HAR_EMPTY', `nothing is left to play of ${recording.entries.length} usable entries`);
};

const warnAboutAdded = ({ addHeaders }: HarParams, issues: HarIssue[]): void => {
  for (const [i, { name }] of addHeaders.entries()) {
    if (!framingHeaders.has(name.toLowerCase())) continue;
    const message = `${name} is made from address, body and connection and cannot be added`;
    issues.push({ severity: 'warning', path: ['addHeaders', i], code: 'HEADER_NOT_SENT', message });
  }
};

const warnAboutClear = (count: number, issues: HarIssue[]): void => {
  if (count === 0) return;
  const message = `HTTP/3 needs TLS: ${count} entries without it are played over HTTP/2`;
  issues.push({ severity: 'warning', path: ['httpVersion'], code: 'HAR_HTTP3', message });
};

/** The substitutions of an entry: values of earlier responses, and variables. */
const substituter = ({ variables, correlate }: HarParams, { substitutions }: Correlation) => {
  const everywhere = variables.map(
    ({ name }, i): Substitution => ({
      slot: correlate.length + i,
      part: 'any',
      match: `{{${name}}}`,
      onMissing: () => {},
    }),
  );
  return (position: number): Substitution[] => [...(substitutions.get(position) ?? []), ...everywhere];
};

const keyOf = ({ host, method, path, query, bodySha256 }: HarAnswer): string =>
  [method, host, path, query, bodySha256].join(' ');

const repeated = (answers: readonly HarAnswer[]): ReadonlySet<string> => {
  const seen = new Set<string>();
  return new Set(answers.map(keyOf).filter((key) => seen.size === seen.add(key).size));
};

const originsOf = (entries: readonly RecordedEntry[], { tls, httpVersion }: HarParams) => {
  const all: HarOrigin[] = [];
  const byKey = new Map<string, number>();
  const isTlsOf = ({ url }: RecordedEntry) => (tls === 'recorded' ? url.protocol === 'https:' : tls === 'force');
  const wantedOf = ({ version }: RecordedEntry) => (httpVersion === 'recorded' ? version : httpVersion);
  const of = (entry: RecordedEntry): number => {
    const { url } = entry;
    const wanted = wantedOf(entry);
    const isTls = isTlsOf(entry);
    const origin: HarOrigin = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      isTls,
      version: wanted === '3' && !isTls ? '2' : wanted,
      authority: url.host,
    };
    const key = JSON.stringify(origin);
    const index = byKey.get(key) ?? all.push(origin) - 1;
    byKey.set(key, index);
    return index;
  };
  for (const entry of entries) of(entry);
  const inClear = entries.filter((entry) => wantedOf(entry) === '3' && !isTlsOf(entry)).length;
  return { all, of, inClear };
};

const summaryOf = (
  entries: readonly RecordedEntry[],
  requests: readonly CompiledRequest[],
  origins: readonly HarOrigin[],
): HarSummary => ({
  origins: origins.map(({ host, port, isTls }) => ({ host, port, isTls })),
  usesHttp3: origins.some(({ version }) => version === '3'),
  entries: entries.length,
  requestBytes: requests.reduce((sum, { path, body }) => sum + path.length + (body?.length ?? 0) + 400, 0),
  answerBytes: entries.reduce((sum, { answer }) => sum + answer.size + 300, 0),
});
