import { copyOf } from '../../bytes/memory.ts';
import { attributeFlag, attributeType } from './attributes.ts';
import { type BgpFamily, findFamily } from './families.ts';
import type { NlriRange } from './nlri.ts';
import { BgpError, bgpError, updateError } from './notification.ts';

/** Routes of one family. */
export interface RouteList extends NlriRange {
  readonly family: BgpFamily;
}

/** An UPDATE, cut into its parts. Ranges point into the bytes of the message. */
export interface UpdateMessage {
  readonly withdrawn: readonly RouteList[];
  readonly announced: readonly RouteList[];
  /** Attributes without MP_REACH_NLRI and MP_UNREACH_NLRI, as they came. */
  readonly attributes: NlriRange;
  /** Next hop of MP_REACH_NLRI; undefined for routes with NEXT_HOP. */
  readonly nextHop: NlriRange | undefined;
  /** Why the announced routes count as withdrawn (RFC 7606); undefined: the update is valid. */
  readonly defect: BgpError | undefined;
  /** The family whose routes are complete, where the message says that. */
  readonly endOfRib: BgpFamily | undefined;
}

interface Rule {
  readonly flags: number;
  /** Exact length, or a divisor of it. */
  readonly length?: number;
  readonly multipleOf?: number;
  readonly isDiscarded?: boolean;
}

const { optional, transitive, partial } = attributeFlag;
const optionalTransitive = optional | transitive;

const rules: Readonly<Record<number, Rule>> = {
  [attributeType.origin]: { flags: transitive, length: 1 },
  [attributeType.asPath]: { flags: transitive },
  [attributeType.nextHop]: { flags: transitive, length: 4 },
  [attributeType.med]: { flags: optional, length: 4 },
  [attributeType.localPreference]: { flags: transitive, length: 4 },
  [attributeType.atomicAggregate]: { flags: transitive, length: 0, isDiscarded: true },
  [attributeType.aggregator]: { flags: optionalTransitive, isDiscarded: true },
  [attributeType.communities]: { flags: optionalTransitive, multipleOf: 4 },
  [attributeType.originatorId]: { flags: optional, length: 4 },
  [attributeType.clusterList]: { flags: optional, multipleOf: 4 },
  [attributeType.reach]: { flags: optional },
  [attributeType.unreach]: { flags: optional },
  [attributeType.extendedCommunities]: { flags: optionalTransitive, multipleOf: 8 },
  [attributeType.as4Path]: { flags: optionalTransitive },
  [attributeType.as4Aggregator]: { flags: optionalTransitive, length: 8, isDiscarded: true },
  [attributeType.pmsiTunnel]: { flags: optionalTransitive },
  [attributeType.largeCommunities]: { flags: optionalTransitive, multipleOf: 12 },
};

const failure = (subcode: number, data?: Uint8Array) => new BgpError(bgpError.update, subcode, data);

interface Attribute {
  readonly type: number;
  readonly flags: number;
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

/** What can be read of the session: how AS numbers are written. */
export interface UpdateOptions {
  readonly fourByteAs: boolean;
}

class UpdateReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #options: UpdateOptions;
  readonly #seen = new Set<number>();
  readonly withdrawn: RouteList[] = [];
  readonly announced: RouteList[] = [];
  readonly #kept: NlriRange[] = [];
  nextHop: NlriRange | undefined;
  defect: BgpError | undefined;

