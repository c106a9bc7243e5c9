import type { Memory } from '../bytes/memory.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import type { Packet } from './packet.ts';

/** One of several groups with the same hosts. Each has the flows of some peers; the first speaks for the hosts. */
export interface FlowShare {
  readonly index: number;
  readonly count: number;
}

/** Filters of the kernel compute the same with these. */
export const flowMix = { address: 0x9e3779b1, port: 0x85ebca6b, both: 0xc2b2ae35, shift: 16 } as const;

/** Which of `count` groups has the flows of a peer: by the last word of its address and by its port. */
export const groupOfFlow = (address: number, port: number, count: number): number => {
  const mixed = Math.imul(address, flowMix.address) ^ Math.imul(port, flowMix.port);
  return (Math.imul(mixed, flowMix.both) >>> flowMix.shift) % count;
};

const hasPorts = (protocol: number): boolean => protocol === ipProtocol.tcp || protocol === ipProtocol.udp;

/** Whether a whole packet is for this group. ICMP is for all: errors belong to the flow they quote. */
export const isInShare = (
  { index, count }: FlowShare,
  { addresses, isV6 }: Packet,
  protocol: number,
  { view }: Memory,
  start: number,
  end: number,
): boolean => {
  if (protocol === (isV6 ? ipProtocol.icmp6 : ipProtocol.icmp)) return true;
  if (!hasPorts(protocol) || end - start < 4) return index === 0;
  return groupOfFlow(addresses[7] as number, view.getUint16(start), count) === index;
};
