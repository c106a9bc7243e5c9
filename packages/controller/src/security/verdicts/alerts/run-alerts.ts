import type { Attempt, Exchange } from '@rushhour/protocol';
import { files } from '../../../store/assets/files.ts';
import type { Blobs } from '../../../store/blobs/blobs.ts';
import type { Executor } from '../../../store/engine/database.ts';
import { findSignatures } from '../../../store/security/cve.ts';
import type { JobRecords, JoinedResult } from '../join-records.ts';
import { signatureIdOf } from '../signature-facts.ts';
import { alertEnd } from './device-alert.ts';
import { type AlertedAttempt, type AlertMatch, type Detection, matchAlerts } from './match-alerts.ts';
import { type AlertFormat, type ReadAlerts, readAlerts } from './read-alerts.ts';

/** The part of the policy about alerts. */
interface AlertOptions {
  readonly enabled: boolean;
  readonly format: AlertFormat;
  readonly fileID?: number | undefined;
  readonly regex?: string | undefined;
  readonly windowMs: number;
  readonly matchOn: readonly AlertMatch[];
}

interface AlertSources {
  readonly read: Executor;
  readonly blobs: Pick<Blobs, 'read'>;
}

interface JudgedFile {
  readonly policy: Readonly<Record<string, unknown>>;
  readonly attempts: readonly Attempt[];
  /** One for each attempt. */
  readonly results: readonly JoinedResult[];
  readonly jobRecords: readonly JobRecords[];
}

const signaturesAtOnce = 200;
const tokenless: readonly Exchange['protocol'][] = ['raw', 'dns', 'icmp'];

/** Names of a signature in alerts: its CVE and the rules that detect it. */
const signatureNames = async (read: Executor, results: readonly JoinedResult[]) => {
  const ids = [...new Set(results.flatMap((result) => signatureIdOf(result) ?? []))];
  const names = new Map<number, readonly string[]>();
  for (let at = 0; at < ids.length; at += signaturesAtOnce) {
    for (const { id, cveIDs, expect } of await findSignatures(read, ids.slice(at, at + signaturesAtOnce))) {
      names.set(id, [...cveIDs, ...(expect.ruleIDs ?? [])]);
    }
  }
  return names;
};

const portOf = (target: string | undefined) => Number(/:(\d{1,5})$/.exec(target ?? '')?.[1] ?? 0);
const idOf = ({ attemptID }: JoinedResult) => Number(attemptID.slice(attemptID.lastIndexOf('-') + 1));

const namesOf = (result: JoinedResult, names: ReadonlyMap<number, readonly string[]>): readonly string[] => {
  const id = signatureIdOf(result);
  if (id !== undefined) return [result.refName, ...(names.get(id) ?? [])];
  return result.kind === 'malware' ? [result.refName] : [];
};

const attemptsOf = (
  { attempts, results, jobRecords }: JudgedFile,
  names: ReadonlyMap<number, readonly string[]>,
): AlertedAttempt[] => {
  const targets = new Map<number, string>();
  for (const { records } of jobRecords) {
    for (const record of records) if (record.side === 'client') targets.set(record.attempt, record.target);
  }
  return results.map((result, index) => {
    const { client, server, startedAt, durationMs, outcome } = result;
    const id = idOf(result);
    const startMs = Date.parse(startedAt);
    const ports = [portOf(targets.get(id)), server.port].filter((port) => port > 0);
    return {
      ...{ id, startMs, endMs: startMs + durationMs, ports },
      isTried: client.agentID > 0 && outcome !== 'skipped' && outcome !== 'error' && client.connect !== 'none',
      client: alertEnd(client.ip, client.port),
      hasToken: !tokenless.includes(attempts[index]?.exchange.protocol ?? 'raw'),
      names: namesOf(result, names),
    };
  });
};

/** Undefined while there is nothing to read: detection is then unknown, not zero. */
const alertsIn = async (
  { read, blobs }: AlertSources,
  { fileID, format, regex }: AlertOptions,
  span: { fromMs: number; toMs: number },
): Promise<(ReadAlerts & { readonly completedMs: number }) | undefined> => {
  const file = fileID === undefined ? undefined : await files.find(read, fileID);
  if (file === undefined || file.state !== 'ready' || file.category === 'malware') return undefined;
  // If the storage fails, detection is unknown; the other results are unaffected.
  const content = await blobs.read(file.sha256).catch(() => undefined);
  if (content === undefined) return undefined;
  const found = await readAlerts(content as AsyncIterable<Buffer>, { format, regex, ...span }).catch(() => undefined);
  return found && { ...found, completedMs: Date.parse(file.updatedAt) };
};

/** Events after the last line read are unknown; for a complete file the limit is the time of its completion. */
const coveredUntil = ({
  isCut,
  lastMs = Number.NEGATIVE_INFINITY,
  completedMs,
}: ReadAlerts & { completedMs: number }) => (isCut ? lastMs : Math.max(lastMs, completedMs));

/** Detection of each attempt by the device's alerts; undefined if alerts are not configured or missing. */
export const detectionsOf = async (
  sources: AlertSources,
  judged: JudgedFile,
): Promise<readonly Detection[] | undefined> => {
  const options = judged.policy['alerts'] as AlertOptions | undefined;
  if (options === undefined || !options.enabled || judged.results.length === 0) return undefined;
  const { windowMs, matchOn } = options;
  const names = matchOn.includes('signature') ? await signatureNames(sources.read, judged.results) : new Map();
  const attempts = attemptsOf(judged, names);
  const [fromMs, toMs] = attempts.reduce(
    ([from, to], { startMs, endMs }) => [Math.min(from, startMs), Math.max(to, endMs)] as const,
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as readonly [number, number],
  );
  const found = await alertsIn(sources, options, { fromMs: fromMs - windowMs, toMs: toMs + windowMs + 1 });
  if (found === undefined) return undefined;
  const runToken = String(judged.policy['runToken'] ?? '');
  return matchAlerts(attempts, found.alerts, { windowMs, matchOn, runToken, coveredUntilMs: coveredUntil(found) });
};
