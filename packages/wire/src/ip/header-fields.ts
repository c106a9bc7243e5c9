/** Fields of the IP header that a task orders. */
export interface HeaderFields {
  /** Time to live, or hop limit. */
  readonly ttl: number;
  readonly dscp: number;
  /** ECN bits of packets whose transport does not set them itself. */
  readonly ecn: number;
  /** IPv4: don't fragment. */
  readonly df: boolean;
  /** IPv6: fixed flow label; -1: one for each flow. */
  readonly flowLabel: number;
  /** Largest IP packet; larger ones are sent in fragments. 0: only what exceeds the MTU is fragmented. */
  readonly fragmentSize: number;
  /** Checksums of the transport are wrong on purpose. */
  readonly invalidChecksum: boolean;
}

export const defaultHeaderFields: HeaderFields = {
  ttl: 64,
  dscp: 0,
  ecn: 0,
  df: true,
  flowLabel: 0,
  fragmentSize: 0,
  invalidChecksum: false,
};

export const ipProtocol = {
  icmp: 1,
  ipip: 4,
  tcp: 6,
  udp: 17,
  ipv6: 41,
  gre: 47,
  esp: 50,
  icmp6: 58,
  l2tp: 115,
} as const;
