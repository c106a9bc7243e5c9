/** The IP packet that is being handled. */
export interface Packet {
  /** Local (destination) and remote (source) address, 8 words. */
  readonly addresses: Int32Array;
  /** Index of the host it is for; -1: none. */
  path: number;
  ecn: number;
  checks: boolean;
  tags: number;
  ttl: number;
  isV6: boolean;
}
