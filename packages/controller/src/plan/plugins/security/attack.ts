import { createHash } from 'node:crypto';
import type {
  AttackClientConfig,
  AttackListen,
  AttackTarget,
  Attempt,
  FileReference,
  SealedFile,
  TlsClientSettings,
} from '@rushhour/protocol';
import { isGrpcCall } from '../../../security/content/waf/grpc-call.ts';
import { patternProblem } from '../../../security/verdicts/alerts/syslog-pattern.ts';
import { answerPatternProblem } from '../../../security/verdicts/block-page.ts';
import type { Detection, PlannedAttempts } from '../../core/attempt-files.ts';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { endpointsOf } from '../../core/load/traffic-entry.ts';
import { estimateTcp } from '../../core/load/traffic-estimate.ts';
import type { SampleCopy } from '../../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { clientTls, serverTls, type TlsParams } from '../../endpoints/tls-settings.ts';

/** Something that listens on a port of the server agents, and what carries attempts there. */
export interface AttackService extends Pick<AttackListen, 'service' | 'protocol' | 'transport' | 'isTls'> {
  /** Where targets name no ports. */
  readonly port: number;
}

/** A sealed file of the store, opened by agents in memory only. */
export type PlannedSealedFile = Omit<SealedFile, 'path'> & { readonly path: FileReference };

export interface AttackPlan {
  /** Of the agent, such as `waf`. */
  readonly engine: string;
  /** In the order in which they are tried; ids are given here. `confirms` says how far back the confirmed one is. */
  readonly attempts: readonly Omit<Attempt, 'id'>[];
  readonly services: readonly AttackService[];
  readonly tls?: TlsParams | undefined;
  readonly files?: readonly PlannedSealedFile[];
  readonly marker?: boolean;
  /** Of HTTP. */
  readonly keepAlive?: boolean;
  readonly followCookies?: boolean;
  readonly ratePerSecond: number;
  readonly concurrency: number;
  readonly timeoutMs?: number;
  /** Host of proofs by HTTP, as attempts have it. */
  readonly host?: string | undefined;
  readonly basePath?: string;
  readonly calibration?: { readonly enabled: boolean; readonly ip?: string; readonly port?: number };
  readonly addressRotation?: 'none' | 'perAttempt' | 'onShun';
  readonly detection: Detection;
  /** The member of the values whose `detection` it is. */
  readonly detectionMember: string;
  /** Only of fuzzing. */
  readonly fuzz?: NonNullable<AttackClientConfig['fuzz']>;
}

export const maxAttempts = 200_000;
const maxBytes = 128 * 1024 * 1024;
const defaultTimeoutMs = 3000;
const exchangeBytes = { sentBytes: 800, receivedBytes: 600 };

const hashOf = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** Fewer tell nothing of the latency of a device at rest. */
const minBenign = 20;
const maxBaseline = 50;

/** Some harmless exchanges come before the first attack, so that their latency can be compared with that among attacks. */
const benignBaselineFirst = (attempts: AttackPlan['attempts']): AttackPlan['attempts'] => {
  const benign = attempts.filter(({ kind }) => kind === 'benign');
  const isOrdered = attempts.some(({ requires, kind, confirms }) =>
    kind === 'benign' ? confirms !== undefined : requires !== undefined,
  );
  if (isOrdered || benign.length < minBenign || benign.length === attempts.length) return attempts;
  const first = new Set(benign.slice(0, Math.min(maxBaseline, Math.floor(benign.length / 4))));
  return [...first, ...attempts.filter((attempt) => !first.has(attempt))];
};

/** Of more than a plan can hold nothing is written: the text alone would fill the memory. */
const fileOf = ({ attempts: given }: AttackPlan, policy: Detection): PlannedAttempts => {
  const attempts = benignBaselineFirst(given);
  const lines: string[] = [];
  let letters = 0;
  for (const [id, attempt] of attempts.length > maxAttempts ? [] : attempts.entries()) {
    const { confirms } = attempt;
    const line = `${JSON.stringify({ id, ...attempt, ...(confirms !== undefined && { confirms: id - confirms }) })}\n`;
    letters += line.length;
    if (letters > maxBytes) break;
    lines.push(line);
  }
  const text = letters > maxBytes ? '' : lines.join('');
  const size = letters > maxBytes ? letters : Buffer.byteLength(text);
  return { sha256: hashOf(text), size, text, count: attempts.length, policy };
};

