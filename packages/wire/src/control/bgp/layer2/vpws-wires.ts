import type { PathAttributes } from '../attributes.ts';
import type { Rib } from '../rib.ts';
import { distinguisherOf, routeTargetOf } from '../route-distinguisher.ts';
import type { RouteSource } from '../route-source.ts';
import { type FarEnd, type WireSignalling, wireSignalling } from './wire-signalling.ts';
import { type BgpWire, type BgpWires, communitiesOf, isSameCommunity } from './wires.ts';

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
    readonly signalling: keyof typeof wireSignalling;
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

/** An end that was announced with one of the own targets. */
interface FoundEnd {
  readonly end: FarEnd;
  readonly mtu: number;
  readonly hasControlWord: boolean;
}

interface VpwsWire extends BgpWire {
  readonly localId: number;
  readonly remoteId: number;
  readonly state: 'up' | 'no route' | 'other MTU' | 'other control word' | 'fault of the other end' | 'interrupted';
  readonly ownLabel: number;
}

const textOfId = (id: number): string => [24, 16, 8, 0].map((shift) => (id >>> shift) & 255).join('.');

/** Wires between two routers, each end announced over EVPN (RFC 8214) or as a block of labels (RFC 6624). */
export class VpwsWires implements BgpWires {
  readonly #options: VpwsOptions;
  readonly #signalling: WireSignalling;
  readonly #targets: readonly Uint8Array[];
  readonly #distinguisher: Uint8Array;
  readonly #down = new Set<number>();

  constructor(options: VpwsOptions) {
    const { router, instance } = options;
    const { routeTargets, routeDistinguisher = `${textOfId(router.id)}:1` } = instance;
    // Of an AS number of four bytes the lower half is taken.
    const texts = routeTargets.length > 0 ? routeTargets : [`${router.as & 0xffff}:1`];
    this.#options = options;
    this.#signalling = wireSignalling[instance.signalling];
    this.#targets = texts.map(routeTargetOf);
    this.#distinguisher = distinguisherOf(routeDistinguisher, router.ordinal);
  }

  get count(): number {
    return this.#options.instance.count;
  }

  get interrupted(): readonly number[] {
    return [...this.#down];
  }

  sources(): RouteSource[] {
    return [this.#sourceOf(0, this.count)];
  }

  interrupt(wire: number, isDown: boolean): RouteSource[] {
    if (isDown) this.#down.add(wire);
    else this.#down.delete(wire);
    return [this.#sourceOf(wire, 1)];
  }

  /** Wires are known beforehand. */
  addedSources(): RouteSource[] {
    return [];
  }

  /** The wires as the routes of a neighbour leave them. */
  states(rib: Rib): VpwsWire[] {
    const { instance } = this.#options;
    const ends = this.#farEnds(rib);
    return Array.from({ length: instance.count }, (_, i) => {
      const [localId, remoteId] = [this.#localId(i), this.#remoteId(i)];
      const found = ends.get(remoteId)?.find(({ end }) => end.labelFor(localId) !== undefined);
      return {
        ...{ localId, remoteId, title: `${localId}-${remoteId}` },
        state: this.#stateOf(i, found),
        ownLabel: instance.labelStart + i,
        label: found?.end.labelFor(localId),
      };
    });
  }

  #stateOf(wire: number, found: FoundEnd | undefined): VpwsWire['state'] {
    const { mtu, controlWord } = this.#options.instance;
    if (this.#down.has(wire)) return 'interrupted';
    if (found === undefined) return 'no route';
    // An MTU of 0 is not compared (RFC 8214, section 3.1).
    if (mtu !== 0 && found.mtu !== 0 && mtu !== found.mtu) return 'other MTU';
    if (found.hasControlWord !== controlWord) return 'other control word';
    return found.end.isFailed(this.#localId(wire)) ? 'fault of the other end' : 'up';
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
    const { family, maxBytes, community, write } = this.#signalling;
    const { mtu, controlWord: hasControlWord } = instance;
    const communities = [...this.#targets, community({ mtu, hasControlWord })];
    return {
      ...{ family, count, maxBytes, nextHop: router.address },
      attributes: { ...attributes, extendedCommunities: [...attributes.extendedCommunities, ...communities] },
      write: (writer, index) =>
        write(writer, {
          distinguisher: this.#distinguisher,
          localId: this.#localId(first + index),
          remoteId: this.#remoteId(first + index),
          label: instance.labelStart + first + index,
        }),
    };
  }

  /** Ends of wires that a neighbour has announced with one of the own targets, by their number. */
  #farEnds(rib: Rib): Map<number, FoundEnd[]> {
    const ends = new Map<number, FoundEnd[]>();
    const { family, findEnd, findForm } = this.#signalling;
    rib.tableOf(family).each((bytes, attributes) => {
      const end = findEnd(bytes);
      if (end === undefined) return;
      const communities = communitiesOf(attributes);
      const own = communities.some((one) => this.#targets.some((target) => isSameCommunity(one, target)));
      const form = communities.map(findForm).find((one) => one !== undefined);
      if (!own || form === undefined) return;
      const known = ends.get(end.id);
      if (known === undefined) ends.set(end.id, [{ end, ...form }]);
      else known.push({ end, ...form });
    });
    return ends;
  }
}
