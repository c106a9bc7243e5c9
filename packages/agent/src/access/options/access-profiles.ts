import { parseAddress } from '@rushhour/wire';
import type { GptpProfile, OpenFlowProfile } from '../switches/switch-profiles.ts';

/** `{n}` in texts of profiles is the number of the session, from 1 on. */
const numberMark = '{n}';
const encoder = new TextEncoder();

/** Sections of the profiles that the engine uses, defaults applied by the controller. */
export interface Profiles {
  readonly accessLine?: AccessLineProfile;
  readonly links?: LinksProfile;
  readonly lag?: LagProfile;
  readonly stp?: StpProfile;
  readonly openflow?: OpenFlowProfile;
  readonly gptp?: GptpProfile;
  readonly sessions?: SessionsProfile;
  readonly dot1x?: Dot1xProfile;
  readonly ipoe?: IpoeProfile;
  readonly dhcp?: DhcpProfile;
  readonly dhcpv6?: Dhcpv6Profile;
  readonly igmp?: IgmpProfile;
  readonly pppoe?: PppoeProfile;
  readonly ppp?: PppProfile;
  readonly l2tp?: L2tpProfile;
  /** PPP in tunnels, where it is not that of PPPoE. */
  readonly l2tpPpp?: PppProfile;
}

export interface AccessLineProfile {
  readonly line: {
    readonly circuitId: string;
    readonly remoteId: string;
    readonly kind: string;
    readonly upstreamKbps: number;
    readonly downstreamKbps: number;
  };
  readonly vlan: {
    readonly mode: '1:1' | 'n:1' | 'untagged';
    readonly outerStart: number;
    readonly outerEnd: number;
    readonly innerStart: number;
    readonly innerEnd: number;
    readonly outerTpid: string;
    readonly priority: number;
  };
  readonly ancp: {
    readonly enabled: boolean;
    readonly peerAddress: string;
    readonly port: number;
    readonly keepaliveSec: number;
  };
}

export interface LinksProfile {
  readonly link: {
    readonly mtu: number;
    readonly sourceMac?: string;
    readonly macStep: number;
    readonly txBurst: number;
    readonly txIntervalUs: number;
  };
  readonly vlan: { readonly outer: number; readonly inner: number; readonly priority: number };
  readonly flaps: { readonly intervalSec: number; readonly downSec: number; readonly count: number };
}

export interface LagProfile {
  readonly lacp: {
    readonly mode: 'active' | 'passive' | 'static';
    readonly timeout: 'short' | 'long';
    readonly systemPriority: number;
    readonly systemId?: string;
    readonly portPriority: number;
    readonly key: number;
  };
  readonly group: {
    readonly minActiveLinks: number;
    readonly maxActiveLinks: number;
    readonly hash: 'layer3+4' | 'layer2' | 'layer2+3' | 'round-robin';
  };
  readonly flaps: LinksProfile['flaps'];
}

export interface StpProfile {
  readonly bridge: {
    readonly version: 'rstp' | 'stp' | 'mstp';
    readonly priority: number;
    readonly address?: string;
    readonly helloSec: number;
    readonly maxAgeSec: number;
    readonly forwardDelaySec: number;
    readonly txHoldCount: number;
  };
  readonly port: {
    readonly priority: number;
    readonly pathCost: number;
    readonly edge: boolean;
    readonly pointToPoint: boolean;
  };
  readonly mst: {
    readonly region: string;
    readonly revision: number;
    readonly instances: readonly { readonly id: number; readonly vlans: string; readonly priority: number }[];
  };
  readonly events: { readonly topologyChangeSec: number; readonly claimRootSec: number };
}

export interface Dot1xProfile {
  readonly supplicant: {
    readonly method: 'peap-mschapv2' | 'md5' | 'ttls-pap' | 'ttls-mschapv2' | 'tls';
    readonly outerIdentity: string;
    /** Of the client, as PEM, with its key. */
    readonly certificate?: string;
    readonly privateKey?: string;
    /** Authorities that the server must be signed by, as PEM. */
    readonly ca?: string;
    readonly identity: string;
    readonly password: string;
    readonly version: number;
    readonly logoff: boolean;
  };
  readonly timers: {
    readonly startPeriodSec: number;
    readonly maxStart: number;
    readonly authPeriodSec: number;
    readonly heldPeriodSec: number;
    readonly reauthSec: number;
  };
  readonly authenticator: {
    readonly decision: 'check' | 'accept' | 'reject' | 'radius';
    readonly groupAddress?: string;
    readonly rejectPct: number;
  };
  readonly radius: RadiusProfile;
}