const reportUnfit = (scope: PlanScope, { attempts, services }: AttackPlan, { size }: PlannedAttempts): void => {
  const { issues, entry } = scope;
  if (entry.values.isServer === true) {
    const message = 'the client says what the server answers: leave it out and name server agents in targets';
    issues.error(pointerIn(scope, 'isServer'), 'NOT_SUPPORTED', message);
  }
  if (attempts.length === 0) issues.error(pointerIn(scope), 'NO_ATTEMPTS', 'there is nothing to try');
  if (attempts.length > maxAttempts || size > maxBytes) {
    const message = `${attempts.length} attempts of ${size} bytes; the maximum is ${maxAttempts} of ${maxBytes} bytes`;
    issues.error(pointerIn(scope), 'TOO_MANY_ATTEMPTS', message);
  }
  endpointsOf(entry, 'targets').forEach((endpoint, index) => {
    const path = pointerIn(scope, 'targets', index);
    if (endpoint.agent === undefined) {
      const message = 'attacks go only where a server agent of ours proves that the path leads to it: name the agent';
      issues.error(`${path}/agent`, 'NO_SERVER_AGENT', message);
    }
    if (endpoint.ports !== undefined && services.length > 1) {
      const known = services.map(({ service, port }) => `${service} ${port}`).join(', ');
      issues.warning(`${path}/ports`, 'PORTS_FIXED', `each service has its port: ${known}`);
    }
  });
};

const reportPatterns = (scope: PlanScope, { detection, detectionMember }: AttackPlan): void => {
  for (const member of ['blockRegex', 'passRegex'] as const) {
    const problem = answerPatternProblem(detection[member] ?? '');
    const path = pointerIn(scope, detectionMember, 'detection', member);
    if (problem !== undefined) scope.issues.error(path, 'BAD_REGEX', problem);
  }
};

const reportAlerts = (scope: PlanScope, { detection, detectionMember }: AttackPlan): void => {
  const { alerts } = detection;
  if (alerts === undefined || !alerts.enabled) return;
  const path = pointerIn(scope, detectionMember, 'detection', 'alerts');
  const problem = alerts.regex === undefined ? undefined : patternProblem(alerts.regex);
  if (problem !== undefined) scope.issues.error(`${path}/regex`, 'BAD_REGEX', problem);
  if (alerts.fileID === undefined) {
    scope.issues.caveat(`${path}/fileID`, 'NO_ALERT_FILE', 'no file of alerts is named: detection stays unknown');
  }
};

/** Stands for the services of a plan without attempts, which is refused. */
const noService: AttackService = { service: 'none', protocol: 'raw', transport: 'tcp', isTls: false, port: 18_099 };

/** What a port carries: a single service is on whichever port is named. */
const serviceOn = ({ services }: AttackPlan, port: number): AttackService =>
  (services.length === 1 ? services[0] : services.find((service) => service.port === port)) ?? services[0] ?? noService;

