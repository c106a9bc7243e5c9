import { isDeepStrictEqual } from 'node:util';
import type { AccessPlaneEntry, accessProfiles, ProtocolConfig } from '@rushhour/contract';
import type { PlanIssues } from '../core/plan-issues.ts';
import { bridgeRefusals } from './bridge-refusals.ts';
import { defaultProfile } from './plane-references.ts';
import type { Refusal } from './refusal.ts';
import { tunnelRefusals } from './tunnel-refusals.ts';

type Protocol = keyof typeof accessProfiles;
type Given = Readonly<Record<string, unknown[]>>;

/** Protocols that agents speak, by side of the entry. */
const spoken: Record<'client' | 'server', ReadonlySet<string>> = {
  client: new Set([
    'accessLine',
    'links',
    'lag',
    'dot1x',
    'sessions',
    'ipoe',
    'dhcp',
    'dhcpv6',
    'pppoe',
    'ppp',
    'l2tp',
    'igmp',
    'stp',
    'openflow',
    'gptp',
  ]),
  server: new Set(['accessLine', 'lag', 'dot1x', 'ipoe', 'dhcp', 'dhcpv6', 'pppoe', 'ppp', 'l2tp', 'stp']),
};

/** What sessions that are only let in may have. */
const besideDot1x: ReadonlySet<string> = new Set(['dot1x', 'lag', 'links', 'accessLine', 'sessions']);

interface Found {
  readonly entry: AccessPlaneEntry;
  readonly path: string;
  readonly issues: PlanIssues;
  /** Addresses of the agent's machine. */
  readonly machineAddresses: readonly string[];
}

const configOf = <Name extends Protocol>(given: Given, name: Name): ProtocolConfig<Name> | undefined =>
  given[name]?.[0] as ProtocolConfig<Name> | undefined;

/**
 * The profiles of an entry with those that it needs and does not name, at their defaults. What agents cannot do is
 * reported with its pointer; undefined if there is something.
 */
export const completeAccess = (given: Given, found: Found): Record<string, unknown[]> | undefined => {
  const { entry, path, issues } = found;
  const side = entry.isServer ? 'server' : 'client';
  let isPossible = true;
  const refuse = (pointer: string, message: string) => {
    isPossible = false;
    issues.error(`${path}${pointer}`, 'NOT_SUPPORTED', message);
  };
  for (const [protocol, configs] of Object.entries(given)) {
    if (!spoken[side].has(protocol))
      refuse(`/${protocol}/0`, `a ${side} of the access plane cannot do ${protocol} yet`);
    else if (configs.length > 1) refuse(`/${protocol}/1`, `an entry has one profile of ${protocol}`);
  }
  const isPpp = ['pppoe', 'ppp', 'l2tp'].some((name) => given[name] !== undefined);
  const isIpoe = ['ipoe', 'dhcp', ...(isPpp ? [] : ['dhcpv6'])].some((name) => given[name] !== undefined);
  const isBridge = given['stp'] !== undefined;
  const isSwitch = given['openflow'] !== undefined || given['gptp'] !== undefined;
  const isAlone = isBridge || isSwitch || (given['lag'] !== undefined && Object.keys(given).length === 1);
  const isPort = given['dot1x'] !== undefined && Object.keys(given).every((name) => besideDot1x.has(name));
  if (!isPpp && !isIpoe && !isAlone && !isPort)
    refuse('', 'needs a profile of ipoe, dhcp, pppoe, ppp or l2tp: how subscribers come in');
  if (side === 'client' && isPpp && isIpoe)
    refuse(
      `/${['ipoe', 'dhcp'].find((name) => given[name])}/0`,
      'sessions have either PPP or no PPP: use one entry for each',
    );
  const needed: Protocol[] = [
    ...(side === 'client' && !isAlone ? (['sessions'] as const) : []),
    ...(isIpoe && !isBridge ? (['ipoe', 'dhcp'] as const) : []),
    ...(isPpp && !isBridge ? (['ppp'] as const) : []),
    ...(isPpp && !isBridge && given['l2tp'] === undefined ? (['pppoe'] as const) : []),
  ];
  const profiles: Record<string, unknown[]> = { ...given };
  for (const protocol of needed) profiles[protocol] ??= [defaultProfile(protocol)];
  const ipv6 = configOf(profiles, 'ipoe')?.ipv6;
  if (ipv6?.enabled && ipv6.method === 'dhcpv6') profiles['dhcpv6'] ??= [defaultProfile('dhcpv6')];
  for (const [pointer, message] of refusalsOf(profiles, found)) refuse(pointer, message);
  return isPossible ? profiles : undefined;
};

