import type { PriorityVector } from './priority-vector.ts';

export const portRoleCode = { unknown: 0, alternate: 1, root: 2, designated: 3 } as const;
export const bpduFlag = {
  topologyChange: 0x01,
  proposal: 0x02,
  learning: 0x10,
  forwarding: 0x20,
  agreement: 0x40,
  /** In messages of trees within a region `master`: the way out of the region. */
  acknowledgement: 0x80,
  master: 0x80,
} as const;
export const roleShift = 2;
export const bridgeIdBytes = 8;

/** What a port says about one tree. */
export interface TreeMessage {
  readonly flags: number;
  /** A code of `portRoleCode`. */
  readonly role: number;
  readonly vector: PriorityVector;
  /** Bridges of the region that this may still cross. */
  readonly remainingHops: number;
}

export const roleOfFlags = (flags: number): number => (flags >> roleShift) & 3;

export const writeHex = (bytes: Uint8Array, at: number, hex: string): void => {
  for (let i = 0; i < hex.length / 2; i++) bytes[at + i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
};
