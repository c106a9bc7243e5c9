import { bytesOfHex } from '../../../bytes/memory.ts';
import { parseMac } from '../../../ethernet/ethernet.ts';
import { parseAddress } from '../../../ip/address.ts';
import { familyOf } from '../families.ts';
import { distinguisherOf, routeTargetOf } from '../route-distinguisher.ts';
import type { RouteSource } from '../route-source.ts';
import {
  electionCommunity,
  encapsulationCommunity,
  ingressReplication,
  mobilityCommunity,
  routerMacCommunity,
  segmentImportCommunity,
  segmentLabelCommunity,
} from './communities.ts';
import { checkEvpnOptions, type EvpnOptions } from './options.ts';
import { type EvpnRoute, esiBytes, everyTag, writeEvpnRoute } from './route.ts';

const family = familyOf('l2vpn-evpn');
/** Type, length and the longest route: a host with an IPv6 address and two labels, or an IPv6 prefix. */
const maxBytes = 2 + 58;
/** Targets that one message has room for. */
const maxTargets = 400;
const noEsi = new Uint8Array(esiBytes);
const noAddress = new Uint8Array(0);

const textOfId = (id: number): string => [24, 16, 8, 0].map((shift) => (id >>> shift) & 255).join('.');

const bytesOf = (value: number, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** (count - 1 - i)) % 256);

interface SourceParts {
  readonly count?: number;
  readonly communities: readonly Uint8Array[];
  readonly pmsiTunnel?: Uint8Array;
  routeOf(index: number): EvpnRoute;
}

/**
 * Routes of an emulated router in its EVPN instances, computed from their numbers. Hosts are numbered over all routers
 * of a profile: those of a router follow those of the one before it, unless all are at the same segment.
 */
export class EvpnRoutes {
  readonly #options: EvpnOptions;
  readonly #esi: Uint8Array;
  readonly #firstMac: number;
  readonly #firstAddress: number;

  /** Throws where routes cannot be numbered. */
  constructor(options: EvpnOptions) {
    checkEvpnOptions(options);
    const { identifier } = options.segment;
    this.#options = options;
    this.#esi = identifier === undefined ? noEsi : bytesOfHex(identifier.replaceAll(':', ''));
    this.#firstMac = parseMac(options.hosts.macStart).reduce((value, byte) => value * 256 + byte, 0);
    const { ipv4Start } = options.hosts;
    const bits = Number(ipv4Start.split('/')[1]);
    const network = (parseAddress(ipv4Start.split('/')[0] ?? '')[3] as number) >>> 0;
    this.#firstAddress = network - (network % 2 ** (32 - bits)) + 1;
  }

  /** Hosts of one router. */
  get hostsPerRouter(): number {
    return this.#options.instance.count * this.#options.hosts.perInstance;
  }

  /** Number of the first host of this router. */
  get firstHost(): number {
    return this.#options.segment.identifier === undefined ? this.#options.router.ordinal * this.hostsPerRouter : 0;
  }

