import {
  type BgpFamily,
  type BgpFamilyName,
  type BgpSessionOptions,
  type BgpWires,
  bytesOfAddress,
  createPrefixSource,
  EvpnRoutes,
  familyOf,
  type ImportedTable,
  nextHopOf,
  type OpeningQueue,
  type PathAttributes,
  parseAddress,
  type RouteSource,
  VplsSites,
  VpwsWires,
} from '@rushhour/wire';
import type { BgpProfile, EvpnProfile, VplsProfile, VpwsProfile } from '../routers/profiles.ts';
import type { InstanceOptions } from '../routers/router.ts';

export interface BgpInstanceOptions extends InstanceOptions<BgpProfile> {
  /** Profiles of EVPN of the router, with its number among the routers that have them. */
  readonly evpn: readonly { readonly profile: EvpnProfile; readonly ordinal: number }[];
  /** The same of VPWS, and of VPLS that BGP signals. */
  readonly vpws: readonly { readonly profile: VpwsProfile; readonly ordinal: number }[];
  readonly vpls: readonly { readonly profile: VplsProfile; readonly ordinal: number }[];
  /** Connections to the neighbour, of all routers. */
  readonly openings: OpeningQueue;
}

/** The last 32 bits of an address. */
const lowWord = (text: string): number => (parseAddress(text)[3] as number) >>> 0;

/** Router ids of routers with the same profile follow each other. */
export const routerIdOf = (configured: string | undefined, local: string, ordinal: number): number =>
  configured === undefined ? lowWord(local) : (lowWord(configured) + ordinal) >>> 0;

const originNumbers = { igp: 0, egp: 1, incomplete: 2 } as const;

const communityOf = (text: string): number => {
  const [left = '', right = ''] = text.split(':');
  const high = left.includes('.') ? lowWord(left) : Number(left);
  if (high > 0xffff || Number(right) > 0xffff) throw new RangeError(`community ${text} has a part above 65535`);
  return ((high << 16) | Number(right)) >>> 0;
};

/** Extended communities: the route target of VPN routes, and the action of flow specifications: drop. */
const extendedOf = ({ form }: BgpFamily, localAs: number): Uint8Array[] => {
  if (form === 'flowspec') return [Uint8Array.of(0x80, 0x06, 0, 0, 0, 0, 0, 0)];
  if (form !== 'vpn') return [];
  const target = new Uint8Array(8);
  const view = new DataView(target.buffer);
  const isWide = localAs > 0xffff;
  view.setUint16(0, isWide ? 0x0202 : 0x0002);
  if (isWide) view.setUint32(2, localAs);
  else view.setUint16(2, localAs);
  if (isWide) view.setUint16(6, 1);
  else view.setUint32(4, 1);
  return [target];
};

const attributesOf = ({ session, routes }: BgpProfile, family: BgpFamily): PathAttributes => {
  const isInternal = session.localAs === session.peerAs;
  return {
    origin: originNumbers[routes.origin],
    asPath: isInternal ? routes.asPath : [session.localAs, ...routes.asPath],
    med: routes.med,
    localPreference: isInternal ? routes.localPreference : undefined,
    communities: routes.communities.map(communityOf),
    extendedCommunities: extendedOf(family, session.localAs),
  };
};

/** Next hop of a family: the one of the profile where its version fits, else the own address. */
const hopOf = (family: BgpFamily, { routes, capabilities }: BgpProfile, local: string): Uint8Array => {
  const given = routes.nextHop ?? local;
  const bytes = bytesOfAddress(given);
  if (family.addressBits === 32) {
    if (bytes.length === 4 || capabilities.extendedNextHop) return nextHopOf(family, bytes);
    throw new RangeError(`IPv4 routes of ${local} need an IPv4 next hop or the extended next hop`);
  }
  if (bytes.length === 16) return nextHopOf(family, bytes);
  const mapped = new Uint8Array(16);
  mapped.fill(255, 10, 12);
  mapped.set(bytes, 12);
  return nextHopOf(family, mapped);
};

const sourcesOf = (options: InstanceOptions<BgpProfile>, routerId: number): RouteSource[] => {
  const { profile, ordinal, router } = options;
  const { routes, capabilities } = profile;
  const distinguisher = new Uint8Array(8);
  new DataView(distinguisher.buffer).setUint16(0, 1);
  new DataView(distinguisher.buffer).setUint32(2, routerId);
  new DataView(distinguisher.buffer).setUint16(6, 1);
  return capabilities.families.map(familyOf).flatMap((family) => {
    if (family.form === 'vpls' || family.form === 'evpn') return [];
    const isV4 = family.addressBits === 32;
    const count = isV4 ? routes.ipv4Count : routes.ipv6Count;
    if (count === 0) return [];
    return createPrefixSource({
      family,
      first: isV4 ? routes.ipv4Start : routes.ipv6Start,
      offset: ordinal * count,
      count,
      nextHop: hopOf(family, profile, router.address),
      attributes: attributesOf(profile, family),
      distinguisher,
    });
  });
};

