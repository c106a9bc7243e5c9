/** What all trees of a bridge share about a port. Times are milliseconds of the bridge's clock. */
export interface BridgePort {
  readonly index: number;
  /** Priority and number. */
  readonly id: number;
  readonly cost: number;
  readonly isEdge: boolean;
  readonly isPointToPoint: boolean;
  isLinkUp: boolean;
  /** Nothing but hosts is behind the port: until a bridge is heard. */
  isOperEdge: boolean;
  /** It speaks RSTP or MSTP, not STP. */
  isRapid: boolean;
  /** A message is due. */
  isDue: boolean;
  /** A notice of STP is to be acknowledged. */
  acknowledges: boolean;
  sentThisSecond: number;
  helloMs: number;
  /** The version of the protocol is not changed before. */
  versionUntilMs: number;
  readonly counters: { sent: number; received: number; invalid: number; timeouts: number };
}

export interface BridgePortOptions {
  readonly priority: number;
  readonly cost: number;
  readonly isEdge: boolean;
  readonly isPointToPoint: boolean;
}

export const createBridgePort = (
  index: number,
  { priority, cost, isEdge, isPointToPoint }: BridgePortOptions,
  isRapid: boolean,
): BridgePort => ({
  ...{ index, id: (priority << 8) | (index + 1), cost, isEdge, isPointToPoint, isRapid },
  ...{ isLinkUp: false, isOperEdge: isEdge, isDue: false, acknowledges: false },
  ...{ sentThisSecond: 0, helloMs: 0, versionUntilMs: 0 },
  counters: { sent: 0, received: 0, invalid: 0, timeouts: 0 },
});
