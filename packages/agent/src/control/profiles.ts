// Profiles of protocols as dictionaries of type `protocol.<name>` hold them, with all defaults applied.
import type { AreaKind, BgpFamilyName, TopologyKind } from '@rushhour/wire';

interface Flaps {
  readonly intervalSec: number;
  readonly downSec: number;
  readonly count: number;
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
  readonly churn: { readonly intervalSec: number; readonly sharePct: number; readonly downSec: number };
  readonly flaps: Flaps;
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
    readonly network: 'point-to-point' | 'broadcast' | 'non-broadcast' | 'point-to-multipoint';
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

export interface IgmpQuerierProfile {
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
    readonly labelStart: number;
    readonly implicitNull: boolean;
  };
  readonly flaps: Flaps;
}