/** The RADIUS server of a section. */
export interface RadiusProfile {
  readonly address: string;
  readonly port: number;
  readonly secret: string;
  readonly timeoutSec: number;
  readonly attempts: number;
  readonly nasIdentifier: string;
  readonly accounting: boolean;
  readonly accountingPort: number;
  readonly interimSec: number;
}

export interface SessionsProfile {
  readonly load: {
    readonly count: number;
    readonly startPerSec: number;
    readonly stopPerSec: number;
    readonly maxOutstanding: number;
    readonly startDelaySec: number;
  };
  readonly life: {
    readonly holdSec: number;
    readonly reconnect: boolean;
    readonly reconnectDelaySec: number;
    readonly maxAttempts: number;
  };
  readonly traffic: {
    readonly ipv4PacketsPerSec: number;
    readonly ipv6PacketsPerSec: number;
    readonly dscp: number;
    readonly label: string;
  };
}

export interface IpoeProfile {
  readonly ipv4: {
    readonly enabled: boolean;
    readonly method: 'dhcp' | 'static';
    readonly addressStart: string;
    readonly gateway: string;
    readonly addressStep: number;
  };
  readonly ipv6: {
    readonly enabled: boolean;
    readonly method: 'dhcpv6' | 'slaac' | 'static';
    readonly addressStart: string;
    readonly gateway: string;
  };
  readonly neighbours: {
    readonly timeoutSec: number;
    readonly intervalSec: number;
    readonly retries: number;
    readonly trustedGateways: readonly string[];
  };
}

export interface DhcpProfile {
  readonly client: {
    readonly timeoutSec: number;
    readonly retries: number;
    readonly broadcast: boolean;
    readonly rapidCommit: boolean;
    readonly hostName: string;
    readonly vendorClass: string;
    readonly clientId: 'mac' | 'duid' | 'none';
    readonly parameters: readonly number[];
    readonly release: boolean;
    readonly renewPct: number;
  };
  readonly relay: {
    readonly enabled: boolean;
    readonly circuitId: string;
    readonly remoteId: string;
    readonly gatewayAddress?: string;
  };
  readonly server: {
    readonly decision: 'accept' | 'radius';
    readonly poolStart: string;
    readonly poolSize: number;
    readonly netmask: string;
    readonly router: string;
    readonly leaseSec: number;
    readonly dnsServers: readonly string[];
    readonly domain: string;
    readonly setupPerSec: number;
    readonly answerDelayMs: number;
  };
  readonly radius: RadiusProfile;
}

export interface Dhcpv6Profile {
  readonly client: {
    readonly timeoutSec: number;
    readonly retries: number;
    readonly address: boolean;
    readonly prefix: boolean;
    readonly prefixLength: number;
    readonly rapidCommit: boolean;
    readonly reconfigure: boolean;
    readonly duid: 'll' | 'llt' | 'uuid';
    readonly release: boolean;
  };
  readonly relay: { readonly enabled: boolean; readonly interfaceId: string; readonly remoteId: string };
  readonly server: {
    readonly poolStart: string;
    readonly poolSize: number;
    readonly delegatedFrom: string;
    readonly delegatedLength: number;
    readonly preferredSec: number;
    readonly validSec: number;
    readonly reconfigureSec: number;
    readonly dnsServers: readonly string[];
    readonly domain: string;
  };
}

export interface IgmpProfile {
  readonly host: {
    readonly version: number;
    readonly groupStart: string;
    readonly sources: readonly string[];
    readonly groupCount: number;
    readonly groupStep: number;
    readonly filter: 'exclude' | 'include';
    readonly robustness: number;
    readonly reportDelayMs: number;
  };
  readonly join: {
    readonly autostart: boolean;
    readonly delaySec: number;
    readonly joinsPerSec: number;
    readonly groupsPerHost: number;
  };
  readonly zapping: {
    readonly intervalSec: number;
    readonly count: number;
    readonly pauseSec: number;
    readonly waitMs: number;
    readonly overlapMs: number;
  };
}

