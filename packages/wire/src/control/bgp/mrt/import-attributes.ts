import { copyOf } from '../../../bytes/memory.ts';
import {
  attributeFlag,
  attributeType,
  type OtherAttribute,
  type PathAttributes,
  type PathSegment,
} from '../attributes.ts';

export interface ImportOptions {
  /** Put before the paths, unless the neighbour is in the same AS. */
  readonly localAs: number;
  readonly isInternal: boolean;
}

const asSequence = 2;
const defaultPreference = 100;

/** What only has a meaning in the AS or session that the file comes from, or is written anew. */
const dropped: ReadonlySet<number> = new Set([
  attributeType.nextHop,
  attributeType.originatorId,
  attributeType.clusterList,
  attributeType.reach,
  attributeType.unreach,
  attributeType.as4Path,
  attributeType.as4Aggregator,
]);

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const words = (value: Uint8Array): number[] =>
  Array.from({ length: value.length >> 2 }, (_, i) => viewOf(value).getUint32(i * 4));

/** Segments of an AS path with numbers of four bytes; empty ones are left out, one that is cut off ends the list. */
const segmentsOf = (value: Uint8Array): PathSegment[] => {
  const segments: PathSegment[] = [];
  for (let at = 0; at + 2 <= value.length; ) {
    const end = at + 2 + (value[at + 1] as number) * 4;
    if (end > value.length) break;
    const isKnown = (value[at] as number) >= 1 && (value[at] as number) <= 4;
    if (isKnown && end > at + 2)
      segments.push({ kind: value[at] as number, numbers: words(value.subarray(at + 2, end)) });
    at = end;
  }
  return segments;
};

/** Calls `handle` with each attribute of a list whose lengths have been checked. */
const eachAttribute = (bytes: Uint8Array, handle: (flags: number, type: number, value: Uint8Array) => void): void => {
  for (let at = 0; at + 3 <= bytes.length; ) {
    const flags = bytes[at] as number;
    const isExtended = (flags & attributeFlag.extended) !== 0;
    const start = at + (isExtended ? 4 : 3);
    const end = start + (isExtended ? viewOf(bytes).getUint16(at + 2) : (bytes[at + 2] as number));
    handle(flags, bytes[at + 1] as number, bytes.subarray(start, end));
    at = end;
  }
};

/** The attributes of a route of a file as a router with `localAs` announces it. */
export const importAttributes = (bytes: Uint8Array, { localAs, isInternal }: ImportOptions): PathAttributes => {
  let origin = 0;
  let segments: PathSegment[] = [];
  let med: number | undefined;
  let localPreference = defaultPreference;
  let communities: number[] = [];
  const extendedCommunities: Uint8Array[] = [];
  const others: OtherAttribute[] = [];
  eachAttribute(bytes, (flags, type, value) => {
    const isWord = value.length === 4;
    if (type === attributeType.origin) origin = Math.min(value[0] ?? 0, 2);
    else if (type === attributeType.asPath) segments = segmentsOf(value);
    else if (type === attributeType.med && isWord) med = viewOf(value).getUint32(0);
    else if (type === attributeType.localPreference && isWord) localPreference = viewOf(value).getUint32(0);
    else if (type === attributeType.communities) communities = words(value);
    else if (type === attributeType.extendedCommunities)
      for (let at = 0; at + 8 <= value.length; at += 8) extendedCommunities.push(copyOf(value, at, at + 8));
    else if (!dropped.has(type) && (flags & attributeFlag.transitive) !== 0)
      others.push({ flags: flags & ~attributeFlag.extended, type, value: copyOf(value) });
  });
  const isSequence = segments[0]?.kind === asSequence;
  const head = isSequence ? (segments[0]?.numbers ?? []) : [];
  return {
    origin,
    asPath: isInternal ? head : [localAs, ...head],
    pathTail: isSequence ? segments.slice(1) : segments,
    med,
    localPreference: isInternal ? localPreference : undefined,
    communities,
    extendedCommunities,
    others,
  };
};
