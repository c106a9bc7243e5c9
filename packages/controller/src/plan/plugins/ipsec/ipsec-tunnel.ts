import { type IpsecTunnelValues, ipsecTunnelPlugin } from '@rushhour/contract';
import type { AddressRange, IpsecSettings, IpsecTunnelClientConfig, IpsecTunnelServerConfig } from '@rushhour/protocol';
import type { ClientDraft, ClientPart, Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { planner } from '../../core/planner.ts';
import {
  basePeers,
  handshakeEstimate,
  ipsecSettingsAt,
  manualKeysAt,
  rangeAt,
  reportAnswer,
  reportSources,
  type SizedRange,
} from './ipsec-values.ts';

/** Tunnels that are opened without a rate are expected to be up after so many seconds. */
const openSeconds = 10;

/** IPsec tunnels between emulated hosts, both sides. */
const planTunnels = (scope: PlanScope, values: IpsecTunnelValues): Traffic => {
  const inside = insideOf(scope, values);
  const settings = settingsOf(scope, values, inside);
  const { ipsecTunnelCount, ipsecTunnelOpenRatePps, ipsecPeerBase, ipsecPeerCount } = values;
  const addresses = inside && { inside: { client: plain(inside.client), server: plain(inside.server) } };
  const server: Omit<IpsecTunnelServerConfig, 'listen'> = {
    role: 'server',
    settings,
    tunnels: ipsecTunnelCount,
    ...addresses,
  };
  const names = { base: 'ipsecPeerBase', count: 'ipsecPeerCount' };
  return {
    engine: 'ipsec-tunnel',
    transport: 'udp',
    defaultPorts: '500',
    extraTargets: basePeers(scope, { base: ipsecPeerBase, count: ipsecPeerCount, names }),
    rates: [ipsecTunnelOpenRatePps],
    totals: [ipsecTunnelCount],
    client: (part) => clientOf(scope, { values, part, settings, ...addresses }),
    server: () => {
      reportAnswer(scope, values);
      return { config: server };
    },
  };
};

const plain = ({ start, end }: SizedRange): AddressRange => ({ start, end });

interface Inside {
  readonly client: SizedRange;
  readonly server: SizedRange;
}

/** Addresses inside, which echoes are sent between; undefined where the entry names none. */
const insideOf = (scope: PlanScope, values: IpsecTunnelValues): Inside | undefined => {
  const client = rangeAt(scope, values, 'ipsecInnerSrc');
  const server = rangeAt(scope, values, 'ipsecInnerDst');
  if (client === undefined || server === undefined) {
    const [present, absent] = client ? ['Src', 'Dst'] : ['Dst', 'Src'];
    if ((client ?? server) !== undefined) {
      const message = `is required: ipsecInner${present}Start needs the other side`;
      scope.issues.error(pointerIn(scope, `ipsecInner${absent}Start`), 'REQUIRED', message);
    }
    return undefined;
  }
  if (client.version !== server.version) {
    scope.issues.error(pointerIn(scope, 'ipsecInnerDstStart'), 'IP_VERSION_MISMATCH', 'both sides need one version');
  }
  if (client.size < BigInt(values.ipsecTunnelCount)) {
    const message = `has ${client.size} addresses: each of the ${values.ipsecTunnelCount} tunnels needs one`;
    scope.issues.error(pointerIn(scope, 'ipsecInnerSrcEnd'), 'ADDRESSES_TOO_FEW', message);
  }
  return { client, server };
};

const settingsOf = (scope: PlanScope, values: IpsecTunnelValues, inside: Inside | undefined): IpsecSettings => {
  const selectors = { client: rangeAt(scope, values, 'ipsecTsSrc'), server: rangeAt(scope, values, 'ipsecTsDst') };
  const [localRange, remoteRange] = [selectors.client ?? inside?.client, selectors.server ?? inside?.server];
  const versions = new Set([localRange, remoteRange, inside?.client].flatMap((range) => range?.version ?? []));
  if (versions.size > 1) {
    const member = selectors.client ? 'ipsecTsSrcStart' : 'ipsecTsDstStart';
    scope.issues.error(pointerIn(scope, member), 'IP_VERSION_MISMATCH', 'all ranges inside need one version');
  }
  reportUnique(scope, values, localRange);
  const { ipsecTunnelOpenRatePps } = values;
  return {
    ...ipsecSettingsAt(scope, values),
    ...(values.ipsecAuthMethod === 'manual' && manualKeysAt(scope, values)),
    ...(localRange && { localRange: plain(localRange) }),
    ...(remoteRange && { remoteRange: plain(remoteRange) }),
    uniqueSelectors: values.ipsecTunnelUniqueTsi === 1,
    children: values.ipsecMultiChildCount,
    ...(ipsecTunnelOpenRatePps !== undefined && { openRate: ipsecTunnelOpenRatePps }),
  };
};

/** Tunnel i has address i of the range as its selector. */
const reportUnique = (scope: PlanScope, values: IpsecTunnelValues, range: SizedRange | undefined): void => {
  if (values.ipsecTunnelUniqueTsi !== 1 || (range && range.size >= BigInt(values.ipsecTunnelCount))) return;
  const message = `${values.ipsecTunnelCount} tunnels need as many addresses from ipsecTsSrcStart to ipsecTsSrcEnd`;
  scope.issues.error(pointerIn(scope, 'ipsecTunnelUniqueTsi'), 'ADDRESSES_TOO_FEW', message);
};

interface ClientWork {
  readonly values: IpsecTunnelValues;
  readonly part: ClientPart;
  readonly settings: IpsecSettings;
  readonly inside?: { readonly client: AddressRange; readonly server: AddressRange };
}

const clientOf = (scope: PlanScope, { values, part, settings, inside }: ClientWork): ClientDraft => {
  const { ipsecTunnelCount, ipsecTunnelOpenRatePps, ipsecTunnelSrcIpCount, ipsecTunnelPeerShareEndpoint } = values;
  reportSources(scope, { wanted: ipsecTunnelSrcIpCount, found: part.sourceCount, member: 'ipsecTunnelSrcIpCount' });
  const tunnels = Math.max(1, part.whole(ipsecTunnelCount));
  const openRate = part.rate(ipsecTunnelOpenRatePps);
  const config: IpsecTunnelClientConfig = {
    role: 'client',
    targets: part.targets,
    rotation: part.rotation,
    sourceRotation: part.sources.rotation,
    sourceCount: ipsecTunnelSrcIpCount,
    sharesSource: ipsecTunnelPeerShareEndpoint === 1,
    settings: {
      ...settings,
      firstIndex: part.offset(ipsecTunnelCount),
      ...(openRate !== undefined && { openRate }),
    },
    tunnels,
    ...(inside && { inside: { ...inside } }),
  };
  return { config, hasRate: false, estimate: handshakeEstimate(openRate ?? tunnels / openSeconds) };
};

export const ipsecTunnelPlanner = planner(ipsecTunnelPlugin, planTunnels);
