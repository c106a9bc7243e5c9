/**
 * Messages between the controllers of one installation. Those to the same controller arrive in order, or not at all; one to
 * all may come twice when its carrier changes.
 */
export interface PeerLink {
  /** Address of this process, new with every start. */
  readonly id: string;
  /** What carries the messages at the moment. */
  readonly medium: string;
  /** To one controller, or to all others. */
  send(to: string | undefined, message: unknown): void;
  /** Call it once. */
  receive(listener: (from: string, message: unknown) => void): void;
  /** Messages may have been missed, in both directions. */
  onResumed(listener: () => void): void;
  /** How many other controllers are connected now. */
  countOthers(): Promise<number>;
  close(): Promise<void>;
}

/** A link that is away at times. */
export interface FastLink extends Omit<PeerLink, 'countOthers' | 'onResumed'> {
  readonly isConnected: boolean;
  /** Called when it is connected, and when it is so no longer. */
  onChange(listener: () => void): void;
}