  constructor(bytes: Uint8Array, options: UpdateOptions) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#options = options;
  }

  /** Reads all attributes; what breaks their list resets the session, what breaks one of them withdraws the routes. */
  readAttributes(start: number, end: number): void {
    for (let at = start; at < end; ) {
      if (at + 3 > end) throw failure(updateError.malformedAttributes);
      const flags = this.#bytes[at] as number;
      const isExtended = (flags & attributeFlag.extended) !== 0;
      if (isExtended && at + 4 > end) throw failure(updateError.malformedAttributes);
      const body = at + (isExtended ? 4 : 3);
      const last = body + (isExtended ? this.#view.getUint16(at + 2) : (this.#bytes[at + 2] as number));
      if (last > end) throw failure(updateError.attributeLength, copyOf(this.#bytes, at, end));
      this.#take({ type: this.#bytes[at + 1] as number, flags, at, start: body, end: last });
      at = last;
    }
  }

  /** Attributes that routes must have (RFC 4271, section 6.3). */
  checkMandatory(hasPlainRoutes: boolean): void {
    if (!hasPlainRoutes && this.announced.length === 0) return;
    for (const type of [attributeType.origin, attributeType.asPath, ...(hasPlainRoutes ? [attributeType.nextHop] : [])])
      if (!this.#seen.has(type)) this.#spoil(failure(updateError.missingWellKnown, Uint8Array.of(type)));
  }

  /** Attributes that are kept, in one range. */
  kept(start: number, end: number): NlriRange {
    const bytes = this.#bytes;
    const length = this.#kept.reduce((sum, range) => sum + range.end - range.start, 0);
    if (length === end - start) return { bytes, start, end };
    const joined = new Uint8Array(length);
    let at = 0;
    for (const range of this.#kept) {
      joined.set(bytes.subarray(range.start, range.end), at);
      at += range.end - range.start;
    }
    return { bytes: joined, start: 0, end: length };
  }

  #spoil(error: BgpError): void {
    this.defect ??= error;
  }

  #take(attribute: Attribute): void {
    const { type, at, end } = attribute;
    const isMultiprotocol = type === attributeType.reach || type === attributeType.unreach;
    if (this.#seen.has(type)) {
      if (isMultiprotocol) throw failure(updateError.malformedAttributes);
      return;
    }
    this.#seen.add(type);
    const error = this.#check(attribute);
    const rule = rules[type];
    if (error !== undefined) {
      if (isMultiprotocol) throw error;
      if (rule?.isDiscarded !== true) this.#spoil(error);
      return;
    }
    if (type === attributeType.reach) this.#takeReach(attribute);
    else if (type === attributeType.unreach) this.#takeUnreach(attribute);
    else this.#kept.push({ bytes: this.#bytes, start: at, end });
  }

  #check(attribute: Attribute): BgpError | undefined {
    const { type, flags, at, start, end } = attribute;
    const rule = rules[type];
    const whole = () => copyOf(this.#bytes, at, end);
    if (rule === undefined)
      return (flags & optional) === 0 ? failure(updateError.unknownWellKnown, whole()) : undefined;
    const relevant = flags & (optional | transitive | (rule.flags === optionalTransitive ? 0 : partial));
    if (relevant !== rule.flags) return failure(updateError.attributeFlags, whole());
    const length = end - start;
    if (rule.length !== undefined && length !== rule.length) return failure(updateError.attributeLength, whole());
    if (rule.multipleOf !== undefined && (length === 0 || length % rule.multipleOf !== 0))
      return failure(updateError.attributeLength, whole());
    if (type === attributeType.origin && (this.#bytes[start] as number) > 2)
      return failure(updateError.invalidOrigin, whole());
    if (type === attributeType.asPath && !this.#isAsPathValid(start, end, this.#options.fourByteAs ? 4 : 2))
      return failure(updateError.malformedAsPath);
    if (type === attributeType.nextHop && !this.#isNextHopValid(start))
      return failure(updateError.invalidNextHop, whole());
    return undefined;
  }

  #isAsPathValid(start: number, end: number, size: number): boolean {
    let at = start;
    while (at + 2 <= end) {
      const kind = this.#bytes[at] as number;
      const count = this.#bytes[at + 1] as number;
      if (kind < 1 || kind > 4 || count === 0) return false;
      at += 2 + count * size;
    }
    return at === end;
  }

  /** Not an address of any network, and not a multicast address. */
  #isNextHopValid(start: number): boolean {
    const first = this.#bytes[start] as number;
    return first !== 0 && first !== 127 && first < 224;
  }

  #takeReach({ start, end }: Attribute): void {
    const bytes = this.#bytes;
    if (end - start < 5) throw failure(updateError.optionalAttribute);
    const family = findFamily(this.#view.getUint16(start), bytes[start + 2] as number);
    const hopEnd = start + 4 + (bytes[start + 3] as number);
    if (hopEnd + 1 > end) throw failure(updateError.optionalAttribute);
    if (family === undefined) return;
    this.nextHop = { bytes, start: start + 4, end: hopEnd };
    this.announced.push({ family, bytes, start: hopEnd + 1, end });
  }

  #takeUnreach({ start, end }: Attribute): void {
    if (end - start < 3) throw failure(updateError.optionalAttribute);
    const family = findFamily(this.#view.getUint16(start), this.#bytes[start + 2] as number);
    if (family !== undefined) this.withdrawn.push({ family, bytes: this.#bytes, start: start + 3, end });
  }
}

const plainFamily = findFamily(1, 1) as BgpFamily;

const endOfRibOf = (reader: UpdateReader, length: number): BgpFamily | undefined => {
  if (length === 4) return plainFamily;
  const [only, ...more] = reader.withdrawn;
  const isEmpty = only !== undefined && more.length === 0 && only.start === only.end && reader.announced.length === 0;
  return isEmpty && (length === 4 + 6 || length === 4 + 7) ? only.family : undefined;
};

/** Reads the body [start, end) of an UPDATE. Throws a `BgpError` where the session must end. */
export const parseUpdate = (bytes: Uint8Array, start: number, end: number, options: UpdateOptions): UpdateMessage => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const withdrawnEnd = start + 2 + view.getUint16(start);
  if (withdrawnEnd + 2 > end) throw failure(updateError.malformedAttributes);
  const attributesStart = withdrawnEnd + 2;
  const attributesEnd = attributesStart + view.getUint16(withdrawnEnd);
  if (attributesEnd > end) throw failure(updateError.malformedAttributes);
  const reader = new UpdateReader(bytes, options);
  if (withdrawnEnd > start + 2)
    reader.withdrawn.push({ family: plainFamily, bytes, start: start + 2, end: withdrawnEnd });
  reader.readAttributes(attributesStart, attributesEnd);
  const endOfRib = endOfRibOf(reader, end - start);
  reader.checkMandatory(end > attributesEnd);
  if (end > attributesEnd) reader.announced.push({ family: plainFamily, bytes, start: attributesEnd, end });
  return {
    withdrawn: reader.withdrawn,
    announced: reader.announced,
    attributes: reader.kept(attributesStart, attributesEnd),
    nextHop: reader.nextHop,
    defect: reader.defect,
    endOfRib,
  };
};
