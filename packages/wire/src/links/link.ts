import type { Memory } from '../bytes/memory.ts';

/** What carries the packets of a link: an IP protocol, a UDP port or an EtherType. */
export type LinkCarrier =
  | { readonly kind: 'ip'; readonly protocol: number }
  | { readonly kind: 'udp'; readonly port: number /** Over IPv4 as well. */; readonly hasChecksum?: boolean }
  | { readonly kind: 'ethernet'; readonly etherType: number };

/** What a link carries. */
export type LinkPayload = 'ethernet' | 'ip';

/**
 * A tunnel header: wraps and unwraps packets in place. Links nest, because the carrier of one can be the payload of
 * another.
 */
export interface LinkCodec {
  readonly name: string;
  readonly carrier: LinkCarrier;
  readonly payload: LinkPayload;
  /** Bytes that `wrap` puts before a packet. */
  readonly headerLength: number;
  /** Writes the header before the packet [start, end) and returns where it starts. */
  wrap(memory: Memory, start: number, end: number): number;
  /** Returns where the packet inside [start, end) starts, or -1 if it does not belong to this link. */
  unwrap(memory: Memory, start: number, end: number): number;
  /** Number that tells tunnels between the same two addresses apart: network, key, session, endpoint identifier. */
  readonly id: number;
  /** That number of a received packet, whatever it is; -1 if there is none. */
  idAt(memory: Memory, start: number, end: number): number;
  /** A message of the tunnel itself (an echo request): writes the answer over it and returns its end, or -1. */
  answer?(memory: Memory, start: number, end: number): number;
}

/** IP version of the packet at an offset: 4, 6, or 0 if it is neither. */
export const ipVersionAt = ({ view }: Memory, start: number, end: number): 0 | 4 | 6 => {
  const version = start < end ? view.getUint8(start) >>> 4 : 0;
  return version === 4 || version === 6 ? version : 0;
};
