export type PcapErrorCode =
  | 'NOT_A_PCAP'
  | 'CORRUPT_CAPTURE'
  | 'PAYLOAD_LIMIT'
  | 'NOT_KEPT'
  | 'NO_SUCH_SESSION'
  | 'NO_SUCH_STEP'
  | 'BAD_FILTER'
  | 'BAD_RANGE'
  | 'BAD_ADDRESS'
  | 'NOTHING_LEFT'
  | 'LINKTYPE_MIX'
  | 'TOO_MANY_ADDRESSES'
  | 'CAPTURE_TOO_LARGE';

/** The only error this package throws on purpose; `code` is stable, `message` is one plain sentence. */
export class PcapError extends Error {
  readonly code: PcapErrorCode;

  constructor(code: PcapErrorCode, message: string) {
    super(message);
    this.name = 'PcapError';
    this.code = code;
  }
}
