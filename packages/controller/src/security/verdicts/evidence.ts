import type { AttackResult } from '@rushhour/contract';
import type { Attempt, ClientObservation, ServerObservation } from '@rushhour/protocol';

/** What counts as stopped; the part of the values that the judgement needs. */
export interface BlockPolicy {
  readonly resetIsBlock: boolean;
  readonly timeoutIsBlock: boolean;
  readonly partialIsBlock: boolean;
  readonly modifiedIs: 'blocked' | 'passed' | 'own';
  readonly blockStatus: readonly number[];
}

export const usualPolicy: BlockPolicy = {
  resetIsBlock: true,
  timeoutIsBlock: true,
  partialIsBlock: true,
  modifiedIs: 'blocked',
  blockStatus: [403, 406],
};

/** What our server saw of all steps of an attempt. */
export interface ServerSeen
  extends Pick<ServerObservation, 'ip' | 'port' | 'rxBytes' | 'rxSha256' | 'sentBytes' | 'sentSha256' | 'end'> {
  readonly agentId: number;
  readonly seen: AttackResult['server']['seen'];
  readonly correlation: ServerObservation['correlation'] | 'tuple';
}

/** Harmless exchanges around an attempt. */
export interface ControlsAround {
  /** The last one before it, or the proof of the path. */
  readonly before: boolean;
  /** The first one after it; undefined when none came. */
  readonly after: boolean | undefined;
}

/** Everything that is known of an attempt once both ends have told. */
export interface Evidence {
  readonly attempt: Pick<Attempt, 'kind' | 'direction'>;
  /** Undefined when the client never came to it. */
  readonly client: ClientObservation | undefined;
  readonly server: ServerSeen;
  readonly controls: ControlsAround;
  readonly policy: BlockPolicy;
}

export interface Decision extends Pick<AttackResult, 'outcome' | 'mechanism' | 'confidence' | 'reason'> {
  /** Row of the table of decisions. */
  readonly row: number;
}
