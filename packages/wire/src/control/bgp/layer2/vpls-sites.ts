import type { PathAttributes } from '../attributes.ts';
import { familyOf } from '../families.ts';
import type { Rib } from '../rib.ts';
import { distinguisherOf, routeTargetOf } from '../route-distinguisher.ts';
import type { RouteSource } from '../route-source.ts';
import { findLayer2Information, type Layer2Information, layer2Encapsulation, layer2Information } from './community.ts';
import { findLabelBlock, type LabelBlock, maxVplsBlock, writeVplsBlock } from './label-block.ts';
import { type BgpWire, type BgpWires, communitiesOf } from './wires.ts';

export interface VplsOptions {
  readonly router: {
    /** Which one of the routers with the same profile, from 0 on. */
    readonly ordinal: number;
    readonly id: number;
    readonly as: number;
    /** Next hop, 4 or 16 bytes. */
    readonly address: Uint8Array;
  };
  /** Of all routes; communities of the service are added. */
  readonly attributes: PathAttributes;
  readonly instance: {
    readonly count: number;
    readonly vpnIdStart: number;
    readonly mtu: number;
    readonly controlWord: boolean;
    readonly labelStart: number;
  };
  readonly sites: {
    readonly siteIdStart: number;
    readonly blockSize: number;
    readonly routeDistinguisher?: string | undefined;
    readonly routeTargets: readonly string[];
  };
}

/** Blocks of a site that another router has announced. */
interface FarSite {
  readonly information: Layer2Information;
  readonly blocks: LabelBlock[];
}

const family = familyOf('l2vpn-vpls');
const lastLabel = 0xfffff;
const max16 = 0xffff;

const textOfId = (id: number): string => [24, 16, 8, 0].map((shift) => (id >>> shift) & 255).join('.');
const keyOf = (community: Uint8Array): string => community.join();

/**
 * The site of a router in its services, announced as blocks of labels for the other sites (RFC 4761). The first block is the one
 * that the own site would be in; others follow as sites beyond it appear.
 */
export class VplsSites implements BgpWires {
  readonly #options: VplsOptions;
  readonly #site: number;
  /** Numbers of the blocks that are announced; block k begins with site 1 + k × size. */
  readonly #blocks: number[];
  /** Services by target. */
  readonly #services = new Map<string, number[]>();
  readonly #down = new Set<number>();

