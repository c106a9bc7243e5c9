import type { ProtocolConfig } from '@rushhour/contract';
import { findSubnet, formatAddress, parseAddress } from '@rushhour/pools';
import { defaultProfile } from './plane-references.ts';

type Gateway = ProtocolConfig<'access'>;
type Refusal = (pointer: string, message: string) => void;

/** Addresses of a pool for one kind of sessions. */
interface Share {
  readonly start: string;
  readonly size: number;
}

/** Pools of an agent are no longer. */
const maxPool = 16_777_216;

const smallerOf = (size: bigint, limit: number): number => (size < BigInt(limit) ? Number(size) : limit);

/** The addresses of a network after the gateway's own, divided evenly among kinds of sessions. */
const sharesOf = (network: string, own: string, kinds: number, limit: number): Share[] | undefined => {
  const subnet = findSubnet(network);
  if (subnet === undefined) return undefined;
  const { value } = parseAddress(own);
  const isInside = value >= subnet.first && value <= subnet.last;
  const start = isInside ? value + 1n : subnet.first + 1n;
  const size = (subnet.last - start) / BigInt(kinds);
  if (size < 1n) return undefined;
  return Array.from({ length: kinds }, (_, i) => ({
    start: formatAddress(4, start + BigInt(i) * size),
    size: smallerOf(size, Math.min(limit, maxPool)),
  }));
};

const maskOf = (network: string): string => {
  const length = BigInt(findSubnet(network)?.prefixLength ?? 0);
  return formatAddress(4, (0xffffffffn << (32n - length)) & 0xffffffffn);
};

const pppOf = (gateway: Gateway, own: string, { start: poolStart, size: poolSize }: Share) => {
  const { kind, password, radiusAddress, radiusPort, radiusSecret, accounting, interimSec } = gateway.authentication;
  const ppp = defaultProfile('ppp') as ProtocolConfig<'ppp'>;
  return {
    ...ppp,
    auth: { ...ppp.auth, username: '', password },
    server: {
      ...ppp.server,
      decision: kind === 'password' ? 'check' : kind,
      ...{ localAddress: own, poolStart, poolSize, dns1: own, dns2: own },
    },
    radius: {
      ...ppp.radius,
      ...{ address: radiusAddress, port: radiusPort, secret: radiusSecret },
      ...{ accounting, accountingPort: Math.min(radiusPort + 1, 65_535), interimSec },
    },
  };
};

const ipoeOf = ({ pools, gateway }: Gateway, own: string, share: Share, limit: number): Record<string, unknown[]> => {
  const { delegated: delegatedFrom, delegatedLength, leaseSec } = pools;
  const [ipoe, dhcp, dhcpv6] = [
    defaultProfile('ipoe') as ProtocolConfig<'ipoe'>,
    defaultProfile('dhcp') as ProtocolConfig<'dhcp'>,
    defaultProfile('dhcpv6') as ProtocolConfig<'dhcpv6'>,
  ];
  const { first, last } = findSubnet(pools.ipv6) as NonNullable<ReturnType<typeof findSubnet>>;
  const poolStart = formatAddress(6, first + 2n);
  const poolSize = smallerOf(last - first - 1n, limit);
  const server4 = {
    ...{ poolStart: share.start, poolSize: share.size, netmask: maskOf(pools.ipv4), router: own, leaseSec },
    ...{ dnsServers: [own], setupPerSec: gateway.setupPerSec },
  };
  const server6 = {
    ...{ poolStart, poolSize, delegatedFrom, delegatedLength, dnsServers: [] },
    ...{ validSec: leaseSec, preferredSec: Math.max(Math.floor(leaseSec / 2), 30) },
  };
  return {
    ipoe: [{ ...ipoe, ipv6: { ...ipoe.ipv6, enabled: true } }],
    dhcp: [{ ...dhcp, server: { ...dhcp.server, ...server4 } }],
    dhcpv6: [{ ...dhcpv6, server: { ...dhcpv6.server, ...server6 } }],
  };
};

