import type { StreamModifier } from '@rushhour/protocol';
import { type HeaderField, swap16 } from '../../net/packet/frame/frame-template.ts';
import type { LayerKind, PlacedLayer } from '../../net/packet/frame/layer.ts';
import { addressBytes } from '../../net/packet/frame/network-layers.ts';

type Placed = readonly PlacedLayer[];
const inner = (placed: Placed, ...kinds: LayerKind[]) => placed.findLast(({ layer }) => kinds.includes(layer.kind));
const outer = (placed: Placed, ...kinds: LayerKind[]) => placed.find(({ layer }) => kinds.includes(layer.kind));

const fieldAt = (
  found: PlacedLayer | undefined,
  offset: number,
  words: 1 | 2,
  sums: { readonly ip?: true; readonly transport?: true } = {},
): HeaderField | undefined =>
  found && {
    at: found.at + offset,
    words,
    isInIpSum: sums.ip === true,
    isInTransportSum: sums.transport === true,
  };

/** 32 bits of the source address; `word` counts from the end. */
const addressPart = (placed: Placed, word: number): HeaderField | undefined => {
  const ip = inner(placed, 'ipv4', 'ipv6');
  if (ip?.layer.kind === 'ipv6') return fieldAt(ip, 20 - word * 4, 2, { transport: true });
  // The ICMPv4 checksum does not cover the addresses.
  const isCovered = placed.at(-1)?.layer.kind !== 'icmp';
  return fieldAt(ip, 12, 2, { ip: true, ...(isCovered && { transport: true }) });
};

const portAt = (placed: Placed, offset: number): HeaderField | undefined => {
  const last = placed.at(-1);
  const kind = last?.layer.kind;
  if (kind === 'udp' || kind === 'tcp') return fieldAt(last, offset, 1, { transport: true });
  // The identifier of an echo request takes the role of the source port.
  return offset === 0 && (kind === 'icmp' || kind === 'icmp6') ? fieldAt(last, 4, 1, { transport: true }) : undefined;
};

const locators: Readonly<Record<StreamModifier['field'], (placed: Placed) => HeaderField | undefined>> = {
  destinationMac: (placed) => fieldAt(outer(placed, 'ethernet'), 2, 2),
  sourceMac: (placed) => fieldAt(outer(placed, 'ethernet'), 8, 2),
  vlan: (placed) => fieldAt(outer(placed, 'vlan'), 0, 1),
  mplsLabel: (placed) => fieldAt(outer(placed, 'mpls'), 0, 2),
  sourceAddress: (placed) => addressPart(placed, 0),
  sourcePort: (placed) => portAt(placed, 0),
  destinationPort: (placed) => portAt(placed, 2),
};

/** Change of the field value for a step of 1. */
const unitOf = (field: StreamModifier['field']): number => (field === 'mplsLabel' ? 4096 : 1);

type LocateField = (placed: Placed) => HeaderField | undefined;

/** A batch of frames. */
export interface FrameRow {
  /** All slots as 16-bit words, and the start of each slot. */
  readonly halves: Uint16Array;
  readonly starts: Int32Array;
  first: number;
  count: number;
  /** By frame: stream and checksums of the changed fields. */
  readonly streams: Int32Array;
  readonly ipSums: Int32Array;
  readonly transportSums: Int32Array;
}

/** A field whose value changes between frames. */
export class ChangingField {
  /** Undefined when the headers have no such field. */
  readonly locate: LocateField;
  /** Value without a modifier, by stream. */
  readonly #defaults: Uint32Array;
  readonly #isRandom: boolean;
  readonly #list: Uint32Array;
  readonly #unit: number;
  readonly #count: number;
  readonly #isCounting: boolean;
  #ordinal = 0;

