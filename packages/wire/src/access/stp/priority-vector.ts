import { hexOfBytes } from '../../bytes/memory.ts';

/**
 * What decides between bridges; the smaller one is the better. Bridges are 16 hexadecimal digits: priority and MAC.
 * Without regions every bridge is the root of its own. Trees of MSTP within a region have no root and no cost outside.
 */
export interface PriorityVector {
  readonly root: string;
  /** Cost outside of regions. */
  readonly cost: number;
  readonly regionalRoot: string;
  /** Cost within the region. */
  readonly internalCost: number;
  readonly bridge: string;
  readonly port: number;
}

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Below 0: the first is the better one. */
export const compareVectors = (a: PriorityVector, b: PriorityVector): number =>
  compareTexts(a.root, b.root) ||
  a.cost - b.cost ||
  compareTexts(a.regionalRoot, b.regionalRoot) ||
  a.internalCost - b.internalCost ||
  compareTexts(a.bridge, b.bridge) ||
  a.port - b.port;

/** The id of a bridge from its priority and its MAC. */
export const bridgeIdOf = (priority: number, mac: Uint8Array): string =>
  priority.toString(16).padStart(4, '0') + hexOfBytes(mac);
