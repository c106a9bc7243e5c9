import type { Question, RunReport, ToAgent } from '@rushhour/protocol';
import type { Arrival } from '../gateway.ts';
import type { StoredSeconds } from './peer-runs.ts';
import type { ControllerLoad } from './spread.ts';

/** A run and the fence that its owner has. */
export type OwnedRun = readonly [runId: number, fence: number];

/**
 * Of the messages below. Controllers of neighbouring versions understand each other: members and types are only added, and
 * what is not known is passed over. Messages without a version are of version 1.
 */
export const messageVersion = 2;

export const isNeighbour = (version: number): boolean => Math.abs(version - messageVersion) <= 1;

interface Versioned {
  readonly version?: number;
  /** The sender understands `stored`; to others what agents measured is passed on. */
  readonly takesStored?: boolean;
}

/** What controllers of one installation tell each other about agents. */
export type PeerMessage =
  /** Sent every second, and when what it says changes. */
  | ({ readonly type: 'beat'; readonly isConducting: boolean; readonly load?: ControllerLoad } & Versioned)
  /** A controller that starts asks who has which agents; so does one that may have missed messages. */
  | ({ readonly type: 'hello'; readonly hasMissed?: boolean } & Versioned)
  /** All agents that are connected to the sender, with their round trip times. */
  | ({
      readonly type: 'list';
      readonly isConducting: boolean;
      readonly load?: ControllerLoad;
      readonly agents: readonly (readonly [number, number])[];
      /** Runs that the sender conducts. */
      readonly runs?: readonly OwnedRun[];
    } & Versioned)
  /** The sender conducts these runs from now on, or no longer. */
  | { readonly type: 'owned' | 'disowned'; readonly runs: readonly OwnedRun[] }
  /** Agents of runs that the sender took over connect anew. */
  | { readonly type: 'renew'; readonly agentIds: readonly number[] }
  | { readonly type: 'connected'; readonly agentId: number; readonly arrival: Arrival; readonly roundTripMs: number }
  | { readonly type: 'suspect' | 'back'; readonly agentId: number }
  | { readonly type: 'lost'; readonly agentId: number; readonly reason: string }
  | { readonly type: 'report'; readonly agentId: number; readonly report: RunReport }
  /** The sender stored what agents measured in a run that the receiver conducts. */
  | ({ readonly type: 'stored' } & StoredSeconds)
  | { readonly type: 'send'; readonly agentId: number; readonly message: ToAgent }
  | {
      readonly type: 'ask';
      readonly number: number;
      readonly agentId: number;
      readonly question: Question;
      readonly timeoutMs?: number | undefined;
    }
  | { readonly type: 'answer'; readonly number: number; readonly result?: unknown; readonly failure?: AskFailure }
  /** The sender stops; its agents go elsewhere. */
  | { readonly type: 'bye' };

export interface AskFailure {
  readonly kind: 'unreachable' | 'refused';
  readonly message: string;
}
