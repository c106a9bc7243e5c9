// Profiles of protocols as dictionaries of type `protocol.<name>` hold them, with all defaults applied.
import type {
  AreaKind,
  BgpFamilyName,
  bfdAuthentication,
  EvpnOptions,
  OspfNetwork,
  TopologyKind,
  wireTypes,
} from '@rushhour/wire';

interface Flaps {
  readonly intervalSec: number;
  readonly downSec: number;
  readonly count: number;
}

/** Signatures of TCP segments. */
interface SignatureSection {
  readonly kind: 'none' | 'md5';
  readonly key: string;
}

export interface BgpProfile {
  readonly session: {
    readonly localAs: number;
    readonly peerAs: number;
    readonly localAddress?: string | undefined;
    readonly peerAddress?: string | undefined;
    readonly routerId?: string | undefined;
    readonly holdSec: number;
    readonly keepaliveSec: number;
    readonly connectRetrySec: number;
    readonly passive: boolean;
    readonly ttl: number;
    readonly bfd: boolean;
  };
  readonly capabilities: {
    readonly families: readonly BgpFamilyName[];
    readonly fourByteAs: boolean;
    readonly routeRefresh: boolean;
    readonly gracefulRestartSec: number;
    readonly addPath: 'none' | 'send' | 'receive' | 'both';
    readonly extendedMessages: boolean;
    readonly extendedNextHop: boolean;
  };
  readonly routes: {
    readonly ipv4Count: number;
    readonly ipv4Start: string;
    readonly ipv6Count: number;
    readonly ipv6Start: string;
    readonly nextHop?: string | undefined;
    readonly origin: 'igp' | 'egp' | 'incomplete';
    readonly localPreference: number;
    readonly med: number;
    readonly asPath: readonly number[];
    readonly communities: readonly string[];
    readonly pathsPerPrefix: number;
    readonly updatesPerSec: number;
    readonly endOfRib: boolean;
  };
  readonly imported: {
    /** Path of an MRT file. */
    readonly file?: string | undefined;
    readonly peerIndex?: number | undefined;
    readonly maxRoutes: number;
  };
  readonly churn: { readonly intervalSec: number; readonly sharePct: number; readonly downSec: number };
  readonly authentication: SignatureSection;
  readonly flaps: Flaps;
}

export interface EvpnProfile extends Pick<EvpnOptions, 'instance' | 'segment'> {
  readonly hosts: EvpnOptions['hosts'] & { readonly moveSec: number };
}

export interface BfdProfile {
  readonly session: {
    readonly kind: 'single-hop' | 'multi-hop' | 'micro' | 'seamless';
    readonly localAddress?: string | undefined;
    readonly peerAddress?: string | undefined;
    readonly txMs: number;
    readonly rxMs: number;
    readonly multiplier: number;
    readonly passive: boolean;
    readonly ttl: number;
    readonly echoMs: number;
    readonly demand: boolean;
  };
  readonly authentication: {
    readonly kind: 'none' | keyof typeof bfdAuthentication;
    readonly keyId: number;
    readonly key: string;
  };
  readonly flaps: Flaps;
}

interface Topology {
  readonly kind: TopologyKind;
  readonly nodes: number;
  readonly degree: number;
  readonly prefixesPerNode: number;
  readonly ipv4Start: string;
  readonly ipv6Start: string;
  readonly changeSec: number;
}

export interface IsisProfile {
  readonly instance: {
    readonly level: '1' | '2' | '1-2';
    readonly areas: readonly string[];
    readonly systemIdStart: string;
    readonly routerId?: string | undefined;
    readonly hostName: string;
    readonly protocols: readonly ('ipv4' | 'ipv6')[];
    readonly multiTopology: boolean;
    readonly overload: boolean;
    readonly lspLifetimeSec: number;
    readonly lspRefreshSec: number;
  };
  readonly interface: {
    readonly network: 'point-to-point' | 'broadcast';
    readonly helloSec: number;
    readonly holdMultiplier: number;
    readonly metric: number;
    readonly priority: number;
    readonly padding: boolean;
    readonly bfd: boolean;
    readonly csnpSec: number;
  };
  readonly segmentRouting: {
    readonly enabled: boolean;
    readonly blockStart: number;
    readonly blockSize: number;
    readonly nodeIndexStart: number;
  };
  readonly authentication: OspfProfile['authentication'];
  readonly topology: Topology;
  readonly flaps: Flaps;
}

