import type { GroupRecord } from '../../access/groups/group-format.ts';

export interface GroupQuery<Address> {
  readonly version: number;
  /** undefined: for all groups. */
  readonly group: Address | undefined;
  readonly sources: readonly Address[];
  readonly responseMs: number;
  readonly robustness: number;
  readonly intervalSec: number;
}

/** What hosts and other queriers say. */
export type GroupMessage<Address> =
  | { readonly kind: 'query' }
  | { readonly kind: 'report'; readonly records: readonly GroupRecord<Address>[] };

/** What a querier of IGMP or MLD has to know about its messages. */
export interface QuerierFormat<Address> {
  /** Where general queries go. */
  readonly allHosts: Address;
  /** Positive: the first address is the higher one; 0 for an address that cannot ask. */
  compare(a: Address, b: Address): number;
  /** Whether there are messages of hosts that leave. */
  asksAfterLeave(version: number): boolean;
  write(query: GroupQuery<Address>): Uint8Array;
  /** undefined: broken or unknown. Reports and leaves of old versions become records. */
  parse(bytes: Uint8Array): GroupMessage<Address> | undefined;
}

/** Fields above `bits` bits are a mantissa and an exponent (RFC 3376, section 4.1.1; RFC 3810, section 5.1.3). */
export const floatField = (value: number, bits: 8 | 16): number => {
  const number = Math.max(0, Math.round(value));
  const top = bits - 1;
  if (number < 2 ** top) return number;
  // Without the leading bit, which is not written.
  const mantissaBits = bits - 4;
  const exponent = Math.min(7, 31 - Math.clz32(number) - mantissaBits - 3);
  const mantissa = Math.min(2 ** (mantissaBits + 1) - 1, number >>> (exponent + 3));
  return (1 << top) | (exponent << mantissaBits) | (mantissa & (2 ** mantissaBits - 1));
};
