import type { FrameRoute, PacketSink } from '../frames.ts';

export interface Dhcpv6ServerOptions {
  readonly poolStart: Int32Array;
  readonly poolSize: number;
  /** Network that prefixes are delegated from. */
  readonly delegatedFrom: Int32Array;
  readonly delegatedFromLength: number;
  readonly delegatedLength: number;
  readonly preferredSec: number;
  readonly validSec: number;
  readonly dnsServers: readonly Int32Array[];
  /** Domain names as DNS writes them; empty: none. */
  readonly domains: Uint8Array;
  /** Time after which clients that agree are asked to renew, again and again; 0: never. */
  readonly reconfigureSec?: number;
}

export interface Dhcpv6ServerHost {
  readonly frames: PacketSink;
  readonly mac: Uint8Array;
  /** Uniform in [0, 1); for keys of clients. */
  readonly random?: (() => number) | undefined;
  onLease?: ((lease: number, isActive: boolean) => void) | undefined;
}

/** Where a message has come from. */
export interface Dhcpv6Sender {
  /** The way back. */
  readonly route: FrameRoute;
  /** Its line: clients are known within it. */
  readonly line: number;
  /** Address of the sender, and of the server. */
  readonly source: Int32Array;
  readonly own?: Int32Array;
}