export interface OspfProfile {
  readonly instance: {
    readonly version: number;
    readonly instanceId: number;
    readonly routerId?: string | undefined;
    readonly area: string;
    readonly areaKind: AreaKind;
    readonly overload: boolean;
  };
  readonly interface: {
    readonly network: OspfNetwork;
    readonly neighbours: readonly string[];
    readonly helloSec: number;
    readonly deadSec: number;
    readonly retransmitSec: number;
    readonly cost: number;
    readonly priority: number;
    readonly ignoreMtu: boolean;
    readonly bfd: boolean;
  };
  readonly authentication: {
    readonly kind: 'none' | 'simple' | 'md5' | 'hmac-sha-256';
    readonly keyId: number;
    readonly key: string;
  };
  readonly externals: {
    readonly count: number;
    readonly start: string;
    readonly ipv6Start: string;
    readonly metricKind: '1' | '2';
    readonly metric: number;
  };
  readonly topology: Topology;
  readonly flaps: Flaps;
}

export interface RipProfile {
  readonly instance: {
    readonly version: '1' | '2' | 'ng';
    readonly updateSec: number;
    readonly timeoutSec: number;
    readonly garbageSec: number;
    readonly send: 'multicast' | 'broadcast' | 'unicast';
    readonly splitHorizon: 'poisoned' | 'simple' | 'none';
  };
  readonly routes: {
    readonly ipv4Count: number;
    readonly ipv4Start: string;
    readonly ipv6Count: number;
    readonly ipv6Start: string;
    readonly metric: number;
    readonly tag: number;
  };
  readonly authentication: { readonly kind: 'none' | 'simple' | 'md5'; readonly keyId: number; readonly key: string };
}

/** Of IGMP and MLD. */
export interface QuerierProfile {
  readonly querier: {
    readonly version: number;
    readonly queryIntervalSec: number;
    readonly responseMs: number;
    readonly robustness: number;
    readonly startupCount: number;
    readonly lastMemberMs: number;
    readonly lastMemberCount: number;
    readonly routerAlert: boolean;
    readonly yieldToLower: boolean;
  };
}

export interface PimProfile {
  readonly interface: {
    readonly mode: 'sparse' | 'source-specific';
    readonly helloSec: number;
    readonly holdSec: number;
    readonly drPriority: number;
    readonly propagationDelayMs: number;
    readonly overrideMs: number;
    readonly generationId: boolean;
    readonly bfd: boolean;
  };
  readonly rendezvous: {
    readonly kind: 'static' | 'bootstrap' | 'none';
    readonly address?: string | undefined;
    readonly bootstrapPriority: number;
  };
  readonly joins: {
    readonly joinPruneSec: number;
    readonly groupStart?: string | undefined;
    readonly groupCount: number;
    readonly sources: readonly string[];
  };
  readonly registers: { readonly perSec: number; readonly nullRegister: boolean };
}

export interface LdpProfile {
  readonly session: {
    readonly lsrId?: string | undefined;
    readonly transportAddress?: string | undefined;
    readonly helloSec: number;
    readonly helloHoldSec: number;
    readonly keepaliveSec: number;
    readonly holdSec: number;
  };
  readonly targeted: {
    readonly peers: readonly string[];
    readonly helloSec: number;
    readonly holdSec: number;
    readonly accept: boolean;
  };
  readonly bindings: {
    readonly count: number;
    readonly start: string;
    readonly ipv6Count: number;
    readonly ipv6Start: string;
    readonly labelStart: number;
    readonly implicitNull: boolean;
  };
  readonly authentication: SignatureSection;
  readonly flaps: Flaps;
}