/** What agents cannot do with these profiles. */
const refusalsOf = (profiles: Given, { entry, machineAddresses }: Found): Refusal[] => {
  const side = entry.isServer ? 'server' : 'client';
  return [
    ...memberRefusals(profiles),
    ...portRefusals(profiles, side),
    ...tunnelRefusals(profiles, entry, machineAddresses),
    ...(side === 'server' ? radiusRefusals(profiles) : []),
    ...bridgeRefusals(configOf(profiles, 'stp'), Object.keys(profiles)),
    ...switchRefusals(profiles),
    ...clockRefusals(profiles, entry.interfaces?.length ?? 1),
    ...groupOfLinksRefusals(profiles, entry.interfaces?.length ?? 1),
    ...ipv6Refusals(profiles),
    ...pppIpv6Refusals(profiles, side),
    ...groupRefusals(profiles),
    ...(side === 'client' ? lineRefusals(profiles) : []),
    ...vlanRefusals(profiles, side),
  ];
};

/** The time is a byte of tenths of seconds. */
const maxKeepaliveSec = 25;

/** Members whose values agents cannot do. */
const memberRefusals = (profiles: Given): Refusal[] => {
  const [accessLine, dhcp, ppp] = [
    configOf(profiles, 'accessLine'),
    configOf(profiles, 'dhcp'),
    configOf(profiles, 'ppp'),
  ];
  const cases: [boolean | undefined, Refusal][] = [
    [
      accessLine?.ancp.enabled && accessLine.ancp.keepaliveSec > maxKeepaliveSec,
      ['/accessLine/0', `/ancp/keepaliveSec: messages of ANCP have room for ${maxKeepaliveSec} s`],
    ],
    [dhcp?.relay.gatewayAddress?.includes(':'), ['/dhcp/0', '/relay/gatewayAddress: must be an IPv4 address']],
    [ppp?.ipcp.address?.includes(':'), ['/ppp/0', '/ipcp/address: must be an IPv4 address']],
    [ppp && !ppp.ipcp.enabled && !ppp.ip6cp.enabled, ['/ppp/0', '/ipcp/enabled: sessions need IPv4 or IPv6']],
  ];
  return cases.flatMap(([isAsked, refusal]) => (isAsked ? [refusal] : []));
};

/** Authentication of ports. */
const portRefusals = (profiles: Given, side: 'client' | 'server'): Refusal[] => {
  const dot1x = configOf(profiles, 'dot1x');
  if (dot1x === undefined) return [];
  const { method, outerIdentity, certificateID, caCertificateID } = dot1x.supplicant;
  const isChecked = side === 'server' && dot1x.authenticator.decision !== 'radius';
  const isMd5 = side === 'client' && method === 'md5';
  const cases: [boolean, string][] = [
    [method !== 'md5' && isChecked, '/supplicant/method: an authenticator of ours checks md5; others need RADIUS'],
    [isMd5 && outerIdentity !== '', '/supplicant/outerIdentity: md5 has no tunnel'],
    [side === 'client' && method !== 'tls' && certificateID !== undefined, '/supplicant/certificateID: belongs to tls'],
    [side === 'client' && method === 'tls' && certificateID === undefined, '/supplicant/certificateID: is needed'],
    [isMd5 && caCertificateID !== undefined, '/supplicant/caCertificateID: md5 has no certificates'],
    [side === 'server' && dot1x.authenticator.vlan > 0, '/authenticator/vlan: EAPOL has no message for it'],
  ];
  return cases.flatMap(([isAsked, message]): Refusal[] => (isAsked ? [['/dot1x/0', message]] : []));
};

/** RADIUS servers behind a gateway. */
const radiusRefusals = (profiles: Given): Refusal[] => {
  const [ppp, dot1x, dhcp] = [configOf(profiles, 'ppp'), configOf(profiles, 'dot1x'), configOf(profiles, 'dhcp')];
  const used = [
    ...(dhcp?.server.decision === 'radius' ? [['dhcp', dhcp.radius] as const] : []),
    ...(ppp?.server.decision === 'radius' ? [['ppp', ppp.radius] as const] : []),
    ...(dot1x?.authenticator.decision === 'radius' ? [['dot1x', dot1x.radius] as const] : []),
  ];
  const [first] = used;
  const other = used.find(([, server]) => !isDeepStrictEqual(server, first?.[1]));
  return [
    ...used.flatMap(([protocol, { secret }]): Refusal[] =>
      secret === '' ? [[`/${protocol}/0`, '/radius/secret: is needed for the decision radius']] : [],
    ),
    ...(other !== undefined
      ? [[`/${other[0]}/0`, `/radius: the profile of ${first?.[0]} names another server`] as const]
      : []),
    ...(dhcp?.server.decision === 'radius' && configOf(profiles, 'ipoe')?.ipv6.enabled
      ? [['/ipoe/0', '/ipv6/enabled: RADIUS decides about DHCP alone, not about IPv6'] as const]
      : []),
    ...((ppp?.server.pools.length ?? 0) > 0 && ppp?.server.decision !== 'radius'
      ? [['/ppp/0', '/server/pools: only RADIUS chooses among pools'] as const]
      : []),
  ];
};

