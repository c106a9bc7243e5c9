/** New addresses and ports of the two sides. Numbers count addresses, ports and flows of the capture as they first come. */
export interface NewEnds {
  /** Undefined where there is none of this size: packets that need it are left out. */
  client(index: number, size: 4 | 16): Uint8Array | undefined;
  server(index: number, size: 4 | 16): Uint8Array | undefined;
  clientPort?(flow: number): number;
  serverPort?(index: number): number;
}

/** What becomes of every packet. */
export interface ReplayRules {
  /** Absent: addresses and ports stay as recorded. */
  readonly ends?: NewEnds;
  /** Of frames whose own are not kept, or that have none. */
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

/** An address of a client in a frame, and the checksums that go with it; places count from the start of the frame. */
export interface ClientPlace {
  readonly at: number;
  readonly size: 4 | 16;
  readonly index: number;
  readonly checksums: readonly number[];
  /** A checksum that covers both the address and checksums of it, so that it changes the other way. */
  readonly inverse?: number;
}
