/** Where frames are written before they leave. They stay in their places, so that only what changes is written anew. */
export interface FramePlaces {
  readonly count: number;
  readonly bytes: Buffer;
  offsetOf(place: number): number;
  /** Refuses what is longer than a place. */
  setLength(place: number, bytes: number): void;
}

/** One way by which frames leave an interface. */
export interface Outlet {
  /** Its name for those who read about a run. */
  readonly way: string;
  readonly places: FramePlaces;
  /**
   * Frames that were taken over, from the first place on, and did not leave all the same, since it was opened: the
   * interface had no room for them. Only a way that learns of it too late to send them again has such frames.
   */
  readonly lost: number;
  /**
   * Sends the frames from `first` to before `end`; says how many were taken, or as a negative error number why none was.
   * The places of those that were taken may be written again at once.
   */
  send(first: number, end: number): number;
  close(): void;
}

export interface OutletSizes {
  /** Places for frames. */
  readonly count: number;
  /** Of the longest frame. */
  readonly bytes: number;
}