/** OpenFlow switches have an entry of their own. */
const switchRefusals = (profiles: Given): Refusal[] => {
  const openflow = configOf(profiles, 'openflow');
  if (openflow === undefined) return [];
  const { channel, load, switch: own } = openflow;
  const other = Object.keys(profiles).find((protocol) => protocol !== 'openflow');
  const links = { none: 0, line: 2, ring: 2, star: own.count - 1, mesh: own.count - 1 }[load.topology];
  const needed = own.count < 2 ? 0 : Math.min(links, own.count - 1);
  const cases: [boolean, Refusal][] = [
    [other !== undefined, [`/${other}/0`, 'switches of openflow have an entry of their own']],
    [
      channel.tls && channel.controllerAddress === undefined,
      ['/openflow/0', '/channel/tls: switches that wait for their controller have no certificate'],
    ],
    [
      needed + (load.hosts > 0 ? 1 : 0) > own.ports,
      ['/openflow/0', `/switch/ports: the topology needs ${needed} ports, and hosts one more`],
    ],
  ];
  return cases.flatMap(([isAsked, refusal]) => (isAsked ? [refusal] : []));
};

/** A clock has an entry of its own. */
const clockRefusals = (profiles: Given, interfaces: number): Refusal[] => {
  if (profiles['gptp'] === undefined) return [];
  const other = Object.keys(profiles).find((protocol) => protocol !== 'gptp');
  return [
    ...(other !== undefined ? [[`/${other}/0`, 'a clock of gptp has an entry of its own'] as const] : []),
    ...(interfaces > 1
      ? [['/interfaces/1', 'a clock of gptp has one interface: use one entry for each'] as const]
      : []),
  ];
};

/** Interfaces of the entry that form one group. */
const groupOfLinksRefusals = (profiles: Given, links: number): Refusal[] => {
  const lag = configOf(profiles, 'lag');
  if (lag === undefined) return [];
  const { minActiveLinks, maxActiveLinks } = lag.group;
  const cases: [boolean, string][] = [
    [minActiveLinks > links, `/group/minActiveLinks: the entry has ${links} interfaces`],
    [minActiveLinks > maxActiveLinks, '/group/minActiveLinks: is more than /group/maxActiveLinks'],
  ];
  return cases.flatMap(([isAsked, message]): Refusal[] => (isAsked ? [['/lag/0', message]] : []));
};

/** IPv6 of sessions. */
const ipv6Refusals = (profiles: Given): Refusal[] => {
  const [ipoe, dhcpv6, sessions] = [
    configOf(profiles, 'ipoe'),
    configOf(profiles, 'dhcpv6'),
    configOf(profiles, 'sessions'),
  ];
  const { client, server } = dhcpv6 ?? {};
  const hasPpp6 = configOf(profiles, 'ppp')?.ip6cp.enabled ?? false;
  const networkLength = Number(server?.delegatedFrom.split('/')[1] ?? 0);
  const cases: [boolean | undefined, Refusal][] = [
    [
      dhcpv6 && !hasPpp6 && !(ipoe?.ipv6.enabled && ipoe.ipv6.method === 'dhcpv6'),
      ['/dhcpv6/0', 'needs ipoe with /ipv6/enabled and /ipv6/method dhcpv6, or ppp with /ip6cp/enabled'],
    ],
    [ipoe && !ipoe.ipv4.enabled && !ipoe.ipv6.enabled, ['/ipoe/0', '/ipv4/enabled: sessions need IPv4 or IPv6']],
    [
      client && !client.address && !client.prefix,
      ['/dhcpv6/0', '/client/address: sessions need an address or a prefix'],
    ],
    [
      server && server.delegatedLength < networkLength,
      ['/dhcpv6/0', `/server/delegatedLength: is shorter than the ${networkLength} bits of /server/delegatedFrom`],
    ],
    [
      (sessions?.traffic.ipv6PacketsPerSec ?? 0) > 0 && !hasPpp6 && !ipoe?.ipv6.enabled,
      ['/sessions/0', '/traffic/ipv6PacketsPerSec: needs ipoe with /ipv6/enabled, or ppp with /ip6cp/enabled'],
    ],
  ];
  return cases.flatMap(([isAsked, refusal]) => (isAsked ? [refusal] : []));
};

