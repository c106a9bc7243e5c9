import type { PriorityVector, TreeTimes } from './bpdu.ts';

export type PortRole = 'disabled' | 'root' | 'designated' | 'alternate' | 'backup';
export type TreePortState = 'discarding' | 'learning' | 'forwarding';

/** What a port knows and does. Times are milliseconds of the bridge's clock. */
export interface TreePort {
  readonly index: number;
  /** Priority and number. */
  readonly id: number;
  readonly cost: number;
  readonly isEdge: boolean;
  readonly isPointToPoint: boolean;
  role: PortRole;
  state: TreePortState;
  isLinkUp: boolean;
  /** The best that was heard on this link, or what the bridge says of itself. */
  vector: PriorityVector;
  times: TreeTimes;
  /** The vector was heard from another bridge. */
  isHeard: boolean;
  /** Nothing but hosts is behind the port: until a bridge is heard. */
  isOperEdge: boolean;
  /** It speaks RSTP, not STP. */
  isRapid: boolean;
  isProposing: boolean;
  isProposed: boolean;
  isAgreed: boolean;
  /** It says to the other end that everything behind it is in step. */
  agrees: boolean;
  /** A message is due. */
  isDue: boolean;
  /** A notice of STP is to be acknowledged. */
  acknowledges: boolean;
  sentThisSecond: number;
  helloMs: number;
  /** What was heard is forgotten then. */
  expiresMs: number;
  /** The next state is entered then. */
  nextStateMs: number;
  /** Topology changes are reported until then. */
  changeUntilMs: number;
  /** The version of the protocol is not changed before. */
  versionUntilMs: number;
  readonly counters: { sent: number; received: number; invalid: number; timeouts: number };
}

export interface TreePortOptions {
  readonly priority: number;
  readonly cost: number;
  readonly isEdge: boolean;
  readonly isPointToPoint: boolean;
}

const never = Number.POSITIVE_INFINITY;

export const createTreePort = (
  index: number,
  { priority, cost, isEdge, isPointToPoint }: TreePortOptions,
  own: { readonly vector: PriorityVector; readonly times: TreeTimes; readonly isRapid: boolean },
): TreePort => ({
  ...{ index, id: (priority << 8) | (index + 1), cost, isEdge, isPointToPoint, ...own },
  ...{ role: 'disabled', state: 'discarding', isLinkUp: false, isHeard: false, isOperEdge: isEdge },
  ...{ isProposing: false, isProposed: false, isAgreed: false, agrees: false, isDue: false, acknowledges: false },
  ...{ sentThisSecond: 0, helloMs: 0, expiresMs: never, nextStateMs: never, changeUntilMs: 0, versionUntilMs: 0 },
  counters: { sent: 0, received: 0, invalid: 0, timeouts: 0 },
});