export interface PppoeProfile {
  readonly discovery: {
    readonly serviceName: string;
    readonly acName: string;
    readonly timeoutSec: number;
    readonly retries: number;
    readonly hostUniq: boolean;
    readonly maxPayload: number;
    readonly vlanPriority: number;
  };
  readonly accessLine: { readonly enabled: boolean; readonly circuitId: string; readonly remoteId: string };
  readonly server: {
    readonly acName: string;
    readonly serviceName: string;
    readonly cookie: boolean;
    readonly maxSessions: number;
    readonly setupPerSec: number;
    readonly answerDelayMs: number;
  };
}

export interface PppProfile {
  readonly lcp: {
    readonly mru: number;
    readonly timeoutSec: number;
    readonly retries: number;
    readonly magicNumber: boolean;
    readonly echoSec: number;
    readonly echoRetries: number;
    readonly vendorExtensions: boolean;
  };
  readonly auth: {
    readonly protocol: 'any' | 'chap' | 'pap' | 'mschapv2' | 'none';
    readonly username: string;
    readonly password: string;
    readonly timeoutSec: number;
    readonly retries: number;
  };
  readonly ipcp: { readonly enabled: boolean; readonly address?: string; readonly requestDns: boolean };
  readonly ip6cp: { readonly enabled: boolean; readonly autoconfigure: boolean };
  readonly server: {
    readonly decision: 'check' | 'accept' | 'radius';
    readonly localAddress: string;
    readonly poolStart: string;
    readonly poolSize: number;
    readonly pools: readonly { readonly name: string; readonly start: string; readonly size: number }[];
    readonly dns1: string;
    readonly dns2: string;
  };
  readonly radius: RadiusProfile;
}

export interface L2tpProfile {
  readonly tunnel: {
    readonly hostName: string;
    readonly localAddress?: string;
    readonly peerAddress?: string;
    readonly secret: string;
    readonly helloSec: number;
    readonly receiveWindow: number;
    readonly timeoutSec: number;
    readonly retries: number;
    readonly tosOfControl: number;
  };
  readonly session: {
    readonly maxPerTunnel: number;
    readonly dataSequencing: boolean;
    readonly proxyAuth: boolean;
    readonly dataLength: boolean;
  };
  readonly server: { readonly maxSessions: number; readonly setupPerSec: number };
}

/** The first profile of each protocol. */
export const firstProfiles = (profiles: Readonly<Record<string, readonly unknown[]>>): Profiles =>
  Object.fromEntries(Object.entries(profiles).map(([protocol, [first]]) => [protocol, first])) as Profiles;

export const requireProfile = <Name extends keyof Profiles>(
  profiles: Profiles,
  name: Name,
): NonNullable<Profiles[Name]> => {
  const found = profiles[name];
  if (found === undefined) throw new RangeError(`a profile of ${name} is needed`);
  return found;
};

export const address4 = (text: string): number => parseAddress(text)[3] as number;

export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** The text of a session, counted from 0. */
export const textOf = (pattern: string, session: number): string => pattern.replaceAll(numberMark, String(session + 1));

/** The bytes of the text of a session. */
export const numberedBytes =
  (pattern: string, first: number): ((session: number) => Uint8Array) =>
  (session) =>
    bytesOf(textOf(pattern, first + session));

/** Finds the session whose user name a text is, counted from 1 on; 0 if the pattern has no number; -1: none. */
export const numberIn = (pattern: string, text: string): number => {
  const at = pattern.indexOf(numberMark);
  if (at < 0) return pattern === text ? 0 : -1;
  const [before, after] = [pattern.slice(0, at), pattern.slice(at + numberMark.length)];
  if (!text.startsWith(before) || !text.endsWith(after) || text.length < before.length + after.length) return -1;
  const digits = text.slice(before.length, text.length - after.length);
  return /^[1-9]\d*$/.test(digits) ? Number(digits) : -1;
};
