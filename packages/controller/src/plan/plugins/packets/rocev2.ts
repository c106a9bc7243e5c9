import { type Rocev2Values, rocev2Plugin } from '@rushhour/contract';
import type { Rocev2ClientConfig, Rocev2ServerConfig } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { ipHeadersOf } from './stream-headers.ts';

const port = 4791;
const maxQueuePairs = 65_536;
const maxTags = 2;
/** Ethernet, IP, UDP, base header and check sequence. */
const headerBytes = 18 + 20 + 8 + 12 + 4;
/** Values of the paper that has introduced DCQCN. */
const defaults = {
  alphaG: 1 / 256,
  initialAlpha: 1,
  rateReduceMinUs: 50,
  timeResetUs: 55,
  byteReset: 10_485_760,
  additiveIncreaseMbps: 40,
  hyperIncreaseMbps: 400,
} as const;
const defaultNotifications = { dscp: 48, delayUs: 4 } as const;

type Params = Rocev2Values['rocev2Params'];

/** Queue pairs between emulated network adapters. */
const planRocev2 = (scope: PlanScope, values: Rocev2Values): Traffic => {
  reportUnsupported(scope, values);
  const shared = sharedOf(values);
  const { rocev2Params: params } = values;
  const server: Omit<Rocev2ServerConfig, 'listen'> = { role: 'server', ...shared, ...rateOf(params, 1) };
  return {
    engine: 'rocev2',
    transport: 'udp',
    defaultPorts: String(port),
    rates: [params.rateGbps],
    isEmulated: true,
    client: (part) => clientOf(values, shared, part),
    server: () => ({ config: server }),
  };
};

/** Members of network adapters, and what contradicts another member. */
const reportUnsupported = (scope: PlanScope, { rocev2Params: params, targets, ipLayer }: Rocev2Values): void => {
  const refuse = (member: keyof Params, message: string) =>
    scope.issues.error(pointerIn(scope, 'rocev2Params', member), 'NOT_SUPPORTED', message);
  for (const member of ['device', 'gidIndex', 'inlineSize'] as const)
    if (params[member] !== undefined) refuse(member, 'queue pairs are emulated on frames: they use no RDMA device');
  if (params.rateGbps !== undefined && params.linePct !== undefined) refuse('linePct', 'rateGbps is given, too');
  for (const [index, target] of targets.entries()) {
    if (target.ports !== undefined && target.ports !== String(port))
      scope.issues.error(pointerIn(scope, 'targets', index, 'ports'), 'NOT_SUPPORTED', `RoCEv2 has port ${port}`);
    if (target.agent === undefined)
      scope.issues.error(
        pointerIn(scope, 'targets', index, 'agent'),
        'NO_SERVER_AGENT',
        'names no agent: both ends of a queue pair are emulated',
      );
  }
  if (ipLayer.vlan.length > maxTags)
    scope.issues.error(pointerIn(scope, 'ipLayer', 'vlan'), 'NOT_SUPPORTED', `at most ${maxTags} tags are possible`);
  if (ipLayer.fragmentSize !== undefined)
    scope.issues.error(pointerIn(scope, 'ipLayer', 'fragmentSize'), 'NOT_SUPPORTED', 'RoCE packets are not fragmented');
  if (ipLayer.df === false)
    scope.issues.error(pointerIn(scope, 'ipLayer', 'df'), 'NOT_SUPPORTED', 'RoCE packets are not fragmented');
};

const rateOf = ({ rateGbps, linePct }: Params, share: number): { rateBps?: number; linePct?: number } => ({
  ...(rateGbps !== undefined && { rateBps: rateGbps * 1e9 * share }),
  ...(linePct !== undefined && { linePct }),
});

/** What both ends have. */
const sharedOf = ({ rocev2Params: params, ipLayer }: Rocev2Values) => {
  const { ttl, dscp, ecn, flowLabel, vlan } = ipHeadersOf(ipLayer);
  const congestion = params.cnp ?? (params.dcqcn === undefined ? undefined : defaultNotifications);
  const { additiveIncreaseMbps, hyperIncreaseMbps, ...given } = { ...defaults, ...params.dcqcn };
  const dcqcn = { ...given, additiveBps: additiveIncreaseMbps * 1e6, hyperBps: hyperIncreaseMbps * 1e6 };
  return {
    mtu: params.mtu,
    messageBytes: params.messageSize,
    header: {
      ttl,
      // Packets of rate control must be markable.
      ecn: params.ecn ?? (ecn || (congestion === undefined ? 0 : 2)),
      dscp: params.dscp ?? dscp,
      flowLabel,
      vlan: vlan.map(({ id, priority, type }) => ({ id, pcp: priority, tpid: type })),
    },
    ...(congestion !== undefined && { congestion }),
    ...(params.dcqcn !== undefined && { dcqcn }),
  };
};

const clientOf = (values: Rocev2Values, shared: ReturnType<typeof sharedOf>, part: ClientPart): ClientDraft => {
  const { rocev2Params: params } = values;
  const rateBps = part.rate(params.rateGbps === undefined ? undefined : params.rateGbps * 1e9);
  const config: Rocev2ClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sources: part.sources,
    verb: params.verb,
    queuePairs: part.concurrentShare(params.qps, maxQueuePairs),
    ...(params.udpSrcPort !== undefined && { firstPort: params.udpSrcPort }),
    ...(rateBps !== undefined && { rateBps }),
    ...(params.linePct !== undefined && { linePct: params.linePct }),
    retryMs: params.retry.timeoutMs,
    retryCount: params.retry.count,
    ...shared,
  };
  const bps = rateBps ?? 0;
  const pps = bps / 8 / (params.mtu + headerBytes);
  const isRead = params.verb === 'read';
  const estimate = isRead
    ? { connections: config.queuePairs, opens: 0, txPps: 0, rxPps: pps, txBps: 0, rxBps: bps }
    : { connections: config.queuePairs, opens: 0, txPps: pps, rxPps: 0, txBps: bps, rxBps: 0 };
  return { config, hasRate: false, estimate };
};

export const rocev2Planner = planner(rocev2Plugin, planRocev2);
