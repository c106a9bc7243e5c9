/** How connections behave. One object is shared by all connections of a task. */
export interface TcpSettings {
  /** Largest segment announced and sent, in bytes of payload without options; 0: as the MTU of the link allows. */
  readonly mss: number;
  /** Largest receive window in bytes. */
  readonly window: number;
  readonly windowScale: boolean;
  readonly sack: boolean;
  readonly timestamps: boolean;
  readonly ecn: boolean;
  readonly congestion: 'newreno' | 'cubic';
  /** Segments of the initial congestion window (RFC 6928). */
  readonly initialWindow: number;
  /** Times a SYN or SYN-ACK is repeated before the connection fails. */
  readonly synRetries: number;
  /** Times data is repeated without an answer before the connection fails. */
  readonly dataRetries: number;
  /** Idle time before the first keep-alive probe and between probes; 0: none. */
  readonly keepAliveMs: number;
  /** Unanswered probes after which the connection fails. */
  readonly keepAliveProbes: number;
  /** Send small segments at once instead of waiting for acknowledgements (Nagle). */
  readonly noDelay: boolean;
  /** Longest delay of an acknowledgement; 0: none is delayed. */
  readonly delayedAckMs: number;
  readonly initialRtoMs: number;
  readonly minRtoMs: number;
  readonly maxRtoMs: number;
  readonly timeWaitMs: number;
  /** Longest wait for the FIN of the peer after it has acknowledged ours. */
  readonly finWait2Ms: number;
  /** Bytes not yet acknowledged below which `onSent` asks for more. */
  readonly sendBuffer: number;
}

export const defaultTcpSettings: TcpSettings = {
  mss: 0,
  window: 1 << 20,
  windowScale: true,
  sack: true,
  timestamps: true,
  ecn: false,
  congestion: 'cubic',
  initialWindow: 10,
  synRetries: 6,
  dataRetries: 15,
  keepAliveMs: 0,
  keepAliveProbes: 9,
  noDelay: true,
  delayedAckMs: 40,
  initialRtoMs: 1000,
  minRtoMs: 200,
  maxRtoMs: 120_000,
  timeWaitMs: 60_000,
  finWait2Ms: 60_000,
  sendBuffer: 1 << 20,
};

const maxShift = 14;

/** Window scale (RFC 7323) that lets the whole receive window be announced. */
export const windowShiftOf = ({ window, windowScale }: TcpSettings): number => {
  let shift = 0;
  if (windowScale) while (shift < maxShift && window >> shift > 0xffff) shift++;
  return shift;
};
