import { isDeepStrictEqual } from 'node:util';
import type { ProtocolConfig } from '@rushhour/contract';
import { defaultProfile } from './plane-references.ts';
import { asked, type Refusal } from './refusal.ts';

type Stp = ProtocolConfig<'stp'>;
const lastVlan = 4094;
const maxNameBytes = 32;
const bytesIn = (text: string) => new TextEncoder().encode(text).length;

/** A bridge has an entry of its own; its interfaces are the ports. */
export const bridgeRefusals = (stp: Stp | undefined, protocols: readonly string[]): Refusal[] => {
  if (stp === undefined) return [];
  const other = protocols.find((protocol) => protocol !== 'stp');
  const { mst } = defaultProfile('stp') as Stp;
  const isMultiple = stp.bridge.version === 'mstp';
  return [
    ...asked([
      [other !== undefined, `/${other}/0`, 'a bridge of stp has an entry of its own'],
      [!isMultiple && !isDeepStrictEqual(stp.mst, mst), '/stp/0', '/mst: belongs to mstp'],
      [
        isMultiple && bytesIn(stp.mst.region) > maxNameBytes,
        '/stp/0',
        `/mst/region: has ${maxNameBytes} bytes at most`,
      ],
    ]),
    ...(isMultiple ? instanceRefusals(stp.mst.instances) : []),
  ];
};

/** Trees of a region: every VLAN belongs to one. */
const instanceRefusals = (instances: Stp['mst']['instances']): Refusal[] => {
  const ids = new Set<number>();
  const treeOf = new Map<number, number>();
  return instances.flatMap(({ id, vlans }, i) => {
    const pointer = `/mst/instances/${i}`;
    const isKnown = ids.has(id);
    ids.add(id);
    const ranges = vlans.split(',').map(rangeOf);
    const wrong = ranges.find(({ first, last }) => first < 1 || last > lastVlan || last < first);
    const all = wrong ? [] : ranges.flatMap(({ first, last }) => numbersOf(first, last));
    const taken = all.find((vlan) => (treeOf.get(vlan) ?? id) !== id);
    for (const vlan of all) if (!treeOf.has(vlan)) treeOf.set(vlan, id);
    return asked([
      [isKnown, '/stp/0', `${pointer}/id: there are two instances ${id}`],
      [wrong !== undefined, '/stp/0', `${pointer}/vlans: ${wrong?.text} is no range of VLANs from 1 to ${lastVlan}`],
      [taken !== undefined, '/stp/0', `${pointer}/vlans: VLAN ${taken} is in instance ${treeOf.get(taken ?? 0)}`],
    ]);
  });
};

const rangeOf = (text: string) => {
  const [first = 0, last = first] = text.split('-').map(Number);
  return { text, first, last };
};

const numbersOf = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
