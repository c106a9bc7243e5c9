import type { MacOverride } from '../macs/mac-override.ts';
import type { MacPolicy } from '../macs/mac-policy.ts';
import type { MacRecord } from '../macs/mac-record.ts';

/** The members of a Network, stored or draft, that determine addresses and MACs. Empty texts count as absent. */
export interface NetworkDraft {
  readonly subnet: string;
  /** "4" or "6" (canonical), "ipv4" and "ipv6" are read as the same; absent: the version of the subnet. */
  readonly ipVersion?: string | number | null | undefined;
  readonly gateway?: string | null | undefined;
  readonly gatewayMac?: string | null | undefined;
  readonly gatewayMacId?: number | null | undefined;
  readonly gatewayMacMode?: string | null | undefined;
  readonly excludes?: readonly string[] | null | undefined;
  readonly pattern?: string | null | undefined;
  readonly ports?: string | null | undefined;
  readonly macPolicy?: MacPolicy | null | undefined;
  readonly macOverrides?: readonly MacOverride[] | null | undefined;
  /** Start of a preview if the request has none. */
  readonly start?: string | null | undefined;
  readonly limit?: number | null | undefined;
  readonly page?: number | null | undefined;
}

export type MacLookup = ReadonlyMap<number, MacRecord>;
