import type { AttackResult, ThresholdResult } from '@rushhour/contract';
import type { Attempt, AttemptRecord, ControlObservation } from '@rushhour/protocol';
import type { Executor } from '../../store/engine/database.ts';
import { type RunAttempts, runAttemptsOf, runRecordsOf } from '../../store/runs/run-attempts.ts';
import { dumpsOf } from '../../store/runs/run-dumps.ts';
import type { RunRecord } from '../../store/runs/runs.ts';
import {
  attackResultsOf,
  baselineOf,
  type StoredAttackResult,
  shownResult,
} from '../../store/security/attack-results.ts';
import { referenceOf, type Weakness, weaknessOf } from '../content/waf/weaknesses.ts';
import { findingsIn, type ShownFinding } from '../fuzzing/shown-findings.ts';
import { type AttackComparison, compareResults, derivedNames, isRecordingAll, modifiedIsIn } from './attack-values.ts';
import { type CampaignReport, campaignReport, type MalwareReport, malwareReport } from './campaign-report.ts';
import { curlOf } from './curl-command.ts';
import { type BlockPolicy, packetEvidence, requestText } from './evidence.ts';
import { type AttackCounts, type AttackRates, countsOf, isPlain, isStopped, rates } from './rates.ts';
import { readSignatureFacts, type SignatureFacts, signatureIdOf } from './signature-facts.ts';

/** A result with its details. */
export interface ShownAttempt extends AttackResult {
  readonly category: string;
  /** For attempts whose signature is still in the catalogue. */
  readonly signature?: SignatureFacts;
  /** Links to its packets, if they were captured. */
  readonly packets?: readonly string[];
  /** The payload before it was encoded; for payloads of our own and of dictionaries. */
  readonly payload?: string;
  /** What a payload exploits; of a signature its facts say it. */
  readonly weakness?: Weakness;
}

/** An attempt on which the device failed, with the request. */
export interface Exhibit extends ShownAttempt {
  readonly request: string;
  /** Start of a foreign answer. */
  readonly response: string;
  /** Sends it again by hand; empty for what curl cannot send. */
  readonly curl: string;
}

interface Row extends AttackCounts {
  readonly name: string;
}

/** The part of a report about a security test. */
export interface SecurityReport {
  /** From the labels of the run. */
  readonly device: string;
  /** Hashes of the sets of attempts; equal hashes mean equal attempts. */
  readonly fingerprints: readonly string[];
  readonly rates: AttackRates;
  /** Enough attempts were decided for a conclusion. */
  readonly isConclusive: boolean;
  readonly matrix: readonly (Row & { readonly severity: string })[];
  /** Payloads by category of the OWASP. */
  readonly owasp: readonly (Row & { readonly reference: string })[];
  readonly passed: readonly Exhibit[];
  readonly falsePositives: readonly Exhibit[];
  readonly mechanisms: readonly { readonly mechanism: string; readonly count: number }[];
  readonly evasion: readonly Row[];
  /** Payloads by module, encoder and position. */
  readonly forms: readonly (Row & { readonly encoder: string; readonly position: string })[];
  /** The first attack that got through. */
  readonly firstPassed: Pick<AttackResult, 'refName' | 'variant' | 'startedAt' | 'attemptID'> | null;
  /** How many there are of what is listed in part. */
  readonly totals: {
    readonly passed: number;
    readonly falsePositives: number;
    readonly withTexts: number;
    /** Cases of fuzzing that went as they should, where the task records failures only. */
    readonly unlisted: number;
  };
  readonly techniques: readonly Row[];
  /** For runs that transferred samples. */
  readonly malware: MalwareReport | null;
  /** For runs of campaigns. */
  readonly campaign: CampaignReport | null;
  readonly controls: readonly (ControlObservation & { readonly at: string })[];
  /** Findings of fuzzing, each once, with its reproducer. */
  readonly findings: readonly ShownFinding[];
  readonly baselineRunID: number | null;
  readonly comparison: AttackComparison | null;
  /** Thresholds on these results. */
  readonly gate: { readonly passed: boolean; readonly thresholds: readonly ThresholdResult[] };
  /** With request and answer unless there are too many. */
  readonly attempts: readonly (ShownAttempt & Partial<Exhibit>)[];
}