/** Members of the profile `access` that cannot be done as they stand. */
const checkGateway = ({ gateway, pools, authentication }: Gateway, refuse: Refusal): void => {
  const { kind, password, radiusSecret, accounting } = authentication;
  const hasIpoe = gateway.protocols.includes('ipoe');
  const [ipv6, delegated] = [findSubnet(pools.ipv6), findSubnet(pools.delegated)];
  const cases: [boolean, string, string][] = [
    [gateway.protocols.length === 0, '/gateway/protocols', 'name at least one'],
    [gateway.maxSessions < gateway.protocols.length, '/gateway/maxSessions', 'is less than one for each protocol'],
    [gateway.unnumberedFrom?.includes(':') ?? false, '/gateway/unnumberedFrom', 'must be an IPv4 address'],
    [hasIpoe && kind !== 'accept', '/authentication/kind', 'sessions of ipoe are not authenticated: leave it out'],
    [kind === 'password' && password === '', '/authentication/password', 'is needed'],
    [kind === 'radius' && radiusSecret === '', '/authentication/radiusSecret', 'is needed'],
    [accounting && kind !== 'radius', '/authentication/accounting', 'needs the kind radius'],
    [ipv6 === undefined || ipv6.prefixLength > 126, '/pools/ipv6', 'has no addresses to hand out'],
    [
      delegated === undefined || pools.delegatedLength < delegated.prefixLength,
      '/pools/delegatedLength',
      'is shorter than the network of /pools/delegated',
    ],
  ];
  for (const [isAsked, pointer, message] of cases) if (isAsked) refuse(pointer, message);
};

interface Machine {
  /** IPv4 address of the first interface, if it has one. */
  readonly interfaceAddress: string | undefined;
  readonly machineAddresses: readonly string[];
}

/** Tunnels to the address of the gateway, with PPP of their own addresses. */
const l2tpOf = (access: Gateway, own: string, share: Share, limit: number): Record<string, unknown[]> => {
  const l2tp = defaultProfile('l2tp') as ProtocolConfig<'l2tp'>;
  const { setupPerSec } = access.gateway;
  const tunnel = { ...l2tp.tunnel, localAddress: own };
  const ppp = [pppOf(access, own, share)];
  return {
    l2tp: [{ ...l2tp, tunnel, server: { maxSessions: limit, setupPerSec } }],
    ...{ ppp, l2tpPpp: ppp },
  };
};

/**
 * The profiles of the access plane that do what a profile `access` of the control plane says; undefined if that is not
 * possible.
 */
export const gatewayProfiles = (
  access: Gateway,
  { interfaceAddress, machineAddresses }: Machine,
  refuse: Refusal,
): Record<string, unknown[]> | undefined => {
  let isPossible = true;
  const report: Refusal = (pointer, message) => {
    isPossible = false;
    refuse(pointer, message);
  };
  checkGateway(access, report);
  const { protocols, maxSessions, setupPerSec, unnumberedFrom } = access.gateway;
  const own = unnumberedFrom ?? interfaceAddress;
  if (own === undefined) report('/gateway/unnumberedFrom', 'is needed: the interface has no IPv4 address');
  if (own !== undefined && protocols.includes('l2tp') && machineAddresses.includes(own))
    report('/gateway/unnumberedFrom', 'tunnels of l2tp need an address that is not one of the machine');
  if (own === undefined || !isPossible) return undefined;
  const limit = Math.floor(maxSessions / protocols.length);
  const shares = sharesOf(access.pools.ipv4, own, protocols.length, limit);
  if (shares === undefined) {
    report('/pools/ipv4', 'has no addresses to hand out after the one of the gateway');
    return undefined;
  }
  const shareOf = (protocol: Gateway['gateway']['protocols'][number]) => shares[protocols.indexOf(protocol)];
  const [pppoeShare, ipoeShare, l2tpShare] = [shareOf('pppoe'), shareOf('ipoe'), shareOf('l2tp')];
  const pppoe = defaultProfile('pppoe') as ProtocolConfig<'pppoe'>;
  const server = { ...pppoe.server, maxSessions: limit, setupPerSec };
  return {
    ...(l2tpShare && l2tpOf(access, own, l2tpShare, limit)),
    ...(pppoeShare && { pppoe: [{ ...pppoe, server }], ppp: [pppOf(access, own, pppoeShare)] }),
    ...(ipoeShare && ipoeOf(access, own, ipoeShare, limit)),
  };
};
