/** Memory for frames to send. Frames stay in their slots, so that only changed fields are rewritten. */
export interface FrameSlots {
  readonly count: number;
  readonly bytes: Buffer;
  offsetOf(slot: number): number;
  /** Throws if the frame is longer than a slot. */
  setLength(slot: number, bytes: number): void;
}

/** Position of the checksum that covers the signature. */
export interface CoveringChecksum {
  readonly at: number;
  /** For UDP a checksum of 0 means that there is none. */
  readonly isUdp: boolean;
}

/** Slots of a path that paces each frame more precisely than this process could. */
export interface TimedFrameSlots extends FrameSlots {
  /** When the frame may leave, on the `performance.now` clock; 0: immediately. */
  setDue(slot: number, at: number): void;
  /** The time of sending is written into the signature, which holds 0. Call after `setLength`. */
  setStamp(slot: number, checksum: CoveringChecksum | undefined): void;
}

/** A path by which frames leave an interface. */
export interface TxPath {
  readonly slots: FrameSlots | TimedFrameSlots;
  /**
   * Frames accepted since the path was opened that were not sent: the interface had no room for them. Only a path that
   * learns of it too late to retry has such frames.
   */
  readonly lost: number;
  /**
   * Sends the frames from `first` to before `end`; returns how many were accepted, or a negative error number. Frames
   * that are due later may be accepted only in part, without any being rejected. The slots of accepted frames may be
   * rewritten immediately.
   */
  send(first: number, end: number): number;
  close(): void;
}

export interface TxPathOptions {
  /** Minimum number of slots. */
  readonly count: number;
  /** Size of the longest frame. */
  readonly bytes: number;
  /** Captures on this machine must see the frames; only a packet socket supports that. */
  readonly isCaptured?: boolean | undefined;
}