  constructor(locate: LocateField, defaults: Uint32Array, modifier?: StreamModifier) {
    this.locate = locate;
    this.#defaults = defaults;
    this.#isRandom = modifier?.mode === 'random';
    this.#list = Uint32Array.from(modifier?.mode === 'list' ? modifier.values : []);
    if (modifier?.mode === 'list' && this.#list.length === 0)
      throw new RangeError('the value list of a modifier is empty');
    this.#count = this.#list.length === 0 ? (modifier?.count ?? 1) : this.#list.length;
    this.#unit = modifier === undefined ? 0 : unitOf(modifier.field) * (modifier.mode === 'list' ? 1 : modifier.step);
    this.#isCounting = this.#unit !== 0 && !this.#isRandom && this.#list.length === 0;
  }

  /** Writes the values of the next frames and adds them to the checksums. */
  write(spot: HeaderField, { halves, starts, first, count, streams, ipSums, transportSums }: FrameRow): void {
    const { isInIpSum, isInTransportSum } = spot;
    const isWide = spot.words === 2;
    const low = (spot.at >> 1) + (isWide ? 1 : 0);
    const defaults = this.#defaults;
    const hasOneDefault = defaults.length === 1;
    const [only] = defaults as unknown as [number];
    // Counting fields are computed inline with a local variable, which is faster than updating the member per frame.
    const isCounting = this.#isCounting;
    const [unit, period] = [this.#unit, this.#count];
    let ordinal = this.#ordinal;
    for (let index = 0; index < count; index++) {
      const base = hasOneDefault ? only : (defaults[(streams[index] as number) % defaults.length] as number);
      const value = (base + (isCounting ? ordinal * unit : this.#addition())) | 0;
      ordinal = ordinal + 1 === period ? 0 : ordinal + 1;
      const start = (starts[first + index] as number) + low;
      let sum = value & 0xffff;
      halves[start] = swap16(sum);
      if (isWide) {
        halves[start - 1] = swap16(value >>> 16);
        sum += value >>> 16;
      }
      if (isInIpSum) ipSums[index] = (ipSums[index] as number) + sum;
      if (isInTransportSum) transportSums[index] = (transportSums[index] as number) + sum;
    }
    if (isCounting) this.#ordinal = ordinal;
  }

  /** Addition of a random or list modifier to the next frame. */
  #addition(): number {
    if (this.#unit === 0) return 0;
    if (this.#isRandom) return Math.floor(Math.random() * this.#count) * this.#unit;
    const ordinal = this.#ordinal;
    this.#ordinal = ordinal + 1 === this.#count ? 0 : ordinal + 1;
    return (this.#list[ordinal] as number) * this.#unit;
  }
}

/** The field of a modifier; `defaults`: its unmodified value by stream. */
export const modifiedField = (modifier: StreamModifier, defaults: Uint32Array): ChangingField =>
  new ChangingField(locators[modifier.field], defaults, modifier);

/** Source addresses by stream: one field for each 32-bit word that differs, without the last `skipped` words. */
export const addressFields = (addresses: readonly string[], skipped: 0 | 1): ChangingField[] => {
  const bytes = addresses.map(addressBytes);
  const width = (bytes[0]?.length ?? 4) / 4;
  return Array.from({ length: width }, (_, word) => {
    const values = Uint32Array.from(bytes, (address) => address.readUInt32BE(address.length - 4 - word * 4));
    const field = new ChangingField((placed) => addressPart(placed, word), values);
    return { field, isChanging: word >= skipped && values.some((value) => value !== values[0]) };
  }).flatMap(({ field, isChanging }) => (isChanging ? [field] : []));
};

/** Source MACs by stream, the upper 16 and the lower 32 bits; without the lower ones where something else changes them. */
export const macFields = (macs: readonly Buffer[], isModified: boolean): ChangingField[] => {
  const parts = [
    { at: 6, words: 1, values: Uint32Array.from(macs, (mac) => mac.readUInt16BE(0)) },
    { at: 8, words: 2, values: Uint32Array.from(macs, (mac) => mac.readUInt32BE(2)) },
  ] as const;
  return parts.flatMap(({ at, words, values }) => {
    const isChanging = !(isModified && words === 2) && values.some((value) => value !== values[0]);
    const locate: LocateField = (placed) => fieldAt(outer(placed, 'ethernet'), at, words);
    return isChanging ? [new ChangingField(locate, values)] : [];
  });
};

/** Source ports by stream. */
export const portField = (ports: Uint32Array): ChangingField => new ChangingField(locators.sourcePort, ports);
