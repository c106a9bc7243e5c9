/** A step of a session with its payload, as the services of this folder see it. */
export interface RecordedStep {
  readonly sessionIdx: number;
  readonly stepIdx: number;
  readonly side: 'client' | 'server';
  /** After the first packet of the capture. */
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** The ends of a session and what it speaks. */
export interface RecordedSession {
  readonly sessionIndex: number;
  readonly srcIp: string;
  readonly srcPort: number;
  readonly dstIp: string;
  readonly dstPort: number;
  readonly appProtocol: string;
}
