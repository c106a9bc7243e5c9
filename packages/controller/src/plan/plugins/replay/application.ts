import { type ApplicationValues, applicationPlugin } from '@rushhour/contract';
import type { ApplicationClientConfig, ApplicationPlay, FileReference } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { estimateTcp, type TrafficEstimate } from '../../core/load/traffic-estimate.ts';
import type { PlanApplication } from '../../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { clientTls, serverTls } from '../../endpoints/tls-settings.ts';
import { loadOf } from '../sockets/load-and-tuning.ts';
import { reportIdentity } from './application-identity.ts';
import { parametersOf, type TableBook } from './application-parameters.ts';
import { portsOf, type RecordedPorts } from './application-ports.ts';

type Params = ApplicationValues['applicationParams'];
type Played = Params['applications'][number];
type Speed = NonNullable<Played['speed']>;

/** One application of the entry, ready for agents. */
interface PlannedApplication {
  /** JSON pointer of the application in the task. */
  readonly path: string;
  readonly given: Played;
  readonly application: PlanApplication;
  readonly play: Omit<ApplicationPlay, 'capture'> & { readonly capture: FileReference };
}

const maxUsers = 100_000;
const minConnectMs = 1000;

/** Recorded applications, both sides. */
const planApplication = (scope: PlanScope, values: ApplicationValues): Traffic => {
  const { applicationParams: params, sessionsPerSecond, tlsParams } = values;
  const tables: TableBook = new Map();
  const applications = applicationsOf(scope, params, tables);
  const sessions = applications.flatMap(({ application, play }) =>
    application.sessions.filter(({ sessionIndex }) => play.sessions.some((one) => one.sessionIndex === sessionIndex)),
  );
  const users = applications.reduce((sum, { play }) => sum + play.users, 0);
  const ports = portsOf(scope, {
    recorded: [...new Set(sessions.map(({ dstPort }) => dstPort))].sort((a, b) => a - b),
    mode: params.portMode,
    users,
  });
  reportIdentity(scope, values, applications);
  const isUdp = sessions.every(({ protocol }) => protocol === 'udp') && sessions.length > 0;
  if (tlsParams !== undefined && isUdp) {
    scope.issues.error(pointerIn(scope, 'tlsParams'), 'NOT_SUPPORTED', 'TLS needs TCP: all sessions are over UDP');
  }
  const shared = {
    applications: applications.map(({ play }) => play),
    dictionaries: [...tables.values()],
    match: params.match,
    onMismatch: params.onMismatch,
    taskId: scope.input.definition.taskId,
  };
  return {
    engine: 'application',
    transport: isUdp ? 'udp' : 'tcp',
    defaultPorts: ports.defaults,
    rates: [sessionsPerSecond],
    totals: [Math.max(1, ...applications.map(({ play }) => play.users))],
    client: (part) => {
      const tls = tlsParams && { tls: clientTls(scope, tlsParams) };
      return clientOf({ part, applications, ports, shared: { ...shared, ...tls }, sessionsPerSecond });
    },
    server: () => ({ config: { role: 'server', ...shared, ...(tlsParams && { tls: serverTls(scope, tlsParams) }) } }),
    listen: ports.listen,
  };
};

const applicationsOf = (scope: PlanScope, params: Params, tables: TableBook): PlannedApplication[] => {
  let firstSlot = 0;
  return params.applications.flatMap((given, index) => {
    const path = pointerIn(scope, 'applicationParams', 'applications', index);
    const application = scope.input.applications.byId.get(given.applicationId);
    if (application === undefined) {
      const message = `there is no application ${given.applicationId}`;
      return scope.issues.error(`${path}/applicationId`, 'APPLICATION_UNKNOWN', message) ?? [];
    }
    const capture = captureOf(scope, application, path);
    const sessions = sessionsOf(scope, given, application, path);
    const users = Math.min(maxUsers, given.users || application.defaultUsers);
    const parameters = parametersOf(scope, { given, application, path, users, sessions, tables });
    if (capture === undefined || sessions.length === 0 || parameters === undefined) return [];
    const play = {
      ...{ name: application.name, clientIp: application.clientIp, capture, sessions, users, firstSlot, parameters },
      speed: speedOf(scope, given.speed, application, `${path}/speed`),
      leastGapMs: application.followTimestamps ? application.timingGapThresholdMs : Number.MAX_SAFE_INTEGER,
      timeoutMs: params.timeoutMs ?? Math.max(1, application.defaultTimeout),
      seed: `task ${scope.input.definition.taskId} application ${application.id}`,
    };
    firstSlot += users;
    return [{ path, given, application, play }];
  });
};

const captureOf = (scope: PlanScope, application: PlanApplication, path: string): FileReference | undefined => {
  const { capture, name, mode } = application;
  const refuse = (code: string, message: string) => scope.issues.error(`${path}/applicationId`, code, message);
  if (mode === 'packet') return refuse('MODE_PACKET', `"${name}" sends frames: pcap-replay plays it`);
  if (capture === undefined) return refuse('FILE_MISSING', `the capture of "${name}" is not there`);
  if (!capture.isReady) return refuse('FILE_MISSING', `the capture of "${name}" is not complete`);
  return { $file: capture.sha256, as: 'path' };
};