/** Routes of the router for each of its profiles of EVPN; none without the family. */
export const evpnRoutesOf = (
  { profile, router, ordinal, evpn }: BgpInstanceOptions,
  mac: Uint8Array,
): (BgpInstanceOptions['evpn'][number] & { readonly routes: EvpnRoutes })[] => {
  const { session, capabilities, routes } = profile;
  if (!capabilities.families.includes('l2vpn-evpn')) return [];
  const id = routerIdOf(session.routerId, router.address, ordinal);
  const address = bytesOfAddress(routes.nextHop ?? router.address);
  return evpn.map((one) => ({
    ...one,
    routes: new EvpnRoutes({
      ...one.profile,
      router: { ordinal: one.ordinal, id, as: session.localAs, address, mac },
      attributes: attributesOf(profile, familyOf('l2vpn-evpn')),
    }),
  }));
};

/** What is announced for a profile of wires or sites. */
export interface CarriedWires {
  readonly protocol: 'vpws' | 'vpls';
  readonly wires: BgpWires;
  readonly flaps: VpwsProfile['flaps'];
}

/** Wires and sites of the router for each of its profiles whose family the session has. */
export const carriedWiresOf = ({ profile, router, ordinal, vpws, vpls }: BgpInstanceOptions): CarriedWires[] => {
  const { session, capabilities, routes } = profile;
  const has = (name: BgpFamilyName) => capabilities.families.includes(name);
  const id = routerIdOf(session.routerId, router.address, ordinal);
  const address = bytesOfAddress(routes.nextHop ?? router.address);
  const commonOf = (own: number, name: BgpFamilyName) => ({
    router: { ordinal: own, id, as: session.localAs, address },
    attributes: attributesOf(profile, familyOf(name)),
  });
  const wires = vpws.flatMap(({ profile: { instance, flaps }, ordinal: own }): CarriedWires[] => {
    const family = instance.signalling === 'evpn' ? 'l2vpn-evpn' : 'l2vpn-vpls';
    const carried = () => new VpwsWires({ instance, ...commonOf(own, family) });
    return has(family) ? [{ protocol: 'vpws', wires: carried(), flaps }] : [];
  });
  if (!has('l2vpn-vpls')) return wires;
  const sites = vpls.map(({ profile: { instance, sites: given, flaps }, ordinal: own }): CarriedWires => {
    const carried = new VplsSites({ instance, sites: given, ...commonOf(own, 'l2vpn-vpls') });
    return { protocol: 'vpls', wires: carried, flaps };
  });
  return [...wires, ...sites];
};

/** Routes of a file, as far as the session has their families. */
export const importedRoutesOf = ({ profile, router }: BgpInstanceOptions, table: ImportedTable): RouteSource[] => {
  const { localAs, peerAs } = profile.session;
  const families = profile.capabilities.families.map(familyOf);
  return table.sources({
    localAs,
    isInternal: localAs === peerAs,
    nextHopOf: (family) => (families.includes(family) ? hopOf(family, profile, router.address) : undefined),
  });
};

/** The session of a router as its profile describes it. `more`: announced besides the prefixes. */
export const bgpSessionOptions = (options: BgpInstanceOptions, more: readonly RouteSource[]): BgpSessionOptions => {
  const { profile, router, ordinal } = options;
  const { session, capabilities, routes } = profile;
  const families = capabilities.families.map(familyOf);
  const routerId = routerIdOf(session.routerId, router.address, ordinal);
  const { addPath, gracefulRestartSec } = capabilities;
  return {
    open: {
      as: session.localAs,
      holdSec: session.holdSec,
      routerId,
      capabilities: {
        families,
        fourByteAs: capabilities.fourByteAs,
        routeRefresh: capabilities.routeRefresh,
        extendedMessages: capabilities.extendedMessages,
        extendedNextHop: capabilities.extendedNextHop ? families.filter(({ afi }) => afi === 1) : [],
        addPath: {
          sends: addPath === 'send' || addPath === 'both' ? families : [],
          receives: addPath === 'receive' || addPath === 'both' ? families : [],
        },
        gracefulRestart:
          gracefulRestartSec === 0
            ? undefined
            : { restartSec: gracefulRestartSec, isRestarting: false, families, forwarded: [] },
      },
    },
    peerAs: session.peerAs,
    keepaliveMs: session.keepaliveSec * 1000,
    connectRetryMs: session.connectRetrySec * 1000,
    random: Math.random,
    openings: options.openings,
    isPassive: session.passive,
    sources: [...sourcesOf(options, routerId), ...more],
    pathsPerPrefix: routes.pathsPerPrefix,
    updatesPerSec: routes.updatesPerSec,
    sendsEndOfRib: routes.endOfRib,
  };
};
