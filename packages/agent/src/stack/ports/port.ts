import type { FrameSink, Memory } from '@rushhour/wire';

/** Takes the frames that arrive at a port. */
export interface FrameReceiver {
  /** The frame [start, end), valid during the call only. `isChecked`: its checksums need no verification. */
  onFrame(memory: Memory, start: number, end: number, isChecked: boolean): void;
  /** The frames that had arrived are handled. */
  onIdle(): void;
  /** Frames can be sent again after `begin` has refused one. */
  onRoom(): void;
}

/** Frames of one interface. What is committed is sent by the next `flush`. */
export interface Port extends FrameSink {
  readonly name: string;
  /** False: it carries IP packets. */
  readonly hasEthernet?: boolean;
  readonly sentFrames: number;
  /** Frames that the interface refused for good, such as while it is down. */
  readonly sendErrors: number;
  /** Whether a host can send at all; without it, always. */
  isUp?(host: number): boolean;
  /** Frames that arrived and were lost because the ring was full, since the last call. */
  takeDrops(): number;
  receive(receiver: FrameReceiver): void;
  /** Handles the frames that have arrived, without waiting for the event loop. */
  poll(): void;
  flush(): void;
  close(): void;
}
