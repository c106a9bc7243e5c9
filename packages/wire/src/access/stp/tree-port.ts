import type { TreeTimes } from './bpdu.ts';
import type { BridgePort } from './bridge-port.ts';
import type { PriorityVector } from './priority-vector.ts';
import { portRoleCode } from './tree-message.ts';

/** Trees of a region leave it through the port that leads to the root outside: their `master`. */
export type PortRole = 'disabled' | 'root' | 'designated' | 'alternate' | 'backup' | 'master';
export type TreePortState = 'discarding' | 'learning' | 'forwarding';

export const roleCodes: Record<PortRole, number> = {
  disabled: portRoleCode.unknown,
  root: portRoleCode.root,
  designated: portRoleCode.designated,
  alternate: portRoleCode.alternate,
  backup: portRoleCode.alternate,
  master: portRoleCode.unknown,
};

/** What one tree knows of a port and does with it. Times are milliseconds of the bridge's clock. */
export interface TreePort {
  readonly link: BridgePort;
  role: PortRole;
  state: TreePortState;
  /** The best that was heard on this link, or what the bridge says of itself. */
  vector: PriorityVector;
  times: TreeTimes;
  remainingHops: number;
  /** The vector was heard from another bridge. */
  isHeard: boolean;
  /** That bridge is one of the same region. */
  isInternal: boolean;
  isProposing: boolean;
  isProposed: boolean;
  isAgreed: boolean;
  /** It says to the other end that everything behind it is in step. */
  agrees: boolean;
  /** The other end has a way out of the region. */
  isMastered: boolean;
  /** What was heard is forgotten then. */
  expiresMs: number;
  /** The next state is entered then. */
  nextStateMs: number;
  /** Topology changes are reported until then. */
  changeUntilMs: number;
}

const never = Number.POSITIVE_INFINITY;

export const createTreePort = (
  link: BridgePort,
  own: { readonly vector: PriorityVector; readonly times: TreeTimes },
): TreePort => ({
  ...{ link, ...own, remainingHops: 0, role: 'disabled', state: 'discarding' },
  ...{ isHeard: false, isInternal: false, isMastered: false },
  ...{ isProposing: false, isProposed: false, isAgreed: false, agrees: false },
  ...{ expiresMs: never, nextStateMs: never, changeUntilMs: 0 },
});