const minCoverage = 0.95;
const maxExhibits = 500;
const maxWithTexts = 2000;
const briefLetters = 500;
const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'];

type Catalogue = ReadonlyMap<number, SignatureFacts>;

const factsOf = (result: StoredAttackResult, catalogue: Catalogue): SignatureFacts | undefined =>
  catalogue.get(signatureIdOf(result) ?? 0);

/** Of payloads, by their module. */
const weaknessIn = (result: StoredAttackResult): Weakness | undefined =>
  result.kind === 'waf' && signatureIdOf(result) === undefined ? weaknessOf(result.category) : undefined;

const shown = (result: StoredAttackResult, catalogue: Catalogue): ShownAttempt => {
  const [signature, weakness] = [factsOf(result, catalogue), weaknessIn(result)];
  return {
    ...shownResult(result),
    category: result.category,
    ...(signature && { signature }),
    ...(weakness && { weakness }),
  };
};

/** Worst first: by severity, known exploitation, score, and probability of exploitation. */
const worstFirst =
  (catalogue: Catalogue) =>
  (a: StoredAttackResult, b: StoredAttackResult): number => {
    const [left, right] = [factsOf(a, catalogue), factsOf(b, catalogue)];
    return (
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      Number(right?.kev ?? false) - Number(left?.kev ?? false) ||
      (right?.cvssScore ?? -1) - (left?.cvssScore ?? -1) ||
      (right?.epssScore ?? -1) - (left?.epssScore ?? -1)
    );
  };

const grouped = (results: readonly StoredAttackResult[], nameOf: (result: StoredAttackResult) => readonly string[]) => {
  const groups = new Map<string, StoredAttackResult[]>();
  for (const result of results) {
    for (const name of nameOf(result)) {
      const group = groups.get(name);
      if (group) group.push(result);
      else groups.set(name, [result]);
    }
  }
  return [...groups].map(([name, all]) => ({ name, ...countsOf(all as unknown as AttackResult[]) }));
};

const matrixOf = (attacks: readonly StoredAttackResult[]): SecurityReport['matrix'] =>
  grouped(attacks, ({ category, severity }) => [`${category}\n${severity}`])
    .map(({ name, ...counts }) => {
      const [category = '', severity = ''] = name.split('\n');
      return { ...counts, name: category, severity };
    })
    .toSorted(
      (a, b) => a.name.localeCompare(b.name) || severities.indexOf(a.severity) - severities.indexOf(b.severity),
    );

const owaspIn = (attacks: readonly StoredAttackResult[]): SecurityReport['owasp'] =>
  grouped(attacks, (result) => weaknessIn(result)?.owasp ?? [])
    .map((row) => ({ ...row, reference: referenceOf(row.name) }))
    .toSorted((a, b) => a.name.localeCompare(b.name));

interface Texts {
  readonly request: string;
  readonly curl: string;
}

