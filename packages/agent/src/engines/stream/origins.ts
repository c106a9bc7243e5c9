import type { Sources, StreamModifier } from '@rushhour/protocol';
import { addressesOf, hostsOf, parseNetwork, parseRange } from '../../net/addresses/address-range.ts';
import { addressBytes } from '../../net/packet/frame/network-layers.ts';
import { addressFields, type ChangingField, macFields, modifiedField, portField } from './changing-field.ts';

const maxAddresses = 1_000_000;
const defaultPorts = [1024, 65_535] as const;

/** All source addresses; default: the address of the machine. */
export const sourceAddressesOf = (sources: Sources, version: 4 | 6, own: string): string[] => {
  const all = [
    ...sources.addresses,
    ...sources.networks.flatMap((text) => hostsOf(parseNetwork(text), maxAddresses)),
    ...sources.ranges.flatMap((text) => addressesOf(parseRange(text), maxAddresses)),
  ];
  const fitting = all.filter((address) => address.includes(':') === (version === 6));
  if (all.length > 0 && fitting.length === 0) throw new RangeError(`there is no IPv${version} source address`);
  return fitting.length === 0 ? [own] : fitting.slice(0, maxAddresses);
};

/** The source port of a stream. */
export const portsOf = (range: string | undefined): ((stream: number) => number) => {
  const [first = 0, last = 0] = range === undefined ? defaultPorts : range.split('-').map(Number);
  if (first < 1 || last > 65_535 || last < first) throw new RangeError(`${range} is not a valid port range`);
  return (stream) => first + (stream % (last - first + 1));
};

export interface FieldOptions {
  readonly addresses: readonly string[];
  /** MACs of the addresses; empty: all have the same. */
  readonly macs: readonly Buffer[];
  readonly portOf: (stream: number) => number;
  readonly hasPorts: boolean;
  readonly streams: number;
  readonly modifiers: readonly StreamModifier[];
  /** Values of fields that do not depend on the stream. */
  readonly fixed: Readonly<Record<Exclude<StreamModifier['field'], 'sourceAddress' | 'sourcePort'>, number>>;
}

/** All fields that change between frames: per-stream fields and modified fields. */
export const changingFields = (options: FieldOptions): ChangingField[] => {
  const { addresses, macs, portOf, hasPorts, streams, modifiers, fixed } = options;
  const modified = new Set(modifiers.map(({ field }) => field));
  if (modified.size < modifiers.length) throw new RangeError('two modifiers change the same field');
  const lowest = Uint32Array.from(addresses, (address) =>
    addressBytes(address).readUInt32BE(address.includes(':') ? 12 : 0),
  );
  const ports = Uint32Array.from({ length: streams }, (_, stream) => portOf(stream));
  const defaults: Readonly<Record<StreamModifier['field'], Uint32Array>> = {
    sourceAddress: lowest,
    sourcePort: ports,
    destinationMac: Uint32Array.of(fixed.destinationMac),
    sourceMac: Uint32Array.of(fixed.sourceMac),
    vlan: Uint32Array.of(fixed.vlan),
    mplsLabel: Uint32Array.of(fixed.mplsLabel),
    destinationPort: Uint32Array.of(fixed.destinationPort),
  };
  const ofStream = [
    ...addressFields(addresses, modified.has('sourceAddress') ? 1 : 0),
    ...macFields(macs, modified.has('sourceMac')),
    ...(hasPorts && streams > 1 && !modified.has('sourcePort') ? [portField(ports)] : []),
  ];
  return [...ofStream, ...modifiers.map((modifier) => modifiedField(modifier, defaults[modifier.field]))];
};
