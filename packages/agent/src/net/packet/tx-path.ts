/** Where frames are written before they leave. They stay in their places, so that only what changes is written anew. */
export interface FramePlaces {
  readonly count: number;
  readonly bytes: Buffer;
  offsetOf(place: number): number;
  /** Refuses what is longer than a place. */
  setLength(place: number, bytes: number): void;
}

/** Where a checksum stands that covers the signature. */
export interface CoveringChecksum {
  readonly at: number;
  /** A checksum of 0 would mean that there is none. */
  readonly isUdp: boolean;
}

/** Places of a way that looks at the clock for each frame, finer than we could. */
export interface ClockedPlaces extends FramePlaces {
  /** When the frame may leave, in the time of `performance.now`; 0: at once. */
  setDue(place: number, at: number): void;
  /** The time of leaving is to be written into the signature, where 0 stands now. To be said after the length. */
  setStamp(place: number, checksum: CoveringChecksum | undefined): void;
}

/** One way by which frames leave an interface. */
export interface Outlet {
  readonly places: FramePlaces | ClockedPlaces;
  /**
   * Frames that were taken over, from the first place on, and did not leave all the same, since it was opened: the
   * interface had no room for them. Only a way that learns of it too late to send them again has such frames.
   */
  readonly lost: number;
  /**
   * Sends the frames from `first` to before `end`; says how many were taken, or as a negative error number why none was.
   * Of frames that are due later only some may be taken, without any being refused.
   * The places of those that were taken may be written again at once.
   */
  send(first: number, end: number): number;
  close(): void;
}

export interface OutletSizes {
  /** Places for frames, at least. */
  readonly count: number;
  /** Of the longest frame. */
  readonly bytes: number;
  /** Captures on this machine must see the frames, which only a packet socket can do. */
  readonly isCaptured?: boolean | undefined;
}
