import type { Readable } from 'node:stream';
import { type ConfigurationEntry, type FuzzingValues, fuzzingPlugin } from '@rushhour/contract';
import type { AnalyzeJob } from '../../assets/applications/captures/analyze-job.ts';
import { CaptureFailure, runCaptureTask } from '../../assets/applications/captures/run-capture-task.ts';
import { HarError } from '../../assets/har/har-warnings.ts';
import {
  type BaselineSession,
  maxSteps,
  type SpokenStep,
  sessionOfSteps,
  sessionsOfHar,
} from '../../security/fuzzing/recorded-session.ts';
import { validEntriesOf } from '../core/checked-values.ts';
import type { PlanApplication, PlanBaseline, PlanFile } from '../core/plan-input.ts';
import { createRecent } from './recent.ts';

interface BaselineRequest {
  /** Of the entry. */
  readonly path: string;
  readonly kind: 'har' | 'pcap' | 'application';
  readonly file: PlanFile;
  readonly protocol: FuzzingValues['fuzzingParams']['protocol'];
  /** Sessions that the targets name; all of them when empty. */
  readonly wanted: readonly number[];
  readonly application: PlanApplication | undefined;
}

/** Reads what fuzzing changes; the result is keyed by the path of the entry. */
export type FuzzBaselines = (requests: readonly BaselineRequest[]) => Promise<ReadonlyMap<string, PlanBaseline>>;

/** The records that a definition fuzzes. Entries and records that are not valid get their issues when planned. */
export const fuzzBaselineRequests = (
  configuration: readonly ConfigurationEntry[],
  files: ReadonlyMap<number, PlanFile>,
  applications: ReadonlyMap<number, PlanApplication>,
): BaselineRequest[] =>
  validEntriesOf(fuzzingPlugin, configuration).flatMap(({ path, values: { fuzzingParams } }) => {
    const { baseline, protocol, targets } = fuzzingParams;
    const { kind, id = 0 } = baseline;
    if (kind === 'request' || kind === 'signature') return [];
    const application = kind === 'application' ? applications.get(id) : undefined;
    const file = kind === 'application' ? application?.capture : files.get(id);
    const wanted = [...new Set(targets.flatMap(({ sessionIdx }) => sessionIdx ?? []))];
    return file?.isReady === true ? [{ path, kind, file, protocol, wanted, application }] : [];
  });

const maxSessions = 16;
const maxKept = 16;
/** Read at once, so that larger ones would block requests. */
const maxHarBytes = 8 * 1024 * 1024;
/** Of a step; what is longer is cut when a capture is rendered. */
const maxStepBytes = 65_536;

interface Blobs {
  read(sha256: string): Promise<Readable>;
}

const unreadable = (code: string, message: string): PlanBaseline => ({ problem: { code, message } });

const harBaseline = async (blobs: Blobs, { file }: BaselineRequest): Promise<PlanBaseline> => {
  if (file.size > maxHarBytes)
    return unreadable('HAR_TOO_LARGE', `has more than ${maxHarBytes} bytes, the most that can be fuzzed`);
  try {
    const parts: Buffer[] = await (await blobs.read(file.sha256)).toArray();
    return sessionsOfHar(Buffer.concat(parts).toString());
  } catch (error) {
    if (!(error instanceof HarError)) throw error;
    return unreadable(error.code, error.message);
  }
};

/** Of an application with the values its parameters have by default. */
const jobOf = ({ application }: BaselineRequest): AnalyzeJob => ({
  mode: 'stateful',
  clientIp: application?.clientIp ?? '',
  parameters: application?.parameters ?? [],
  sessions: application?.sessions.map(({ sessionIndex }) => sessionIndex),
  options: {},
});

const transportOf = (protocol: BaselineRequest['protocol']) =>
  protocol === 'udp' || protocol === 'dns' ? 'udp' : 'tcp';

const captureBaseline = async (blobs: Blobs, request: BaselineRequest): Promise<PlanBaseline> => {
  const { file, protocol, wanted } = request;
  const open = () => blobs.read(file.sha256);
  const job = jobOf(request);
  const analyze = (options: AnalyzeJob['options']) =>
    runCaptureTask({ kind: 'analyze', job: { ...job, options } }, { open });
  const transport = transportOf(protocol);
  const { chosen, issues } = await analyze({});
  const problem = issues.find(({ severity }) => severity === 'error');
  if (problem !== undefined) return { problem };
  const usable = chosen.filter((session) => session.protocol === transport);
  const named = wanted.length === 0 ? usable : usable.filter(({ sessionIndex }) => wanted.includes(sessionIndex));
  const leftOut = named.length > maxSessions ? [`${named.length - maxSessions} of ${named.length} sessions`] : [];
  const sessions: BaselineSession[] = [];
  for (const { sessionIndex } of named.slice(0, maxSessions)) {
    const { rendered } = await analyze({ render: { sessionIdx: sessionIndex, data: true } });
    const steps = rendered.map(
      ({ side, data = '' }): SpokenStep => ({ side: side as SpokenStep['side'], bytes: Buffer.from(data, 'base64') }),
    );
    const isHttp = protocol === 'http';
    const session = sessionOfSteps(steps, { index: sessionIndex, transport, isHttp });
    if (session === undefined) leftOut.push(`session ${sessionIndex}, which is not ${isHttp ? 'HTTP' : 'spoken'}`);
    else sessions.push(session);
    const asked = steps.filter(({ side }) => side === 'client').length;
    if (asked > maxSteps) leftOut.push(`messages ${maxSteps + 1} to ${asked} of session ${sessionIndex}`);
    if (rendered.some(({ length }) => length > maxStepBytes))
      leftOut.push(`what follows ${maxStepBytes} bytes of a message of session ${sessionIndex}`);
  }
  return { sessions, leftOut };
};

const baselineOf = async (blobs: Blobs, request: BaselineRequest): Promise<PlanBaseline> => {
  try {
    return await (request.kind === 'har' ? harBaseline(blobs, request) : captureBaseline(blobs, request));
  } catch (error) {
    if (!(error instanceof CaptureFailure)) throw error;
    return unreadable(error.code, error.message);
  }
};

export const readFuzzBaselines = (blobs: Blobs): FuzzBaselines => {
  const recent = createRecent<PlanBaseline>(maxKept);
  const find = (request: BaselineRequest): Promise<PlanBaseline> => {
    const { kind, file, protocol, wanted } = request;
    const key = JSON.stringify([kind, file.sha256, protocol, wanted, jobOf(request)]);
    return recent(key, () => baselineOf(blobs, request));
  };
  return async (requests) =>
    new Map(await Promise.all(requests.map(async (request) => [request.path, await find(request)] as const)));
};
