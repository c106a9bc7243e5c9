import type { LdpNeighbour } from './neighbour.ts';
import type { LdpMessage } from './pdu.ts';

/**
 * What an extension did with a message: it was about something of its own, or only of a kind that it knows. Messages that no
 * extension knows are those of the session.
 */
export type LdpTaken = 'taken' | 'known' | undefined;

/** Something that uses the sessions of a router, such as pseudowires or multicast trees. */
export interface LdpExtension {
  /** TLVs of capabilities, which neighbours that do not know them skip (RFC 5561). */
  readonly capabilities: readonly number[];
  onUp(neighbour: LdpNeighbour, now: number): void;
  onDown(neighbour: LdpNeighbour, now: number): void;
  /** The connection to a neighbour takes more data. */
  onRoom(neighbour: LdpNeighbour): void;
  /** A message of labels or addresses, or a notification that does not end the session. */
  take(neighbour: LdpNeighbour, message: LdpMessage): LdpTaken;
}
