import { entriesOf, type HarReplayValues, harReplayPlugin } from '@rushhour/contract';
import type { FileReference, HarReplayClientConfig, HarReplayServerConfig, HarReplayTarget } from '@rushhour/protocol';
import type { HarSummary } from '../../../assets/har/compile-har.ts';
import { isNameLike } from '../../../assets/har/har-selection.ts';
import { type ClientDraft, type ClientPart, maxConcurrent, type Traffic } from '../../core/load/traffic.ts';
import { endpointsOf } from '../../core/load/traffic-entry.ts';
import type { PlanRecording } from '../../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { clientTls, serverTls, type TlsParams } from '../../endpoints/tls-settings.ts';
import { maxHarBytes } from '../../load/recordings.ts';
import { dictionaryValues } from '../payloads.ts';

type Playable = Extract<PlanRecording, { client: unknown }>;

const plainTls: TlsParams = {
  versions: ['1.2', '1.3'],
  alpn: [],
  verify: false,
  resumption: 'none',
  closeNotify: true,
};
const noFile = { sha256: '0'.repeat(64), size: 0 };
const nothing: Playable = {
  client: noFile,
  server: noFile,
  summary: { origins: [], entries: 0, requestBytes: 0, answerBytes: 0 },
  warnings: [],
  issues: [],
};

/** A recording of a browser, both sides. */
const planHarReplay = (scope: PlanScope, values: HarReplayValues): Traffic => {
  const recording = recordingOf(scope, values) ?? nothing;
  reportRecording(scope, recording);
  const targetIndexes = targetIndexesIn(scope, values, recording.summary);
  const variables = values.harReplayParams.variables.map((variable, i) => valuesOf(scope, variable, i));
  const tls = values.tlsParams ?? plainTls;
  const http3 = playsHttp3(scope, values, recording.summary);
  return {
    engine: 'har-replay',
    transport: 'tcp',
    defaultPorts: '18090',
    rates: [values.sessionsPerSecond],
    totals: [values.harReplayParams.users],
    client: (part) => clientOf(scope, { values, recording, targetIndexes, variables, tls, http3, part }),
    server: () => ({ config: serverOf(scope, values, { recording, tls, http3 }) }),
  };
};

/** Whether entries of HTTP/3 are played as such. Otherwise they are played over HTTP/2, unless HTTP/3 is asked for. */
const playsHttp3 = (scope: PlanScope, values: HarReplayValues, { usesHttp3 = false }: HarSummary): boolean => {
  const { httpVersion, tls } = values.harReplayParams;
  const versions = values.tlsParams?.versions ?? [];
  const reason =
    versions.length > 0 && !versions.includes('1.3')
      ? 'HTTP/3 needs TLS 1.3'
      : httpVersion === '3' && tls === 'off'
        ? 'HTTP/3 needs TLS'
        : undefined;
  const pointer = pointerIn(scope, 'harReplayParams', 'httpVersion');
  if (reason === undefined) return usesHttp3;
  if (httpVersion === '3') scope.issues.error(pointer, 'NOT_SUPPORTED', reason);
  else if (usesHttp3) scope.issues.caveat(pointer, 'HAR_HTTP3', `${reason}: entries of HTTP/3 are played over HTTP/2`);
  return false;
};

/** Values of one row of a dictionary have the same place in all its columns, and so go together. */
const valuesOf = (
  scope: PlanScope,
  { dictionaryId, column }: HarReplayValues['harReplayParams']['variables'][number],
  index: number,
): readonly string[] => {
  const path = ['harReplayParams', 'variables', index] as const;
  const first = dictionaryValues(scope, dictionaryId, pointerIn(scope, ...path, 'dictionaryId'));
  if (first === undefined) return [''];
  const columns = scope.input.dictionaries.get(dictionaryId)?.columns ?? {};
  const name = column ?? Object.keys(columns)[0] ?? '';
  const found = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (found !== undefined || column === undefined) return found ?? first;
  const message = `there is no column "${column}"; there are ${Object.keys(columns).join(', ')}`;
  return scope.issues.error(pointerIn(scope, ...path, 'column'), 'COLUMN_UNKNOWN', message) ?? first;
};

const recordingOf = (scope: PlanScope, { harReplayParams }: HarReplayValues): Playable | undefined => {
  const { input, issues, entry } = scope;
  const { fileId } = harReplayParams;
  const refuse = (code: string, message: string): undefined =>
    issues.error(pointerIn(scope, 'harReplayParams', 'fileId'), code, message);
  const file = input.files.get(fileId);
  if (file === undefined) return refuse('FILE_MISSING', `there is no file ${fileId}`);
  if (!file.isReady) return refuse('FILE_MISSING', `file "${file.name}" is not complete`);
  if (file.size > maxHarBytes) return refuse('FILE_TOO_LARGE', `a recording has at most ${maxHarBytes} bytes`);
  const recording = input.recordings.get(entry.path);
  if (recording === undefined) return refuse('HAR_BROKEN', `file "${file.name}" was not read`);
  if ('client' in recording) return recording;
  return refuse(recording.problem.code, `file "${file.name}": ${recording.problem.message}`);
};

