import type { Memory } from '../bytes/memory.ts';
import { copyAddress, isMappedAddress, isSamePrefix } from '../ip/address.ts';

/** Where a TCP packet is cut into segments. */
export interface SegmentCut {
  /** Offset of the TCP header, whose checksum covers the pseudo-header alone. */
  readonly tcpAt: number;
  readonly dataAt: number;
  /** Payload of each segment; the last one may have less. */
  readonly segmentBytes: number;
  readonly isV6: boolean;
}

/** Takes TCP packets that are larger than the link allows: the kernel or the interface cuts them into segments. */
export interface BurstSink {
  /** Memory of the frame begun last. */
  readonly memory: Memory;
  /** Offset for a frame of up to `length` bytes, or -1 while there is no room. */
  begin(length: number): number;
  commit(offset: number, length: number, cut: SegmentCut): void;
}

/** Takes frames (or IP packets, where a link has no Ethernet). Written in place, then committed. */
export interface FrameSink {
  /** Memory of the frame begun last. */
  readonly memory: Memory;
  /** Largest IP packet it carries. */
  readonly mtu: number;
  /** Undefined: every frame is sent as it is. */
  readonly burst?: BurstSink | undefined;
  /** True if VLAN tags of a frame take room of the MTU, as inside a tunnel. */
  readonly carriesTags?: boolean;
  /**
   * Offset for a frame of the host `path` of up to `length` bytes, or -1 while there is no room. `keys`: local and remote
   * address of its packet from `at` on, where it has one.
   */
  begin(length: number, path: number, keys?: Int32Array, at?: number): number;
  /** Sends [offset, offset + length), which lies in the room given by the last `begin`. */
  commit(offset: number, length: number): void;
}

/** The emulated hosts, by arithmetic: nothing is stored for an idle host. Addresses are words (see ip/address.ts). */
export interface HostDirectory {
  /** Index of the host that has the address at `at`, or -1. */
  indexOf(address: Int32Array, at: number): number;
  /** Writes the address of a host that is used to ask for neighbours of the version of `like`. */
  sourceFor(index: number, like: Int32Array, likeAt: number, to: Int32Array, toAt: number): void;
  /** Writes the 6 bytes of a host's MAC. */
  writeMac(index: number, bytes: Uint8Array, at: number): void;
  /** VLAN tags of a host (see `vlanTags`). */
  tagsOf(index: number): number;
  /** Types of the tags (see `defaultTagTypes`). */
  readonly tagTypes?: number;
  /** Writes the next hop towards a destination; false: unreachable. */
  nextHop(index: number, destination: Int32Array, at: number, to: Int32Array): boolean;
}

/** A directly connected network. */
export interface OnLinkPrefix {
  readonly address: Int32Array;
  /** Leading bits of the 128; those of an IPv4 prefix plus 96. */
  readonly bits: number;
}

/** Next hops of hosts that share their networks and gateways. */
export const createRouter =
  (options: {
    readonly onLink: readonly OnLinkPrefix[];
    readonly gateway4?: Int32Array | undefined;
    readonly gateway6?: Int32Array | undefined;
  }): HostDirectory['nextHop'] =>
  (_index, destination, at, to) => {
    for (const { address, bits } of options.onLink) {
      if (!isSamePrefix(address, 0, destination, at, bits)) continue;
      copyAddress(destination, at, to, 0);
      return true;
    }
    const gateway = isMappedAddress(destination, at) ? options.gateway4 : options.gateway6;
    if (gateway === undefined) return false;
    copyAddress(gateway, 0, to, 0);
    return true;
  };
