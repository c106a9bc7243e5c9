import { DataSequence } from './data-sequence.ts';
import type { Tunnel } from './tunnel.ts';

export const callState = { waitReply: 1, waitConnect: 2, established: 3, over: 4 } as const;

/** One session in a tunnel. */
export interface Call {
  readonly session: number;
  readonly tunnel: Tunnel;
  readonly localId: number;
  peerId: number;
  state: (typeof callState)[keyof typeof callState];
  /** Data messages are numbered, whatever the peer does. */
  isSequencingRequired: boolean;
  /** The next data message is numbered. */
  isSequencing: boolean;
  readonly sequence: DataSequence;
}

export const createCall = (
  tunnel: Tunnel,
  session: number,
  fields: Pick<Call, 'localId' | 'peerId' | 'state' | 'isSequencing' | 'isSequencingRequired'>,
): Call => ({ session, tunnel, ...fields, sequence: new DataSequence() });
