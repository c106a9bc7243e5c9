import type { PcapReplayValues } from '@rushhour/contract';
import type { FileReference } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { endpointsOf } from '../../core/load/traffic-entry.ts';
import { estimateTcp } from '../../core/load/traffic-estimate.ts';
import type { PlanSession } from '../../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { portsOf, type RecordedPorts } from '../replay/application-ports.ts';

const timeoutMs = 5000;

/** Sessions of a capture by real sockets on both sides: each source plays all of them as one user. */
export const planSessions = (scope: PlanScope, values: PcapReplayValues, capture: FileReference): Traffic => {
  const { speed, rewrite, clientIp = '' } = values.pcapReplayParams;
  const sessions = sessionsOf(scope);
  const users = Math.max(1, endpointsOf(scope.entry, 'sources').length);
  const recorded = [...new Set(sessions.map(({ dstPort }) => dstPort))].sort((a, b) => a - b);
  const ports = portsOf(scope, { recorded, mode: rewrite.ports === 'networks' ? 'mapped' : 'recorded', users });
  reportUnused(scope, values);
  const play = {
    ...{ name: `capture ${values.pcapReplayParams.fileId}`, capture, clientIp, users, parameters: [], timeoutMs },
    ...{ sessions: sessions.map(({ sessionIndex }) => ({ sessionIndex })), leastGapMs: 0, firstSlot: 0 },
    speed: { mode: speed.mode, value: speed.value ?? 0, multiplier: speed.multiplier },
    seed: `capture ${values.pcapReplayParams.fileId}`,
  };
  const shared = { applications: [play], dictionaries: [], match: 'exact', onMismatch: 'continue', taskId: 0 };
  return {
    engine: 'application',
    transport: sessions.length > 0 && sessions.every(({ protocol }) => protocol === 'udp') ? 'udp' : 'tcp',
    defaultPorts: ports.defaults,
    totals: [users],
    client: (part) => clientOf(values, { part, ports, users, sessions, shared }),
    server: () => ({ config: { role: 'server', ...shared } }),
    listen: ports.listen,
  };
};

const sessionsOf = (scope: PlanScope): readonly PlanSession[] => {
  const found = scope.input.captures.get(scope.entry.path);
  if (found !== undefined && 'sessions' in found && found.sessions.length > 0) return found.sessions;
  const unread = { code: 'NO_SESSIONS', message: 'no session of the capture can be played by sockets' };
  const { code, message } = found !== undefined && 'problem' in found ? found.problem : unread;
  scope.issues.error(pointerIn(scope, 'pcapReplayParams', 'fileId'), code, message);
  return [];
};

/** What only packets have. */
const reportUnused = (scope: PlanScope, { pcapReplayParams }: PcapReplayValues): void => {
  const { filter, rewrite, uniquePerLoop, loopDelayMs } = pcapReplayParams;
  const given = {
    ...{ filter: Object.keys(filter).length > 0, loopDelayMs: loopDelayMs > 0 },
    uniquePerLoop: uniquePerLoop.enabled,
    rewrite: [rewrite.vlan, rewrite.ttl, rewrite.dscp].some((field) => field !== undefined) || rewrite.ips === 'keep',
  };
  for (const [member, isGiven] of Object.entries(given)) {
    const message = 'holds for packets only: sessions by sockets do without it';
    if (isGiven) scope.issues.caveat(pointerIn(scope, 'pcapReplayParams', member), 'MEMBER_IGNORED', message);
  }
};

interface Work {
  readonly part: ClientPart;
  readonly ports: RecordedPorts;
  readonly users: number;
  readonly sessions: readonly PlanSession[];
  readonly shared: object;
}

const clientOf = ({ pcapReplayParams }: PcapReplayValues, work: Work): ClientDraft => {
  const { part, ports, users, sessions, shared } = work;
  const { speed, loop } = pcapReplayParams;
  const rate = speed.mode === 'bps' || speed.mode === 'pps' ? part.rate(speed.value) : undefined;
  const share = {
    ...{ firstUser: part.offset(users), users: part.whole(users), iterations: loop, load: {} },
    ...(rate !== undefined && rate > 0 && { rate }),
  };
  const config = {
    ...{ role: 'client', ...shared, targets: ports.targets(part.targets), rotation: part.rotation },
    ...{ sources: part.sources, shares: [share], connectTimeoutMs: timeoutMs },
  };
  const bytes = (member: 'bytesC2S' | 'bytesS2C') => sessions.reduce((sum, session) => sum + session[member], 0);
  const traffic = estimateTcp({ rate: 0, sentBytes: bytes('bytesC2S'), receivedBytes: bytes('bytesS2C') });
  return { config, hasRate: false, estimate: { connections: share.users, opens: 0, ...traffic } };
};
