import { agentStatus } from '@rushhour/contract';
import type { AgentHealth } from '@rushhour/protocol';
import type { Connection } from '../connection.ts';

/** An agent that is connected, or was until a moment ago: short breaks of the connection do not end it. */
export interface Presence {
  readonly agentId: number;
  bootId: string;
  connection: Connection | undefined;
  /** Monotonic, in milliseconds: clocks that are set must not make agents look lost. */
  heardAt: number;
  /** Heard since its last sighting was written. */
  isFresh: boolean;
  isSuspect: boolean;
  isBusy: boolean;
  isUpgrading: boolean;
  clockOffsetMs: number;
  roundTripMs: number;
  health: { at: number; reading: AgentHealth; isStored: boolean } | undefined;
}

export const statusOf = ({ isSuspect, isUpgrading, isBusy }: Presence) => {
  if (isUpgrading) return agentStatus.upgrading;
  if (isSuspect) return agentStatus.suspect;
  return isBusy ? agentStatus.busy : agentStatus.online;
};

export interface Patience {
  suspectMs: number;
  lostMs: number;
}

/** What silence of this length means. */
export const meaningOf = (silenceMs: number, { suspectMs, lostMs }: Patience): 'fine' | 'suspect' | 'lost' => {
  if (silenceMs >= lostMs) return 'lost';
  return silenceMs >= suspectMs ? 'suspect' : 'fine';
};
