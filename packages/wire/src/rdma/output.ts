import type { Memory } from '../bytes/memory.ts';

export type PacketKind = 'data' | 'control' | 'congestion';

/** Where a queue pair writes its packets: room behind the UDP header, check sequence included. */
export interface RdmaOutput {
  /** Memory of the packet begun last. */
  readonly memory: Memory;
  /** Where a packet of so many bytes is written, or -1: no room, or the neighbour is not known yet. */
  begin(length: number, kind: PacketKind): number;
  /** Sends the packet; the last 4 bytes are filled in. */
  commit(at: number, length: number): void;
}
