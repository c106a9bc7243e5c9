import { attributeFlag, attributeType } from '../attributes.ts';
import type { Rib } from '../rib.ts';
import type { RouteSource } from '../route-source.ts';

/** A wire to another router, and why it is not up. */
export interface BgpWire {
  readonly title: string;
  readonly state: string;
  /** Labels that are expected and sent; undefined: there is none. */
  readonly ownLabel: number | undefined;
  readonly label: number | undefined;
}

/** Wires or sites that are announced over a session of BGP. */
export interface BgpWires {
  /** How many can be interrupted one by one. */
  readonly count: number;
  /** Routes of all of them. */
  sources(): RouteSource[];
  /** The routes of one of them, which is interrupted or comes back. */
  interrupt(index: number, isDown: boolean): RouteSource[];
  /** Those that are interrupted. */
  readonly interrupted: readonly number[];
  /** Routes that those of the neighbour have made necessary; each is returned once and is one of the sources then. */
  addedSources(rib: Rib): RouteSource[];
  /** The wires as the routes of a neighbour leave them. */
  states(rib: Rib): BgpWire[];
}

const communityBytes = 8;

export const isSameCommunity = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** The extended communities among the attributes of a route. */
export const communitiesOf = (attributes: Uint8Array): Uint8Array[] => {
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