/** Makes traffic of attempts: a client that tries them, a server that answers as told and says what arrived. */
export const planAttack = (scope: PlanScope, plan: AttackPlan): Traffic => {
  const written = fileOf(plan, plan.detection);
  // The same whenever the plan is made again, so that agents that are prepared apart agree.
  const runToken = hashOf('token', scope.entry.path, written.sha256).slice(0, 12);
  const file = { ...written, policy: { ...written.policy, runToken } };
  reportUnfit(scope, plan, file);
  reportAlerts(scope, plan);
  reportPatterns(scope, plan);
  scope.attempts.add(file);
  const shared = {
    attempts: { $file: file.sha256, as: 'path' } satisfies FileReference,
    files: plan.files ?? [],
    runToken,
    proofKey: hashOf('proof', scope.entry.path, file.sha256),
    marker: plan.marker ?? true,
    keepAlive: plan.keepAlive ?? false,
  };
  const carried = ({ service, protocol, transport, isTls }: AttackService) => ({ service, protocol, transport, isTls });
  return {
    engine: plan.engine,
    transport: plan.services.every(({ transport }) => transport === 'udp') ? 'udp' : 'tcp',
    defaultPorts: (plan.services.length === 0 ? [noService] : plan.services).map(({ port }) => port).join(','),
    rates: [plan.ratePerSecond],
    client: (part) => clientOf(scope, plan, part, shared),
    server: () => ({ config: { role: 'server', ...(plan.tls && { tls: serverTls(scope, plan.tls) }), ...shared } }),
    listen: (endpoint) => ({ ...endpoint, ...carried(serviceOn(plan, endpoint.port)) }),
  };
};

const plainTls: TlsClientSettings = { versions: ['1.2', '1.3'], alpn: [], verify: false, resumption: 'none' };

const clientOf = (scope: PlanScope, plan: AttackPlan, part: ClientPart, shared: object): ClientDraft => {
  const rate = part.rate(plan.ratePerSecond) ?? plan.ratePerSecond;
  const targets = part.targets.map((target): AttackTarget => {
    const { service, protocol, transport, isTls } = serviceOn(plan, target.port);
    return { ...target, service, protocol, transport, isTls };
  });
  const { everyAttempts, afterSilentDrop, retries, timeoutMs, recoverySeconds } = plan.detection.control;
  const config = {
    role: 'client',
    targets,
    sources: part.sources,
    tls: plan.tls ? clientTls(scope, plan.tls) : plainTls,
    ...shared,
    ratePerSecond: rate,
    concurrency: part.concurrentShare(plan.concurrency, plan.concurrency),
    timeoutMs: plan.timeoutMs ?? defaultTimeoutMs,
    addressRotation: plan.addressRotation ?? 'none',
    followCookies: plan.followCookies ?? false,
    control: {
      ...{ everyAttempts, afterSilentDrop, retries, timeoutMs: Math.max(1, timeoutMs) },
      recoveryMs: recoverySeconds * 1000,
      ...(plan.host !== undefined && { host: plan.host }),
      basePath: plan.basePath ?? '/',
      ...proofsOf(plan.attempts),
    },
    ...bareOf(plan, targets),
    share: part.position,
    ...(plan.fuzz && { fuzz: plan.fuzz }),
  };
  const estimate = { connections: plan.concurrency, opens: rate, ...estimateTcp({ rate, ...exchangeBytes }) };
  return { config, hasRate: true, estimate };
};

/** Proofs go as attempts do: a device may take nothing but HTTP/2, or nothing but gRPC calls, on their port. */
const proofsOf = (
  attempts: AttackPlan['attempts'],
): Partial<Pick<AttackClientConfig['control'], 'version' | 'grpcPath'>> => {
  const requests = attempts.flatMap(({ exchange }) =>
    exchange.protocol === 'http' ? exchange.steps.map(({ request }) => request) : [],
  );
  const [first] = requests;
  if (first === undefined || !requests.every(({ version }) => version === '2')) return {};
  return { version: '2', ...(requests.every(isGrpcCall) && { grpcPath: first.path }) };
};

/** The path without the device, where the plan names one and the attempts are recognised by their marker. */
const bareOf = ({ calibration, marker = true }: AttackPlan, [first]: readonly AttackTarget[]) =>
  calibration?.enabled && calibration.ip !== undefined && first !== undefined && marker
    ? { bare: { host: calibration.ip, port: calibration.port ?? first.port } }
    : {};

/** How the configuration of an engine names a sealed copy. */
export const sealedFileOf = ({ plainSha256, sha256, size, key, nonce, tag }: SampleCopy): PlannedSealedFile => ({
  ...{ sha256: plainSha256, size, key, nonce, tag },
  path: { $file: sha256, as: 'path' } satisfies FileReference,
});
