import { type ConvergenceValues, convergencePlugin } from '@rushhour/contract';
import type { ConvergenceClientConfig, ConvergenceServerConfig, StreamClientConfig } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { wantedVersion } from '../../endpoints/resolve-endpoint.ts';
import { type FrameHeaders, interfaceFor, ipHeadersOf, minFrameBytes } from './stream-headers.ts';

type Encapsulation = ConvergenceValues['convergenceEncapsulation'];
type Member = Exclude<keyof Encapsulation, 'type'>;
type Headers = StreamClientConfig['headers'];

const maxFlows = 1_000_000;
const vlanType = 0x8100;
const labelTtl = 64;

/** Members of each encapsulation. */
const members: Readonly<Record<Encapsulation['type'], { required: readonly Member[]; optional?: readonly Member[] }>> =
  {
    none: { required: [] },
    vlan: { required: ['vlanId'] },
    mpls: { required: ['labels'] },
    vxlan: { required: ['vni', 'localIp', 'remoteIp'] },
    gre: { required: ['localIp', 'remoteIp'], optional: ['key'] },
  };
const allMembers: readonly Member[] = ['vlanId', 'labels', 'vni', 'key', 'localIp', 'remoteIp'];

/** Flows between agents and the receivers that watch them. */
const planConvergence = (scope: PlanScope, values: ConvergenceValues): Traffic => {
  reportEncapsulation(scope, values.convergenceEncapsulation);
  reportUnwatched(scope, values);
  const headers = headersOf(values);
  const frameSize = frameSizeOf(scope, values, headers);
  const rate = values.ppsUnlimited ? undefined : values.packetsPerSecond;
  if (rate === undefined && !values.ppsUnlimited && !values.isServer)
    scope.issues.error(pointerIn(scope, 'packetsPerSecond'), 'RATE_MISSING', 'is required, or ppsUnlimited');
  const isEncapsulated = headers.mpls.length > 0 || headers.tunnel !== undefined;
  const { mode, seconds } = values.duration;
  const server: Omit<ConvergenceServerConfig, 'listen'> = {
    role: 'server',
    isEncapsulated,
    isCounted: mode === 'count',
    ...(mode === 'time' && { sendingSec: seconds }),
  };
  return {
    engine: 'convergence',
    transport: 'udp',
    defaultPorts: '15010',
    rates: [rate],
    isEmulated: true,
    client: (part) => clientOf(values, { part, headers, frameSize, rate }),
    server: () => ({ config: server }),
  };
};

/** Members that an encapsulation needs must be given, others must not. */
const reportEncapsulation = (scope: PlanScope, encapsulation: Encapsulation): void => {
  const { type } = encapsulation;
  const { required, optional = [] } = members[type];
  const at = (member: Member) => pointerIn(scope, 'convergenceEncapsulation', member);
  for (const member of allMembers) {
    const value = encapsulation[member];
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0);
    if (required.includes(member) && !isGiven)
      scope.issues.error(at(member), 'REQUIRED', `is required for encapsulation ${type}`);
    if (isGiven && !required.includes(member) && !optional.includes(member))
      scope.issues.error(at(member), 'NOT_SUPPORTED', `has no effect with encapsulation ${type}`);
  }
  const { localIp, remoteIp } = encapsulation;
  if (!required.includes('remoteIp') || localIp === undefined || remoteIp === undefined) return;
  if (localIp.includes(':') !== remoteIp.includes(':'))
    scope.issues.error(at('remoteIp'), 'VERSION_MIXED', 'has another IP version than localIp');
  if (!scope.guard.allows(remoteIp)) {
    const message = `${remoteIp} is neither among the allowed targets nor an address of an agent`;
    scope.issues.error(at('remoteIp'), 'TARGET_NOT_ALLOWED', message);
  }
};

const reportUnwatched = (scope: PlanScope, { targets, ipLayer }: ConvergenceValues): void => {
  for (const [index, { agent }] of targets.entries()) {
    if (agent !== undefined) continue;
    const message = 'names no agent: nothing would watch what arrives';
    scope.issues.error(pointerIn(scope, 'targets', index, 'agent'), 'NO_SERVER_AGENT', message);
  }
  if (ipLayer.fragmentSize === undefined) return;
  const message = 'packets of flows are not cut into fragments';
  scope.issues.error(pointerIn(scope, 'ipLayer', 'fragmentSize'), 'NOT_SUPPORTED', message);
};

const tunnelOf = ({ type, vni, key, localIp = '', remoteIp = '' }: Encapsulation): Headers['tunnel'] => {
  if (type !== 'gre' && type !== 'vxlan') return undefined;
  const ends = { source: localIp, destination: remoteIp, network: vni ?? 1 };
  return { type, ...ends, ...(type === 'gre' && key !== undefined && { key }) };
};

const headersOf = ({ ipLayer, convergenceEncapsulation: encapsulation }: ConvergenceValues): Headers => {
  const { type, vlanId = 0, labels } = encapsulation;
  const tunnel = tunnelOf(encapsulation);
  const ip = ipHeadersOf(ipLayer);
  return {
    ...ip,
    vlan: type === 'vlan' ? [...ip.vlan, { id: vlanId, priority: 0, type: vlanType }] : ip.vlan,
    mpls: type === 'mpls' ? labels.map((label) => ({ label, trafficClass: 0, ttl: labelTtl })) : [],
    ...(tunnel !== undefined && { tunnel }),
    protocol: 'udp',
  };
};

/** The given size, which must hold all headers and the signature, or the smallest that does. */
const frameSizeOf = (scope: PlanScope, { frameSize }: ConvergenceValues, headers: FrameHeaders): number => {
  const min = minFrameBytes(headers, wantedVersion(scope) ?? 4);
  if (frameSize !== undefined && frameSize < min) {
    const message = `is too small: headers and signature of these frames need ${min} bytes`;
    scope.issues.error(pointerIn(scope, 'frameSize'), 'FRAME_TOO_SMALL', message);
  }
  return frameSize ?? Math.max(64, min);
};

interface Work {
  readonly part: ClientPart;
  readonly headers: Headers;
  readonly frameSize: number;
  readonly rate: number | undefined;
}

const clientOf = (values: ConvergenceValues, { part, headers, frameSize, rate: whole }: Work): ClientDraft => {
  const rate = part.rate(whole);
  const config: Omit<ConvergenceClientConfig, 'fill'> = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    ...interfaceFor(part),
    streams: part.concurrentShare(values.convergenceFlows, maxFlows),
    load: rate === undefined ? {} : { rate },
    loadUnit: 'pps',
    sizes: { mix: [{ frameSize, weight: 1 }] },
    headers,
  };
  const txPps = rate ?? 0;
  const estimate = { connections: 0, opens: 0, txPps, rxPps: 0, txBps: txPps * 8 * frameSize, rxBps: 0 };
  return { config, hasRate: false, estimate };
};

export const convergencePlanner = planner(convergencePlugin, planConvergence);