interface WireServiceSection {
  readonly count: number;
  readonly mtu: number;
  readonly controlWord: boolean;
  readonly labelStart: number;
}

export interface PseudowireProfile {
  readonly wire: WireServiceSection & {
    readonly peerAddress?: string | undefined;
    readonly idStart: number;
    readonly groupId: number;
    readonly kind: keyof typeof wireTypes;
  };
  readonly status: { readonly statusTlv: boolean; readonly backup: 'none' | 'primary' | 'backup' };
  readonly flaps: Flaps;
}

export interface VplsProfile {
  readonly instance: WireServiceSection & { readonly signalling: 'ldp' | 'bgp'; readonly vpnIdStart: number };
  readonly sites: {
    readonly siteIdStart: number;
    readonly blockSize: number;
    readonly routeDistinguisher?: string | undefined;
    readonly routeTargets: readonly string[];
  };
  readonly neighbours: { readonly peers: readonly string[]; readonly macWithdraw: boolean };
  readonly flaps: Flaps;
}

export interface VpwsProfile {
  readonly instance: WireServiceSection & {
    readonly signalling: 'evpn' | 'bgp';
    readonly localId: number;
    readonly remoteId: number;
    readonly routeDistinguisher?: string | undefined;
    readonly routeTargets: readonly string[];
  };
  readonly flaps: Flaps;
}

export interface Fec129Profile {
  readonly attachment: WireServiceSection & {
    readonly type: '1' | '2';
    readonly groupId: string;
    readonly sourceStart: number;
    readonly targetStart: number;
    readonly globalId: number;
    readonly prefix?: string | undefined;
  };
  readonly flaps: Flaps;
}

export interface MldpProfile {
  readonly tree: {
    readonly kind: 'point-to-multipoint' | 'multipoint-to-multipoint';
    readonly role: 'leaf' | 'root' | 'transit';
    readonly root: string;
    readonly count: number;
    readonly opaqueStart: number;
    readonly labelStart: number;
  };
  readonly service: { readonly groupStart: string; readonly source: string; readonly inBand: boolean };
  readonly resilience: { readonly makeBeforeBreakMs: number };
  readonly flaps: Flaps;
}

export interface MplsTpProfile {
  readonly path: {
    readonly count: number;
    readonly tunnelIdStart: number;
    readonly sourceNode: string;
    readonly destinationNode: string;
    readonly globalId: number;
    readonly labelInStart: number;
    readonly labelOutStart: number;
  };
  readonly oam: { readonly intervalMs: number; readonly multiplier: number; readonly lockInstruct: boolean };
  readonly flaps: Flaps;
}

export interface MplsOamProfile {
  readonly ping: {
    readonly target: 'ldp-ipv4' | 'generic-ipv4';
    readonly prefix: string;
    readonly prefixLength: number;
    readonly destination: string;
    readonly intervalMs: number;
    readonly timeoutMs: number;
    readonly count: number;
    readonly sizeBytes: number;
    readonly ttl: number;
    readonly trafficClass: number;
  };
  readonly reply: {
    readonly mode: 'ip' | 'router-alert' | 'none';
    readonly answer: boolean;
    readonly dscp: number;
  };
  readonly traceroute: { readonly enabled: boolean; readonly maxTtl: number };
  readonly bfd: {
    readonly enabled: boolean;
    readonly txMs: number;
    readonly rxMs: number;
    readonly multiplier: number;
  };
}

export interface LinkOamProfile {
  readonly discovery: {
    readonly mode: 'active' | 'passive';
    readonly pdusPerSec: number;
    readonly lostLinkMs: number;
    readonly maxPduBytes: number;
    readonly variables: boolean;
  };
  readonly frames: { readonly enabled: boolean; readonly windowMs: number; readonly threshold: number };
  readonly loopback: { readonly start: boolean; readonly durationSec: number };
  readonly events: {
    readonly kind: 'none' | 'link-fault' | 'dying-gasp' | 'critical';
    readonly intervalSec: number;
  };
}