/** DHCPv6 inside PPP. */
const pppIpv6Refusals = (profiles: Given, side: 'client' | 'server'): Refusal[] => {
  const dhcpv6 = configOf(profiles, 'dhcpv6');
  if (dhcpv6 === undefined || configOf(profiles, 'ppp') === undefined) return [];
  const isShared = side === 'server' && profiles['pppoe'] !== undefined && profiles['l2tp'] !== undefined;
  const cases: [boolean, string][] = [
    [side === 'client' && dhcpv6.relay.enabled, '/relay/enabled: there is no access node inside PPP'],
    [isShared && !configOf(profiles, 'ipoe')?.ipv6.enabled, 'pppoe and l2tp cannot share its pools: use two entries'],
  ];
  return cases.flatMap(([isAsked, message]): Refusal[] => (isAsked ? [['/dhcpv6/0', message]] : []));
};

/** Memberships that an agent keeps at most. */
const maxMemberships = 2_000_000;

/** Multicast groups of sessions. */
const groupRefusals = (profiles: Given): Refusal[] => {
  const igmp = configOf(profiles, 'igmp');
  if (igmp === undefined) return [];
  const { host, join } = igmp;
  const numberOf = (text: string) => text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
  const first = numberOf(host.groupStart);
  const last = first + (host.groupCount - 1) * host.groupStep;
  const hosts = configOf(profiles, 'sessions')?.load.count ?? 0;
  const hasIpv4 = configOf(profiles, 'ipoe')?.ipv4.enabled ?? configOf(profiles, 'ppp')?.ipcp.enabled;
  const cases: [boolean, string][] = [
    [host.version < 3 && host.sources.length > 0, '/host/sources: versions below 3 have no sources'],
    [host.filter === 'include' && host.sources.length === 0, '/host/filter: include needs sources to join'],
    [
      first < numberOf('224.0.1.0') || last > numberOf('239.255.255.255'),
      '/host/groupStart: groups are from 224.0.1.0 to 239.255.255.255',
    ],
    [
      hosts * Math.min(join.groupsPerHost, host.groupCount) > maxMemberships,
      `/join/groupsPerHost: ${maxMemberships} memberships are the maximum of an entry`,
    ],
    [hasIpv4 === false, '/host: sessions that join groups need IPv4'],
  ];
  return cases.flatMap(([isAsked, message]): Refusal[] => (isAsked ? [['/igmp/0', message]] : []));
};

/** An entry with an access line has its identity from there. */
const lineRefusals = (profiles: Given): Refusal[] => {
  const line = configOf(profiles, 'accessLine')?.line;
  if (line === undefined) return [];
  const both = [
    ['circuitId', 'circuitId'],
    ['remoteId', 'remoteId'],
  ] as const;
  const described = [
    ['dhcp', 'relay', both],
    [
      'dhcpv6',
      'relay',
      [
        ['interfaceId', 'circuitId'],
        ['remoteId', 'remoteId'],
      ],
    ],
    ['pppoe', 'accessLine', both],
  ] as const;
  return described.flatMap(([protocol, section, names]) => {
    const sectionOf = (config: unknown) => (config as Record<string, Record<string, string>> | undefined)?.[section];
    const [own, byDefault] = [sectionOf(profiles[protocol]?.[0]), sectionOf(defaultProfile(protocol))];
    return names.flatMap(([name, lineName]): Refusal[] => {
      const isOther = own !== undefined && own[name] !== byDefault?.[name] && own[name] !== line[lineName];
      return isOther ? [[`/${protocol}/0`, `/${section}/${name}: the access line of the entry says otherwise`]] : [];
    });
  });
};

/** VLANs: one description of them, and enough of them. */
const vlanRefusals = (profiles: Given, side: 'client' | 'server'): Refusal[] => {
  const [accessLine, links] = [configOf(profiles, 'accessLine'), configOf(profiles, 'links')];
  if (accessLine === undefined || side === 'server') return [];
  const { mode, outerStart, outerEnd, innerStart, innerEnd } = accessLine.vlan;
  const size = (start: number, end: number) => (start === 0 ? 1 : Math.max(end - start + 1, 0));
  const vlans = size(outerStart, outerEnd) * size(innerStart, innerEnd);
  const count = configOf(profiles, 'sessions')?.load.count ?? 0;
  const isTagged = links !== undefined && (links.vlan.outer > 0 || links.vlan.inner > 0);
  return [
    ...(mode === '1:1' && count > vlans
      ? [['/accessLine/0', `/vlan: has ${vlans} VLANs for ${count} sessions of one each`] as const]
      : []),
    ...(isTagged ? [['/links/0', '/vlan: the access line describes the tags already'] as const] : []),
  ];
};