const reportRecording = (scope: PlanScope, { warnings, issues }: Playable): void => {
  for (const { code, message } of warnings) {
    scope.issues.caveat(pointerIn(scope, 'harReplayParams', 'fileId'), code, message);
  }
  for (const { severity, path, code, message } of issues) {
    const pointer = pointerIn(scope, 'harReplayParams', ...path);
    if (severity === 'error') scope.issues.error(pointer, code, message);
    else scope.issues.caveat(pointer, code, message);
  }
};

/** Where each origin leads: places of targets; none means all of them. */
const targetIndexesIn = (
  scope: PlanScope,
  { harReplayParams }: HarReplayValues,
  { origins }: HarSummary,
): number[][] => {
  const targets = endpointsOf(scope.entry, 'targets');
  const servers = targets.flatMap(({ agent }, index) => (agent === undefined ? [] : [index]));
  const rules = harReplayParams.hostMap.map(({ from, to }, i) => {
    const index = /^\d{1,4}$/.test(to) ? Number(to) : -1;
    const indexes = to === 'server' ? servers : [index];
    if (indexes.length === 0 || indexes.some((one) => targets[one] === undefined)) {
      const message = `"${to}" is neither "server" with a target that is an agent, nor an index into targets`;
      scope.issues.error(pointerIn(scope, 'harReplayParams', 'hostMap', i, 'to'), 'TARGET_UNKNOWN', message);
    }
    return { from, indexes };
  });
  return origins.map(
    ({ host, port }) =>
      rules.find(({ from }) => isNameLike(host, from) || isNameLike(`${host}:${port}`, from))?.indexes ?? [],
  );
};

interface ClientWork {
  readonly values: HarReplayValues;
  readonly recording: Playable;
  readonly targetIndexes: number[][];
  readonly variables: readonly (readonly string[])[];
  readonly tls: TlsParams;
  readonly http3: boolean;
  readonly part: ClientPart;
}

const clientOf = (scope: PlanScope, work: ClientWork): ClientDraft => {
  const { values, recording, targetIndexes, variables, tls, http3, part } = work;
  const { harReplayParams: params, sessionsPerSecond } = values;
  const usersPerSecond = part.rate(sessionsPerSecond);
  const users = part.concurrentShare(params.users, maxConcurrent.tcp);
  const targets = part.targets.map((target, i): HarReplayTarget => ({ ...target, place: part.targetIndexes[i] ?? 0 }));
  const config: Omit<HarReplayClientConfig, 'script'> & { script: FileReference } = {
    role: 'client',
    targets,
    rotation: part.rotation,
    sources: part.sources,
    tls: clientTls(scope, tls),
    http3,
    script: { $file: recording.client.sha256, as: 'path' },
    places: targetIndexes,
    marks: isAnsweredByUs(scope),
    users,
    firstUser: part.position.index * params.users,
    ...(usersPerSecond !== undefined && { usersPerSecond }),
    iterations: params.loop ? 0 : params.iterations,
    connections: params.connections,
    maxPerHost: params.maxPerHost,
    cookies: params.cookies,
    cache: params.cache,
    variables: variables.map((all) => [...all]),
    timeoutMs: 30_000,
  };
  const connections = users * Math.min(params.maxPerHost * recording.summary.origins.length, recording.summary.entries);
  const estimate = { connections, opens: 0, txPps: 0, rxPps: 0, txBps: 0, rxBps: 0 };
  return { config, estimate, hasRate: usersPerSecond !== undefined };
};

/** A server agent may stand behind a device: then an entry that only answers says so. */
const isAnsweredByUs = ({ input, entry }: PlanScope): boolean =>
  endpointsOf(entry, 'targets').some(({ agent }) => agent !== undefined) ||
  entriesOf([...input.definition.configuration]).some(
    ({ pluginId, values }) => pluginId === entry.pluginId && values['isServer'] === true,
  );

const serverOf = (
  scope: PlanScope,
  { harReplayParams }: HarReplayValues,
  { recording, tls, http3 }: { recording: Playable; tls: TlsParams; http3: boolean },
): Omit<HarReplayServerConfig, 'listen' | 'answers'> & { answers: FileReference } => ({
  role: 'server',
  tls: serverTls(scope, tls),
  http3,
  names: [...new Set(recording.summary.origins.map(({ host }) => host))].slice(0, 1000),
  answers: { $file: recording.server.sha256, as: 'path' },
  mode: harReplayParams.server.mode,
});

export const harReplayPlanner = planner(harReplayPlugin, planHarReplay);