const payloadIn = (line: string): string | undefined => {
  const [, text] = /^\{"id":\d+,"kind":"[a-z]+","payload":("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
  return text === undefined ? undefined : (JSON.parse(text) as string);
};

/** Payloads of all attempts that have one, by the name of the attempt. */
const payloadsOf = (files: readonly RunAttempts[], runId: number) => {
  const payloads = new Map<string, string>();
  for (const { text, sha256 } of files) {
    for (const line of text.split('\n')) {
      const payload = payloadIn(line);
      const id = /^\{"id":(\d+)/.exec(line)?.[1];
      if (payload !== undefined) payloads.set(`${runId}-${sha256.slice(0, 8)}-${id}`, payload);
    }
  }
  return payloads;
};

/** Requests as text and as commands, by the name of the attempt. */
const requestsOf = (files: readonly RunAttempts[], runId: number, wanted: ReadonlySet<string>) => {
  const texts = new Map<string, Texts>();
  for (const { text, sha256 } of files) {
    for (const line of text.split('\n')) {
      const id = /^\{"id":(\d+)/.exec(line)?.[1];
      const name = `${runId}-${sha256.slice(0, 8)}-${id}`;
      if (!wanted.has(name)) continue;
      const attempt = JSON.parse(line) as Attempt;
      texts.set(name, { request: requestText(attempt), curl: curlOf(attempt) });
    }
  }
  return texts;
};

const exhibit = (result: StoredAttackResult, requests: ReadonlyMap<string, Texts>, catalogue: Catalogue): Exhibit => ({
  ...shown(result, catalogue),
  request: requests.get(result.attemptID)?.request ?? '',
  curl: requests.get(result.attemptID)?.curl ?? '',
  response: Buffer.from(result.excerpt, 'base64').toString('latin1'),
});

const timesOf = async (read: Executor, { id, t0 }: RunRecord) => {
  const records = (await runRecordsOf(read, id)).flatMap(({ records }) => records as AttemptRecord[]);
  const at = (elapsedMs: number) => new Date((t0 ?? 0) + elapsedMs).toISOString();
  return {
    controls: records.flatMap((record) => (record.side === 'control' ? [{ ...record, at: at(record.startedMs) }] : [])),
    findings: findingsIn(records, at),
  };
};

const gateOf = (thresholds: readonly ThresholdResult[]): SecurityReport['gate'] => {
  const own = thresholds.filter(({ metric }) => derivedNames.some((name) => metric.split('.')[1] === name));
  return { passed: own.every(({ outcome }) => outcome === 'passed'), thresholds: own };
};

const passedIn = (attacks: readonly StoredAttackResult[], catalogue: Catalogue) =>
  attacks
    .filter(({ outcome, expected }) => outcome === 'passed' && expected !== 'allow')
    .toSorted(worstFirst(catalogue));

const falsePositivesIn = (results: readonly StoredAttackResult[], modifiedIs: BlockPolicy['modifiedIs']) =>
  results.filter(({ kind, outcome }) => kind === 'benign' && isStopped({ outcome } as AttackResult, modifiedIs));

/** Shortened facts for the list of all attempts: long texts would multiply the size of reports. */
const briefly = (catalogue: Catalogue): Catalogue =>
  new Map(
    [...catalogue].map(([id, facts]) => [id, { ...facts, remediation: facts.remediation.slice(0, briefLetters) }]),
  );

const all = (results: readonly StoredAttackResult[]) => results as unknown as AttackResult[];

const formsIn = (attacks: readonly StoredAttackResult[]): SecurityReport['forms'] =>
  grouped(
    attacks.filter(({ kind }) => kind === 'waf'),
    ({ category, variant }) => [[category, ...variant.split('/').slice(0, 2)].join('\n')],
  ).map(({ name, ...counts }) => {
    const [category = '', encoder = '', position = ''] = name.split('\n');
    return { ...counts, name: category, encoder, position };
  });

/** Whether a result is one of a case with a finding, or is anything but a case that went as it should. */
const isTelling = (findings: readonly ShownFinding[]) => {
  const found = new Set(findings.flatMap(({ cases }) => cases));
  return ({ kind, outcome, expected, refName }: StoredAttackResult) =>
    kind !== 'fuzz' || outcome !== 'passed' || expected !== 'allow' || found.has(refName);
};

/** What agents noted besides attempts, and the attempts that the report lists. */
const notedIn = async (read: Executor, run: RunRecord, results: readonly StoredAttackResult[]) => {
  const times = await timesOf(read, run);
  const recorded = (await isRecordingAll(read, run.id)) ? results : results.filter(isTelling(times.findings));
  return { times, recorded, unlisted: results.length - recorded.length };
};

interface Listed {
  readonly passed: readonly StoredAttackResult[];
  readonly stopped: readonly StoredAttackResult[];
  readonly texts: number;
  readonly unlisted: number;
}

const overviewOf = (attacks: readonly StoredAttackResult[], { passed, stopped, texts, unlisted }: Listed) => {
  const [first] = passed.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  const { refName = '', variant = '', startedAt = '', attemptID = '' } = first ?? {};
  return {
    forms: formsIn(attacks),
    firstPassed: first === undefined ? null : { refName, variant, startedAt, attemptID },
    totals: { passed: passed.length, falsePositives: stopped.length, withTexts: texts, unlisted },
  };
};

const comparedWithBaseline = async (read: Executor, run: RunRecord, results: readonly StoredAttackResult[]) => {
  const baseline = await baselineOf(read, run);
  const earlier = baseline === undefined ? undefined : await attackResultsOf(read, baseline);
  return {
    baselineRunID: baseline ?? null,
    comparison: earlier === undefined ? null : compareResults(all(earlier), all(results)),
  };
};

/** Adds payloads and links to packets. */
const withDetails =
  (payloads: ReadonlyMap<string, string>, withDumps: ReturnType<typeof packetEvidence>) =>
  <T extends ShownAttempt>(attempt: T): T => {
    const payload = payloads.get(attempt.attemptID);
    return withDumps(payload === undefined ? attempt : { ...attempt, payload });
  };

const mechanismsIn = (results: readonly StoredAttackResult[]): SecurityReport['mechanisms'] =>
  grouped(results, ({ mechanism }) => (mechanism === null ? [] : [mechanism])).map(({ name, attempts }) => ({
    mechanism: name,
    count: attempts,
  }));

/** Undefined if the run had no attacks or has not ended. */
export const readSecurityReport = async (
  read: Executor,
  run: RunRecord,
  thresholds: readonly ThresholdResult[],
): Promise<SecurityReport | undefined> => {
  const results = await attackResultsOf(read, run.id);
  if (results.length === 0) return undefined;
  const attacks = results.filter(({ kind }) => kind !== 'benign');
  const ids = attacks.flatMap((result) => signatureIdOf(result) ?? []);
  const catalogue = await readSignatureFacts(read, ids);
  const brief = briefly(catalogue);
  const allPassed = passedIn(attacks, catalogue);
  const passed = allPassed.slice(0, maxExhibits);
  const modifiedIs = await modifiedIsIn(read, run.id);
  const allStopped = falsePositivesIn(results, modifiedIs);
  const stopped = allStopped.slice(0, maxExhibits);
  const files = await runAttemptsOf(read, run.id);
  const hasAllTexts = results.length <= maxWithTexts;
  const listed = hasAllTexts ? results : [...passed, ...stopped];
  const requests = requestsOf(files, run.id, new Set(listed.map(({ attemptID }) => attemptID)));
  const withPackets = withDetails(payloadsOf(files, run.id), packetEvidence(run, await dumpsOf(read, run.id)));
  const found = rates(all(results), modifiedIs);
  const { times, recorded, unlisted } = await notedIn(read, run, results);
  return {
    device: run.labels['device'] ?? '',
    fingerprints: files.map(({ sha256 }) => sha256),
    rates: found,
    isConclusive: (found.coverage.value ?? 0) >= minCoverage,
    matrix: matrixOf(attacks),
    owasp: owaspIn(attacks),
    passed: passed.map((result) => withPackets(exhibit(result, requests, catalogue))),
    falsePositives: stopped.map((result) => withPackets(exhibit(result, requests, catalogue))),
    mechanisms: mechanismsIn(results),
    evasion: grouped(attacks, ({ variant }) => [isPlain(variant) ? 'plain' : (variant.split('/')[0] ?? variant)]),
    ...overviewOf(attacks, { passed: allPassed, stopped: allStopped, texts: listed.length, unlisted }),
    techniques: grouped(attacks, ({ techniques }) => techniques),
    malware: malwareReport(results as unknown as ShownAttempt[]) ?? null,
    campaign: campaignReport(results as unknown as ShownAttempt[]) ?? null,
    ...times,
    ...(await comparedWithBaseline(read, run, results)),
    gate: gateOf(thresholds),
    attempts: recorded.map((result) =>
      withPackets(hasAllTexts ? exhibit(result, requests, brief) : shown(result, brief)),
    ),
  };
};