/** Those that are to be played, with a speed of their own where that is allowed. */
const sessionsOf = (scope: PlanScope, given: Played, application: PlanApplication, path: string) => {
  const { issues } = scope;
  const choices = new Map(given.sessions.map((session, index) => [session.sessionIndex, { ...session, index }]));
  const known = new Set(application.sessions.map(({ sessionIndex }) => sessionIndex));
  for (const { sessionIndex, speed, index } of choices.values()) {
    const location = `${path}/sessions/${index}`;
    if (!known.has(sessionIndex)) {
      const message = `"${application.name}" has no session ${sessionIndex}`;
      issues.error(`${location}/sessionIndex`, 'SESSION_UNKNOWN', message);
    }
    if (speed !== undefined && !application.allowPerSessionSpeed) {
      issues.error(
        `${location}/speed`,
        'SPEED_LOCKED',
        `"${application.name}" gives its sessions no speed of their own`,
      );
    }
  }
  const sessions = application.sessions.flatMap(({ sessionIndex }) => {
    const { enabled = true, speed, index = 0 } = choices.get(sessionIndex) ?? {};
    if (!enabled) return [];
    const own = speed && speedOf(scope, speed, application, `${path}/sessions/${index}/speed`);
    return [{ sessionIndex, ...(own && { speed: own }) }];
  });
  if (sessions.length === 0) issues.error(path, 'NO_SESSIONS', `no session of "${application.name}" is to be played`);
  return sessions;
};

/** What the task says, else the application; rates that nobody says are those that were recorded. */
const speedOf = (scope: PlanScope, given: Speed | undefined, application: PlanApplication, path: string) => {
  const mode = given?.mode ?? (application.defaultSpeedMode as Speed['mode']);
  const recorded = mode === 'bps' ? application.baseBps : mode === 'pps' ? application.basePps : 0;
  const value = given?.value || recorded;
  if ((mode === 'bps' || mode === 'pps') && value <= 0) {
    scope.issues.error(`${path}/value`, 'REQUIRED', `is required: no rate of ${mode} is known of the capture`);
  }
  return { mode, value, multiplier: given?.multiplier ?? 1 };
};

interface ClientWork {
  readonly part: ClientPart;
  readonly applications: readonly PlannedApplication[];
  readonly ports: RecordedPorts;
  readonly shared: object;
  readonly sessionsPerSecond: number | undefined;
}

const clientOf = ({ part, applications, ports, shared, sessionsPerSecond }: ClientWork): ClientDraft => {
  const weights = applications.reduce((sum, { given }) => sum + given.weight, 0);
  const shares = applications.map(({ given, play }): ApplicationClientConfig['shares'][number] => {
    const sessions = sessionsPerSecond === undefined ? undefined : (sessionsPerSecond * given.weight) / weights;
    const { mode, value } = play.speed;
    const rate = mode === 'bps' || mode === 'pps' ? part.rate(value) : undefined;
    return {
      firstUser: part.offset(play.users),
      users: part.whole(play.users),
      iterations: given.iterations,
      load: loadOf(part, { rate: sessions === undefined ? undefined : sessions / play.sessions.length }),
      ...(rate !== undefined && rate > 0 && { rate }),
    };
  });
  const config = {
    role: 'client',
    ...shared,
    targets: ports.targets(part.targets),
    rotation: part.rotation,
    sources: part.sources,
    shares,
    connectTimeoutMs: Math.max(minConnectMs, ...applications.map(({ play }) => play.timeoutMs)),
  };
  return { config, hasRate: sessionsPerSecond !== undefined, estimate: estimateOf(applications, shares) };
};

const estimateOf = (
  applications: readonly PlannedApplication[],
  shares: ApplicationClientConfig['shares'],
): TrafficEstimate => {
  const all = applications.map(({ application, play }, index) => {
    const { users = 0, load } = shares[index] ?? { load: {} };
    const rate = load.rate ?? 0;
    const bytes = (member: 'bytesC2S' | 'bytesS2C') =>
      application.sessions.reduce((sum, session) => sum + session[member], 0);
    const traffic = estimateTcp({ rate, sentBytes: bytes('bytesC2S'), receivedBytes: bytes('bytesS2C') });
    return { connections: users, opens: rate * play.sessions.length, ...traffic };
  });
  const sum = (name: keyof TrafficEstimate) => all.reduce((total, estimate) => total + estimate[name], 0);
  return {
    ...{ connections: sum('connections'), opens: sum('opens'), txPps: sum('txPps'), rxPps: sum('rxPps') },
    ...{ txBps: sum('txBps'), rxBps: sum('rxBps') },
  };
};

export const applicationPlanner = planner(applicationPlugin, planApplication);
