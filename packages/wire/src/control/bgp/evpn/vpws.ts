import { attributeFlag, attributeType, type PathAttributes } from '../attributes.ts';
import { familyOf } from '../families.ts';
import type { Rib } from '../rib.ts';
import { distinguisherOf, routeTargetOf } from '../route-distinguisher.ts';
import type { RouteSource } from '../route-source.ts';
import { layer2Attributes, layer2Community } from './communities.ts';
import { esiBytes, findEvpnRoute, writeEvpnRoute } from './route.ts';

export interface VpwsOptions {
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
    readonly localId: number;
    readonly remoteId: number;
    readonly mtu: number;
    readonly controlWord: boolean;
    readonly labelStart: number;
    readonly routeDistinguisher?: string | undefined;
    readonly routeTargets: readonly string[];
  };
}

/** The other end of a wire, as it was announced. */
interface FarEnd {
  readonly label: number;
  readonly mtu: number;
  readonly hasControlWord: boolean;
}

export interface VpwsWire {
  readonly localId: number;
  readonly remoteId: number;
  readonly state: 'up' | 'no route' | 'other MTU' | 'other control word' | 'interrupted';
  readonly ownLabel: number;
  /** undefined: none is known. */
  readonly label: number | undefined;
}

const family = familyOf('l2vpn-evpn');
const maxBytes = 2 + 25;
const noEsi = new Uint8Array(esiBytes);
const communityBytes = 8;

const textOfId = (id: number): string => [24, 16, 8, 0].map((shift) => (id >>> shift) & 255).join('.');

/** Wires between two routers, each end announced as an Ethernet auto-discovery route (RFC 8214). */
export class VpwsWires {
  readonly #options: VpwsOptions;
  readonly #targets: readonly Uint8Array[];
  readonly #distinguisher: Uint8Array;
  readonly #down = new Set<number>();

  constructor(options: VpwsOptions) {
    const { router, instance } = options;
    const { routeTargets, routeDistinguisher = `${textOfId(router.id)}:1` } = instance;
    // Of an AS number of four bytes the lower half is taken.
    const texts = routeTargets.length > 0 ? routeTargets : [`${router.as & 0xffff}:1`];
    this.#options = options;
    this.#targets = texts.map(routeTargetOf);
    this.#distinguisher = distinguisherOf(routeDistinguisher, router.ordinal);
  }

  get count(): number {
    return this.#options.instance.count;
  }

  /** The routes of all wires. */
  source(): RouteSource {
    return this.#sourceOf(0, this.count);
  }

  /** The route of one wire, which is interrupted or comes back. */
  interrupt(wire: number, isDown: boolean): RouteSource {
    if (isDown) this.#down.add(wire);
    else this.#down.delete(wire);
    return this.#sourceOf(wire, 1);
  }

  /** The wires as the routes of a neighbour leave them. */
  states(rib: Rib): VpwsWire[] {
    const { instance } = this.#options;
    const ends = this.#farEnds(rib);
    return Array.from({ length: instance.count }, (_, i) => {
      const end = ends.get(this.#remoteId(i));
      return {
        localId: this.#localId(i),
        remoteId: this.#remoteId(i),
        state: this.#stateOf(i, end),
        ownLabel: instance.labelStart + i,
        label: end?.label,
      };
    });
  }

  #stateOf(wire: number, end: FarEnd | undefined): VpwsWire['state'] {
    const { mtu, controlWord } = this.#options.instance;
    if (this.#down.has(wire)) return 'interrupted';
    if (end === undefined) return 'no route';
    // An MTU of 0 is not compared (RFC 8214, section 3.1).
    if (mtu !== 0 && end.mtu !== 0 && mtu !== end.mtu) return 'other MTU';
    return end.hasControlWord === controlWord ? 'up' : 'other control word';
  }

  #localId(wire: number): number {
    const { ordinal } = this.#options.router;
    return this.#options.instance.localId + ordinal * this.count + wire;
  }

  #remoteId(wire: number): number {
    const { ordinal } = this.#options.router;
    return this.#options.instance.remoteId + ordinal * this.count + wire;
  }

  #sourceOf(first: number, count: number): RouteSource {
    const { attributes, router, instance } = this.#options;
    const communities = [...this.#targets, layer2Community(instance.mtu, instance.controlWord)];
    return {
      ...{ family, count, maxBytes, nextHop: router.address },
      attributes: { ...attributes, extendedCommunities: [...attributes.extendedCommunities, ...communities] },
      write: (writer, index) =>
        writeEvpnRoute(writer, {
          ...{ type: 1, distinguisher: this.#distinguisher, esi: noEsi },
          tag: this.#localId(first + index),
          label: ((instance.labelStart + first + index) << 4) | 1,
        }),
    };
  }

  /** Ends of wires that a neighbour has announced with one of the own targets, by their number. */
  #farEnds(rib: Rib): Map<number, FarEnd> {
    const ends = new Map<number, FarEnd>();
    rib.tableOf(family).each((bytes, attributes) => {
      const route = findEvpnRoute(bytes, 0, bytes.length);
      if (route?.type !== 1) return;
      const communities = communitiesOf(attributes);
      const own = communities.some((one) => this.#targets.some((target) => isEqual(one, target)));
      const layer2 = communities.map(layer2Attributes).find((one) => one !== undefined);
      if (own && layer2 !== undefined) ends.set(route.tag, { label: route.label >>> 4, ...layer2 });
    });
    return ends;
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** The extended communities among the attributes of a route. */
const communitiesOf = (attributes: Uint8Array): Uint8Array[] => {
  const view = new DataView(attributes.buffer, attributes.byteOffset, attributes.byteLength);
  for (let at = 0; at + 3 <= attributes.length; ) {
    const isExtended = ((attributes[at] as number) & attributeFlag.extended) !== 0;
    const start = at + (isExtended ? 4 : 3);
    const length = isExtended ? view.getUint16(at + 2) : (attributes[at + 2] as number);
    if (attributes[at + 1] === attributeType.extendedCommunities)
      return Array.from({ length: Math.floor(length / communityBytes) }, (_, i) =>
        attributes.subarray(start + i * communityBytes, start + (i + 1) * communityBytes),
      );
    at = start + length;
  }
  return [];
};
