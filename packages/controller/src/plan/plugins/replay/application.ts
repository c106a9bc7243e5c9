import type { ApplicationValues } from '@rushhour/contract';
import type { ApplicationClientConfig, ApplicationPlay, FileReference } from '@rushhour/protocol';
import type { PlanApplication } from '../../content/plan-applications.ts';
import { type Figures, tcpFigures } from '../../core/figures.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import type { ClientDraft, ClientPart, Traffic } from '../../core/traffic.ts';
import { loadOf } from '../sockets/load.ts';
import { tellIdentity } from './application-identity.ts';
import { parametersOf, type TableBook } from './application-parameters.ts';
import { portsOf, type RecordedPorts } from './application-ports.ts';

type Params = ApplicationValues['applicationParams'];
type Played = Params['applications'][number];
type Speed = NonNullable<Played['speed']>;

/** One application of the entry, ready for agents. */
interface Act {
  readonly written: Played;
  readonly application: PlanApplication;
  readonly play: Omit<ApplicationPlay, 'capture'> & { readonly capture: FileReference };
}

const mostUsers = 100_000;
const leastConnectMs = 1000;

/** Recorded applications, both sides. */
export const planApplication = (scope: PlanScope): Traffic => {
  const values = scope.leaf.values as unknown as ApplicationValues;
  const { applicationParams: params, sessionsPerSecond } = values;
  const tables: TableBook = new Map();
  const acts = actsOf(scope, params, tables);
  const sessions = acts.flatMap(({ application, play }) =>
    application.sessions.filter(({ sessionIndex }) => play.sessions.some((one) => one.sessionIndex === sessionIndex)),
  );
  const users = acts.reduce((sum, { play }) => sum + play.users, 0);
  const ports = portsOf(scope, {
    recorded: [...new Set(sessions.map(({ dstPort }) => dstPort))].sort((a, b) => a - b),
    mode: params.portMode,
    users,
  });
  tellIdentity(scope, acts);
  const shared = {
    applications: acts.map(({ play }) => play),
    dictionaries: [...tables.values()],
    match: params.match,
    onMismatch: params.onMismatch,
    taskId: scope.input.definition.taskId,
  };
  return {
    engine: 'application',
    transport: sessions.every(({ protocol }) => protocol === 'udp') && sessions.length > 0 ? 'udp' : 'tcp',
    usualPorts: ports.usual,
    rates: [sessionsPerSecond],
    totals: [Math.max(1, ...acts.map(({ play }) => play.users))],
    client: (part) => clientOf({ part, acts, ports, shared, sessionsPerSecond }),
    server: () => ({ config: { role: 'server', ...shared } }),
    listen: ports.listen,
  };
};