  /** What is announced: by segment, then by instance. */
  sources(): RouteSource[] {
    const { count, routeTypes } = this.#options.instance;
    const has = (type: string) => routeTypes.includes(type);
    const sources = [...(has('4') ? [this.#segmentSource()] : []), ...(has('1') ? this.#segmentDiscovery() : [])];
    for (let i = 0; i < count; i++) {
      if (has('1')) sources.push(this.#discoverySource(i));
      if (has('3')) sources.push(this.#multicastSource(i));
      if (has('2') && this.#options.hosts.perInstance > 0) sources.push(this.#hostsSource(i));
      if (has('5')) sources.push(this.#prefixSource(i));
    }
    return sources;
  }

  /** The route of one host, of this or of another router, that has moved to this router for the `sequence`th time. */
  movedHost(host: number, sequence: number): RouteSource {
    const { perInstance } = this.#options.hosts;
    const i = Math.floor(host / perInstance) % this.#options.instance.count;
    return this.#source({
      communities: [...this.#communitiesOf(i), ...(sequence === 0 ? [] : [mobilityCommunity(sequence)])],
      routeOf: () => this.#hostRoute(i, host, this.#distinguisherOf(i)),
    });
  }

  #source({ count = 1, communities, pmsiTunnel, routeOf }: SourceParts): RouteSource {
    const { attributes, router } = this.#options;
    return {
      family,
      count,
      maxBytes,
      nextHop: router.address,
      attributes: {
        ...attributes,
        extendedCommunities: [...attributes.extendedCommunities, ...communities],
        pmsiTunnel,
      },
      write: (writer, index) => writeEvpnRoute(writer, routeOf(index)),
    };
  }

  #distinguisherOf(i: number): Uint8Array {
    const { routeDistinguisher } = this.#options.instance;
    const { id, ordinal } = this.#options.router;
    if (routeDistinguisher === undefined) return distinguisherOf(`${textOfId(id)}:1`, i);
    // Routers do not share distinguishers, so that routes to the same host stay apart.
    return distinguisherOf(routeDistinguisher, ordinal * this.#options.instance.count + i);
  }

  #targetsOf(i: number): readonly Uint8Array[] {
    const { routeTargets, idStart } = this.#options.instance;
    if (routeTargets.length > 0) return routeTargets.map((text) => routeTargetOf(text));
    // Of an AS number of four bytes the lower half is taken: a VNI finds no room behind the whole.
    return [routeTargetOf(`${this.#options.router.as & 0xffff}:${idStart + i}`)];
  }

  #communitiesOf(i: number): readonly Uint8Array[] {
    const { encapsulation } = this.#options.instance;
    return [...this.#targetsOf(i), ...(encapsulation === 'mpls' ? [] : [encapsulationCommunity(encapsulation)])];
  }

  /** VNI, or a label of MPLS with the bottom bit, as routes carry it. */
  #labelOf(i: number): number {
    const { encapsulation, idStart } = this.#options.instance;
    return encapsulation === 'mpls' ? ((idStart + i) << 4) | 1 : idStart + i;
  }

  #tagOf(i: number): number {
    const { service, vlanStart } = this.#options.instance;
    return service === 'vlan-aware' ? vlanStart + i : 0;
  }

  /** The router is at the segment: type 4, for the election. */
  #segmentSource(): RouteSource {
    const { router, segment } = this.#options;
    const election = segment.election === 'modulo' ? [] : [electionCommunity(segment.election, segment.preference)];
    const distinguisher = distinguisherOf(`${textOfId(router.id)}:0`);
    return this.#source({
      communities: [segmentImportCommunity(this.#esi), ...election],
      routeOf: () => ({ type: 4, distinguisher, esi: this.#esi, address: router.address }),
    });
  }

  /** Type 1 for the whole segment: as many routes as the targets of all instances need (RFC 7432, section 8.2). */
  #segmentDiscovery(): RouteSource[] {
    const { router, segment, instance } = this.#options;
    const targets = new Map<string, Uint8Array>();
    for (let i = 0; i < instance.count; i++)
      for (const target of this.#targetsOf(i)) targets.set(String(target), target);
    const all = [...targets.values()];
    const label = instance.encapsulation === 'mpls' ? this.#labelOf(instance.count) : 0;
    const tunnel = instance.encapsulation === 'mpls' ? [] : [encapsulationCommunity(instance.encapsulation)];
    const community = segmentLabelCommunity(label, segment.redundancy === 'single-active');
    return Array.from({ length: Math.ceil(all.length / maxTargets) }, (_, part) => {
      const distinguisher = distinguisherOf(`${textOfId(router.id)}:${part}`);
      return this.#source({
        communities: [...all.slice(part * maxTargets, (part + 1) * maxTargets), ...tunnel, community],
        routeOf: () => ({ type: 1, distinguisher, esi: this.#esi, tag: everyTag, label: 0 }),
      });
    });
  }

  /** Type 1 for an instance: hosts of the segment are behind this router, too. */
  #discoverySource(i: number): RouteSource {
    const distinguisher = this.#distinguisherOf(i);
    return this.#source({
      communities: this.#communitiesOf(i),
      routeOf: () => ({ type: 1, distinguisher, esi: this.#esi, tag: this.#tagOf(i), label: this.#labelOf(i) }),
    });
  }

  #multicastSource(i: number): RouteSource {
    const { router, instance } = this.#options;
    const distinguisher = this.#distinguisherOf(i);
    const label = instance.encapsulation === 'mpls' ? (instance.idStart + i) << 4 : this.#labelOf(i);
    return this.#source({
      communities: this.#communitiesOf(i),
      pmsiTunnel: ingressReplication(label, router.address),
      routeOf: () => ({ type: 3, distinguisher, tag: this.#tagOf(i), address: router.address }),
    });
  }

  #hostsSource(i: number): RouteSource {
    const { perInstance } = this.#options.hosts;
    const first = this.firstHost + i * perInstance;
    const distinguisher = this.#distinguisherOf(i);
    return this.#source({
      count: perInstance,
      communities: this.#communitiesOf(i),
      routeOf: (index) => this.#hostRoute(i, first + index, distinguisher),
    });
  }

  /** Hosts of all instances are in the same network, which starts anew in each of them. */
  #hostRoute(i: number, host: number, distinguisher: Uint8Array): EvpnRoute {
    const { perInstance, withIpv4 } = this.#options.hosts;
    const inInstance = Math.floor(host / this.hostsPerRouter) * perInstance + (host % perInstance);
    return {
      type: 2,
      distinguisher,
      esi: this.#esi,
      tag: this.#tagOf(i),
      mac: bytesOf(this.#firstMac + host, 6),
      address: withIpv4 ? bytesOf(this.#firstAddress + inInstance, 4) : noAddress,
      labels: [this.#labelOf(i)],
    };
  }

  /** The network of the hosts, without a gateway (RFC 9136, section 4.4.1). */
  #prefixSource(i: number): RouteSource {
    const { router, hosts } = this.#options;
    const distinguisher = this.#distinguisherOf(i);
    const [address = '', bits] = hosts.ipv4Start.split('/');
    const size = 32 - Number(bits);
    const start = (parseAddress(address)[3] as number) >>> 0;
    const prefix = bytesOf(start - (start % 2 ** size), 4);
    const gateway = new Uint8Array(4);
    return this.#source({
      communities: [...this.#communitiesOf(i), routerMacCommunity(router.mac)],
      routeOf: () => ({
        type: 5,
        distinguisher,
        esi: noEsi,
        tag: 0,
        bits: Number(bits),
        prefix,
        gateway,
        label: this.#labelOf(i),
      }),
    });
  }
}
