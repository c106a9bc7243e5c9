import { Flow } from './flow.ts';
import type { StepRecorder } from './step-recorder.ts';

export type AppProtocol = 'http' | 'tls' | 'dns' | 'smtp' | 'ftp' | 'ssh' | 'smb' | 'quic' | 'unknown';
export type Handshake = 'full' | 'partial' | 'none';
export type Close = 'fin' | 'rst' | 'none';

/** The first bytes of one direction, kept until the protocol is known. */
export interface PayloadHead {
  readonly isA: boolean;
  bytes: Uint8Array;
  length: number;
  looks: number;
}

/** A conversation between A and B, the lower and the higher (ip, port); who is the client is decided at the end. */
export class Session {
  readonly index: number;
  readonly isTcp: boolean;
  readonly portA: number;
  readonly portB: number;
  readonly startMs: number;
  lastMs: number;
  readonly a = new Flow(true);
  readonly b = new Flow(false);
  /** Last sender of payload: 0 none, 1 A, 2 B. */
  lastSide = 0;
  firstSide = 0;
  isFirstPacketFromA = true;

  /** 0 none, 1 A, 2 B: sender of the first SYN and of the first SYN-ACK. */
  synFrom = 0;
  synAckFrom = 0;
  isHandshakeAcknowledged = false;
  hasReset = false;
  isTunnelled = false;

  appProtocol: AppProtocol = 'unknown';
  /** Which directions still have to be looked at for the application protocol: 1 A, 2 B. */
  unseen = 3;
  hasGreeting = false;
  head: PayloadHead | null = null;
  httpHost = '';
  sni = '';
  ja3 = '';
  ja4 = '';

  recorder: StepRecorder | null = null;

  constructor(index: number, ports: { isTcp: boolean; portA: number; portB: number }, startMs: number) {
    this.index = index;
    this.isTcp = ports.isTcp;
    this.portA = ports.portA;
    this.portB = ports.portB;
    this.startMs = startMs;
    this.lastMs = startMs;
  }
}

/** Whether a SYN opens a new connection on the same ports; one with the number of the first SYN is a retry. */
export function startsOver(session: Session, isFromA: boolean, sequence: number): boolean {
  const from = isFromA ? session.a : session.b;
  if (from.hasSynchronized) return from.initialSequence !== sequence;
  return from.isAnchored || session.hasReset || session.a.hasFinished || session.b.hasFinished;
}

export function handshakeOf(session: Session): Handshake {
  if (session.synFrom !== 0 && session.synAckFrom !== 0 && session.isHandshakeAcknowledged) return 'full';
  return session.synFrom !== 0 || session.synAckFrom !== 0 ? 'partial' : 'none';
}

export function closeOf(session: Session): Close {
  if (session.a.hasFinished && session.b.hasFinished) return 'fin';
  if (session.hasReset) return 'rst';
  return session.a.hasFinished || session.b.hasFinished ? 'fin' : 'none';
}