const actsOf = (scope: PlanScope, params: Params, tables: TableBook): Act[] => {
  let firstSlot = 0;
  return params.applications.flatMap((written, index) => {
    const path = pointerIn(scope, 'applicationParams', 'applications', index);
    const application = scope.input.applications.byId.get(written.applicationId);
    if (application === undefined) {
      const message = `there is no application ${written.applicationId}`;
      return scope.issues.error(`${path}/applicationId`, 'APPLICATION_UNKNOWN', message) ?? [];
    }
    const capture = captureOf(scope, application, path);
    const sessions = sessionsOf(scope, written, application, path);
    const users = Math.min(mostUsers, written.users || application.defaultUsers);
    const parameters = parametersOf(scope, { written, application, path, users, sessions, tables });
    if (capture === undefined || sessions.length === 0 || parameters === undefined) return [];
    const play = {
      ...{ name: application.name, clientIp: application.clientIp, capture, sessions, users, firstSlot, parameters },
      speed: speedOf(scope, written.speed, application, `${path}/speed`),
      leastGapMs: application.followTimestamps ? application.timingGapThresholdMs : Number.MAX_SAFE_INTEGER,
      timeoutMs: params.timeoutMs ?? Math.max(1, application.defaultTimeout),
      seed: `task ${scope.input.definition.taskId} application ${application.id}`,
    };
    firstSlot += users;
    return [{ written, application, play }];
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
const sessionsOf = (scope: PlanScope, written: Played, application: PlanApplication, path: string) => {
  const { issues } = scope;
  const said = new Map(written.sessions.map((session, index) => [session.sessionIndex, { ...session, index }]));
  const known = new Set(application.sessions.map(({ sessionIndex }) => sessionIndex));
  for (const { sessionIndex, speed, index } of said.values()) {
    const place = `${path}/sessions/${index}`;
    if (!known.has(sessionIndex)) {
      const message = `"${application.name}" has no session ${sessionIndex}`;
      issues.error(`${place}/sessionIndex`, 'SESSION_UNKNOWN', message);
    }
    if (speed !== undefined && !application.allowPerSessionSpeed) {
      issues.error(`${place}/speed`, 'SPEED_LOCKED', `"${application.name}" gives its sessions no speed of their own`);
    }
  }
  const sessions = application.sessions.flatMap(({ sessionIndex }) => {
    const { enabled = true, speed, index = 0 } = said.get(sessionIndex) ?? {};
    if (!enabled) return [];
    const own = speed && speedOf(scope, speed, application, `${path}/sessions/${index}/speed`);
    return [{ sessionIndex, ...(own && { speed: own }) }];
  });
  if (sessions.length === 0) issues.error(path, 'NO_SESSIONS', `no session of "${application.name}" is to be played`);
  return sessions;
};

/** What the task says, else the application; rates that nobody says are those that were recorded. */
const speedOf = (scope: PlanScope, written: Speed | undefined, application: PlanApplication, path: string) => {
  const mode = written?.mode ?? (application.defaultSpeedMode as Speed['mode']);
  const recorded = mode === 'bps' ? application.baseBps : mode === 'pps' ? application.basePps : 0;
  const value = written?.value || recorded;
  if ((mode === 'bps' || mode === 'pps') && value <= 0) {
    scope.issues.error(`${path}/value`, 'REQUIRED', `is required: no rate of ${mode} is known of the capture`);
  }
  return { mode, value, multiplier: written?.multiplier ?? 1 };
};

interface ClientWork {
  readonly part: ClientPart;
  readonly acts: readonly Act[];
  readonly ports: RecordedPorts;
  readonly shared: object;
  readonly sessionsPerSecond: number | undefined;
}

const clientOf = ({ part, acts, ports, shared, sessionsPerSecond }: ClientWork): ClientDraft => {
  const weights = acts.reduce((sum, { written }) => sum + written.weight, 0);
  const shares = acts.map(({ written, play }): ApplicationClientConfig['shares'][number] => {
    const sessions = sessionsPerSecond === undefined ? undefined : (sessionsPerSecond * written.weight) / weights;
    const { mode, value } = play.speed;
    const rate = mode === 'bps' || mode === 'pps' ? part.rate(value) : undefined;
    return {
      firstUser: part.before(play.users),
      users: part.whole(play.users),
      iterations: written.iterations,
      load: loadOf(part, { rate: sessions === undefined ? undefined : sessions / play.sessions.length }),
      ...(rate !== undefined && rate > 0 && { rate }),
    };
  });
  const config = {
    role: 'client',
    ...shared,
    targets: ports.places(part.targets),
    rotation: part.rotation,
    sources: part.sources,
    shares,
    connectTimeoutMs: Math.max(leastConnectMs, ...acts.map(({ play }) => play.timeoutMs)),
  };
  return { config, hasRate: sessionsPerSecond !== undefined, figures: figuresOf(acts, shares) };
};

const figuresOf = (acts: readonly Act[], shares: ApplicationClientConfig['shares']): Figures => {
  const all = acts.map(({ application, play }, index) => {
    const { users = 0, load } = shares[index] ?? { load: {} };
    const rate = load.rate ?? 0;
    const bytes = (member: 'bytesC2S' | 'bytesS2C') =>
      application.sessions.reduce((sum, session) => sum + session[member], 0);
    const traffic = tcpFigures({ rate, sentBytes: bytes('bytesC2S'), receivedBytes: bytes('bytesS2C') });
    return { connections: users, opens: rate * play.sessions.length, ...traffic };
  });
  const sum = (name: keyof Figures) => all.reduce((total, figures) => total + figures[name], 0);
  return {
    ...{ connections: sum('connections'), opens: sum('opens'), txPps: sum('txPps'), rxPps: sum('rxPps') },
    ...{ txBps: sum('txBps'), rxBps: sum('rxBps') },
  };
};
