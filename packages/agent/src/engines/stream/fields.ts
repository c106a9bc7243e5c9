import type { StreamModifier } from '@rushhour/protocol';
import type { FieldPlace } from '../../net/packet/frame/frame-template.ts';
import type { LayerKind, PlacedLayer } from '../../net/packet/frame/layer.ts';
import { addressBytes } from '../../net/packet/frame/network-layers.ts';

/** A field and what it holds in the next frame of a stream. */
export interface ChangingField {
  /** Undefined where these headers have no such field. */
  placeIn(placed: readonly PlacedLayer[]): FieldPlace | undefined;
  /** Asked once for each frame, in the order of sending. */
  next(stream: number): number;
}

type Placed = readonly PlacedLayer[];
const inner = (placed: Placed, ...kinds: LayerKind[]) => placed.findLast(({ layer }) => kinds.includes(layer.kind));
const outer = (placed: Placed, ...kinds: LayerKind[]) => placed.find(({ layer }) => kinds.includes(layer.kind));

const place = (
  found: PlacedLayer | undefined,
  offset: number,
  words: 1 | 2,
  sums: { readonly ip?: true; readonly transport?: true } = {},
): FieldPlace | undefined =>
  found && {
    at: found.at + offset,
    words,
    isInIpSum: sums.ip === true,
    isInTransportSum: sums.transport === true,
  };

/** A part of the source address: 32 bits, `word` counted from the end. */
const addressPart = (placed: Placed, word: number): FieldPlace | undefined => {
  const ip = inner(placed, 'ipv4', 'ipv6');
  if (ip?.layer.kind === 'ipv6') return place(ip, 20 - word * 4, 2, { transport: true });
  // Echo requests of IPv4 do not cover the addresses.
  const isCovered = placed.at(-1)?.layer.kind !== 'icmp';
  return place(ip, 12, 2, { ip: true, ...(isCovered && { transport: true }) });
};

const portAt = (placed: Placed, offset: number): FieldPlace | undefined => {
  const last = placed.at(-1);
  const kind = last?.layer.kind;
  if (kind === 'udp' || kind === 'tcp') return place(last, offset, 1, { transport: true });
  // The identifier of an echo request stands for the port it comes from.
  return offset === 0 && (kind === 'icmp' || kind === 'icmp6') ? place(last, 4, 1, { transport: true }) : undefined;
};

const places: Readonly<Record<StreamModifier['field'], (placed: Placed) => FieldPlace | undefined>> = {
  destinationMac: (placed) => place(outer(placed, 'ethernet'), 2, 2),
  sourceMac: (placed) => place(outer(placed, 'ethernet'), 8, 2),
  vlan: (placed) => place(outer(placed, 'vlan'), 0, 1),
  mplsLabel: (placed) => place(outer(placed, 'mpls'), 0, 2),
  sourceAddress: (placed) => addressPart(placed, 0),
  sourcePort: (placed) => portAt(placed, 0),
  destinationPort: (placed) => portAt(placed, 2),
};

/** By how much a step of 1 changes the number at the place. */
const unitOf = (field: StreamModifier['field']): number => (field === 'mplsLabel' ? 4096 : 1);

/** What is added to the usual value, frame after frame. */
const additionsOf = ({ mode, count, step, values }: StreamModifier): (() => number) => {
  if (mode === 'random') return () => Math.floor(Math.random() * count) * step;
  const isList = mode === 'list';
  if (isList && values.length === 0) throw new RangeError('a list of values is empty');
  const end = isList ? values.length : count;
  let turn = 0;
  return () => {
    const value = isList ? (values[turn] as number) : turn * step;
    turn = turn + 1 === end ? 0 : turn + 1;
    return value;
  };
};

/** The field that a modifier changes; `base` says what it would hold otherwise. */
export const modifiedField = (modifier: StreamModifier, base: (stream: number) => number): ChangingField => {
  const addition = additionsOf(modifier);
  const unit = unitOf(modifier.field);
  return {
    placeIn: places[modifier.field],
    next: (stream) => base(stream) + addition() * unit,
  };
};

/** Source addresses by stream: a field for each 32 bits in which they differ, without the last `skipped` of them. */
export const addressFields = (addresses: readonly string[], skipped: 0 | 1): ChangingField[] => {
  const bytes = addresses.map(addressBytes);
  const width = (bytes[0]?.length ?? 4) / 4;
  return Array.from({ length: width }, (_, word) => {
    const values = Uint32Array.from(bytes, (address) => address.readUInt32BE(address.length - 4 - word * 4));
    const field: ChangingField = {
      placeIn: (placed) => addressPart(placed, word),
      next: (stream) => values[stream % values.length] as number,
    };
    return { field, isChanging: word >= skipped && values.some((value) => value !== values[0]) };
  }).flatMap(({ field, isChanging }) => (isChanging ? [field] : []));
};

/** Source ports by stream. */
export const portField = (portOf: (stream: number) => number): ChangingField => ({
  placeIn: places.sourcePort,
  next: portOf,
});
