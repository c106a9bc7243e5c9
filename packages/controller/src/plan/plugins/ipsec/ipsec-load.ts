import { type IpsecLoadValues, ipsecLoadPlugin } from '@rushhour/contract';
import type { IpsecLoadClientConfig, IpsecLoadServerConfig } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import { wildcardOf } from '../../endpoints/machine-addresses.ts';
import {
  addressesFrom,
  basePeers,
  handshakeEstimate,
  ipsecSettingsAt,
  reportAnswer,
  reportSources,
} from './ipsec-values.ts';

const maxHandshakes = 1_000_000;
/** Handshakes a second that are expected where no rate is given. */
const expectedRate = 1000;
const ikePort = 500;

/** IKE handshakes of emulated hosts: sources initiate, or answer as responders. */
const planLoad = (scope: PlanScope, values: IpsecLoadValues): Traffic => {
  setLocalAddresses(scope, values);
  const settings = ipsecSettingsAt(scope, values);
  const server: Omit<IpsecLoadServerConfig, 'listen'> = {
    role: 'server',
    settings,
    idleRecycleMs: values.ipsecLoadResponderIdleRecycleMs,
    poolCap: values.ipsecLoadResponderPoolCap,
  };
  const common = { engine: 'ipsec-load', transport: 'udp', defaultPorts: `${ikePort}` } as const;
  if (values.ipsecLoadRole === 'responder') {
    reportResponder(scope, values);
    reportAnswer(scope, values);
    const client = () => responderOf(scope, server);
    return { ...common, needsTargets: false, client, server: () => ({ config: server }) };
  }
  const names = { base: 'ipsecLoadPeerBaseIp', count: 'ipsecLoadPeerCount' };
  const peers = { base: values.ipsecLoadPeerBaseIp, count: values.ipsecLoadPeerCount, names };
  return {
    ...common,
    extraTargets: basePeers(scope, peers),
    rates: [values.ipsecLoadHsRatePps],
    client: (part) => initiatorOf(scope, { values, part, settings }),
    server: () => {
      reportAnswer(scope, values);
      return { config: server };
    },
  };
};

/** Sources without addresses get those from the base on, each as many as are asked for. */
const setLocalAddresses = ({ issues, ...scope }: PlanScope, values: IpsecLoadValues): void => {
  const { ipsecLoadLocalBaseIp: base, ipsecLoadSrcIpCount: count } = values;
  const nameless = values.sources.filter(({ ip, network }) => ip === undefined && network === undefined);
  if (base === undefined) return;
  const path = pointerIn({ issues, ...scope }, 'ipsecLoadLocalBaseIp');
  if (nameless.length === 0) {
    issues.error(path, 'NOT_SUPPORTED', 'has no effect where sources name their addresses');
    return;
  }
  const addresses = addressesFrom(base, count * nameless.length);
  if (addresses === undefined) {
    issues.error(path, 'RANGE_INVALID', `there are fewer than ${count * nameless.length} addresses from ${base} on`);
    return;
  }
  for (const [index, source] of nameless.entries()) {
    const range = { ip: addresses.at(index * count), lastIp: addresses.at((index + 1) * count - 1) };
    Object.assign(source, range);
  }
};

/** Responders answer any initiator, so that nothing can be said about the other side. */
const reportResponder = (scope: PlanScope, { targets, isServer }: IpsecLoadValues): void => {
  if (targets.length > 0) {
    const message = 'responders answer any initiator: leave targets out, or give them an entry of their own';
    scope.issues.error(pointerIn(scope, 'targets'), 'NOT_SUPPORTED', message);
  }
  if (!isServer) return;
  const message = 'with isServer the agents of targets answer: leave ipsecLoadRole out';
  scope.issues.error(pointerIn(scope, 'ipsecLoadRole'), 'NOT_SUPPORTED', message);
};

const responderOf = (scope: PlanScope, server: Omit<IpsecLoadServerConfig, 'listen'>): ClientDraft => {
  const host = wildcardOf(scope.entry.values.ipLayer?.version ?? 4);
  const config: IpsecLoadServerConfig = { ...server, listen: [{ host, port: ikePort }] };
  return { config, hasRate: false, estimate: handshakeEstimate(0) };
};

interface InitiatorWork {
  readonly values: IpsecLoadValues;
  readonly part: ClientPart;
  readonly settings: IpsecLoadClientConfig['settings'];
}

const initiatorOf = (scope: PlanScope, { values, part, settings }: InitiatorWork): ClientDraft => {
  const { ipsecLoadHsRatePps, ipsecLoadSrcIpCount, ipsecLoadKeepalivePps } = values;
  reportSources(scope, { wanted: ipsecLoadSrcIpCount, found: part.sourceCount, member: 'ipsecLoadSrcIpCount' });
  const rate = part.rate(ipsecLoadHsRatePps);
  const config: IpsecLoadClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sourceRotation: part.sources.rotation,
    sourceCount: ipsecLoadSrcIpCount,
    sharesSource: values.ipsecLoadPeerShareEndpoint === 1,
    settings,
    load: rate === undefined ? {} : { rate },
    concurrentHandshakes: part.concurrentShare(values.ipsecLoadConcurrentHs, maxHandshakes),
    keepalivesPerSecond: ipsecLoadKeepalivePps === 0 ? 0 : (part.rate(ipsecLoadKeepalivePps) ?? 0),
    recycleAfterMs: values.ipsecLoadRecycleAfterMs,
  };
  return { config, hasRate: rate !== undefined, estimate: handshakeEstimate(rate ?? expectedRate) };
};

export const ipsecLoadPlanner = planner(ipsecLoadPlugin, planLoad);