  constructor(options: VplsOptions) {
    const { instance, sites, router } = options;
    this.#options = options;
    this.#site = sites.siteIdStart + router.ordinal;
    if (this.#site > max16) throw new RangeError(`VPLS: there is no site ${this.#site}`);
    this.#blocks = [this.#blockOf(this.#site)];
    for (let service = 0; service < instance.count; service++)
      for (const target of this.#targetsOf(service))
        this.#services.set(keyOf(target), [...(this.#services.get(keyOf(target)) ?? []), service]);
  }

  get count(): number {
    return this.#options.instance.count;
  }

  get interrupted(): readonly number[] {
    return [...this.#down];
  }

  sources(): RouteSource[] {
    return this.#blocks.flatMap((_, slot) => this.#sourcesAt(slot));
  }

  interrupt(service: number, isDown: boolean): RouteSource[] {
    if (isDown) this.#down.add(service);
    else this.#down.delete(service);
    return this.#blocks.map((_, slot) => this.#sourceOf(service, slot));
  }

  addedSources(rib: Rib): RouteSource[] {
    const before = this.#blocks.length;
    for (const [, sites] of this.#farSites(rib))
      for (const site of sites.keys()) {
        const block = this.#blockOf(site);
        if (!this.#blocks.includes(block) && this.#lastLabelOf(this.#blocks.length) <= lastLabel)
          this.#blocks.push(block);
      }
    return this.#blocks.slice(before).flatMap((_, i) => this.#sourcesAt(before + i));
  }

  /** The wires to all sites of each service; a service without any has one that is down. */
  states(rib: Rib): BgpWire[] {
    const far = this.#farSites(rib);
    return Array.from({ length: this.count }, (_, service) => {
      const sites = [...(far.get(service) ?? [])].sort(([a], [b]) => a - b);
      const vpn = `vpn ${this.#options.instance.vpnIdStart + service}`;
      if (sites.length > 0) return sites.map(([site, ends]) => this.#wireTo(vpn, service, site, ends));
      const state = this.#down.has(service) ? 'interrupted' : 'no site';
      return [{ title: `${vpn} site ${this.#site}`, state, ownLabel: undefined, label: undefined }];
    }).flat();
  }

  #wireTo(vpn: string, service: number, site: number, { information, blocks }: FarSite): BgpWire {
    const { mtu, controlWord } = this.#options.instance;
    const block = blocks.find(({ offset, size }) => this.#site >= offset && this.#site < offset + size);
    const label = block && block.label + this.#site - block.offset;
    const stateOf = () => {
      if (this.#down.has(service)) return 'interrupted';
      if (site === this.#site) return 'site id used twice';
      if (label === undefined) return 'no label';
      if (mtu !== 0 && information.mtu !== 0 && mtu !== information.mtu) return 'other MTU';
      return information.hasControlWord === controlWord ? 'up' : 'other control word';
    };
    return {
      title: `${vpn} sites ${this.#site}-${site}`,
      state: stateOf(),
      ownLabel: this.#labelFor(service, site),
      label,
    };
  }

  #blockOf(site: number): number {
    return Math.floor((site - 1) / this.#options.sites.blockSize);
  }

  /** The own label for frames of a site. */
  #labelFor(service: number, site: number): number | undefined {
    const { blockSize } = this.#options.sites;
    const slot = this.#blocks.indexOf(this.#blockOf(site));
    return slot < 0 ? undefined : this.#firstLabel(service, slot) + ((site - 1) % blockSize);
  }

  #firstLabel(service: number, slot: number): number {
    const { instance, sites } = this.#options;
    return instance.labelStart + (slot * instance.count + service) * sites.blockSize;
  }

  #lastLabelOf(slot: number): number {
    return this.#firstLabel(this.count - 1, slot) + this.#options.sites.blockSize - 1;
  }

  #sourcesAt(slot: number): RouteSource[] {
    return Array.from({ length: this.count }, (_, service) => this.#sourceOf(service, slot));
  }

  #sourceOf(service: number, slot: number): RouteSource {
    const { attributes, router, instance, sites } = this.#options;
    const { mtu, controlWord: hasControlWord } = instance;
    const information = layer2Information({ encapsulation: layer2Encapsulation.vpls, mtu, hasControlWord });
    const communities = [...this.#targetsOf(service), information];
    const first = 1 + (this.#blocks[slot] as number) * sites.blockSize;
    const block = {
      distinguisher: this.#distinguisherOf(service),
      site: this.#site,
      offset: first,
      // The last site has the highest number.
      size: Math.min(sites.blockSize, max16 + 1 - first),
      label: this.#firstLabel(service, slot),
    };
    return {
      ...{ family, count: 1, maxBytes: maxVplsBlock, nextHop: router.address },
      attributes: { ...attributes, extendedCommunities: [...attributes.extendedCommunities, ...communities] },
      write: (writer) => writeVplsBlock(writer, block),
    };
  }

  /** Routers do not share distinguishers. */
  #distinguisherOf(service: number): Uint8Array {
    const { router, sites } = this.#options;
    if (sites.routeDistinguisher === undefined) return distinguisherOf(`${textOfId(router.id)}:1`, service);
    return distinguisherOf(sites.routeDistinguisher, router.ordinal * this.count + service);
  }

  /** Targets of a service follow those of the one before it. */
  #targetsOf(service: number): Uint8Array[] {
    const { router, instance, sites } = this.#options;
    // Of an AS number of four bytes the lower half is taken.
    const texts = sites.routeTargets.length > 0 ? sites.routeTargets : [`${router.as & max16}:${instance.vpnIdStart}`];
    return texts.map((text) => routeTargetOf(text, service));
  }

  /** Sites of each service that others have announced. */
  #farSites(rib: Rib): Map<number, Map<number, FarSite>> {
    const found = new Map<number, Map<number, FarSite>>();
    rib.tableOf(family).each((bytes, attributes) => {
      const communities = communitiesOf(attributes);
      const information = communities.map((one) => findLayer2Information(one)).find((one) => one !== undefined);
      const block = findLabelBlock(bytes, 0, bytes.length);
      if (block === undefined || information?.encapsulation !== layer2Encapsulation.vpls) return;
      const services = new Set(communities.flatMap((one) => this.#services.get(keyOf(one)) ?? []));
      for (const service of services) {
        const sites = found.get(service) ?? new Map<number, FarSite>();
        found.set(service, sites);
        const site = sites.get(block.site) ?? { information, blocks: [] };
        sites.set(block.site, site);
        site.blocks.push(block);
      }
    });
    return found;
  }
}
