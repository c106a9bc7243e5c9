/** New addresses and ports of both sides. Indexes follow the first appearance in the capture. */
export interface NewEnds {
  /** Undefined if no address of this size exists: such packets are omitted. */
  client(index: number, size: 4 | 16): Uint8Array | undefined;
  server(index: number, size: 4 | 16): Uint8Array | undefined;
  clientPort?(flow: number): number;
  serverPort?(index: number): number;
}

/** How packets are rewritten. */
export interface ReplayRules {
  /** Absent: addresses and ports stay as recorded. */
  readonly ends?: NewEnds;
  /** For frames whose own MACs are not kept or missing. */
  readonly macs: { readonly source: Uint8Array; readonly destination: Uint8Array };
  readonly keepsMacs: boolean;
  /** One tag of this number instead of all recorded ones; 0: no tag. */
  readonly vlan?: number;
  readonly ttl?: number;
  readonly dscp?: number;
  /** Longest IP packet. */
  readonly mtu: number;
  readonly fixesChecksums: boolean;
}

/** A client address in a frame and the checksums that cover it, as offsets from the start of the frame. */
export interface ClientAddress {
  readonly at: number;
  readonly size: 4 | 16;
  readonly index: number;
  readonly checksums: readonly number[];
  /** A checksum that covers the address and two of its checksums, so it changes inversely. */
  readonly inverse?: number;
}
