import type { LdpSession } from './session.ts';

/** A neighbour whose hellos are heard, and the session with it. */
export interface LdpNeighbour {
  readonly lsrId: number;
  /** Address of its TCP sessions. */
  readonly transport: string;
  /** When each source of its hellos is forgotten. */
  readonly sources: Map<string, number>;
  session: LdpSession | undefined;
  upAt: number;
  retryAt: number;
}
