import type { FlowTable } from '../dissect/flow-table.ts';
import type { PcapWarning } from './pcap-info.ts';
import { handshakeOf, type Session } from './session.ts';
import { isOneWay } from './session-report.ts';
import type { TrafficTotals } from './traffic-totals.ts';

/** Session counts behind the warnings. */
interface SessionTally {
  noHandshake: number;
  withMissing: number;
  missingBytes: number;
  retransmissions: number;
  tls: number;
  quic: number;
  oneWay: number;
  multicast: number;
  jumps: number;
}

export interface WarningFacts {
  readonly sessions: readonly Session[];
  readonly flows: FlowTable;
  readonly totals: TrafficTotals;
  readonly cutFile: boolean;
}

/** Warnings to read before replaying a capture. */
export function warningsOf(facts: WarningFacts): PcapWarning[] {
  const { totals } = facts;
  const tally = tallyOf(facts);
  const rows: [string, number, string][] = [
    ['no-handshake', tally.noHandshake, 'TCP sessions started before the capture did'],
    ['missing-bytes', tally.withMissing, `sessions lack payload, ${tally.missingBytes} bytes in all`],
    ['retransmissions', tally.retransmissions, 'segments were sent more than once'],
    ['ip-fragments', totals.fragments, 'packets are IP fragments'],
    ['snaplen-cut', totals.snapLenCut, 'packets were cut by the snap length'],
    ['unsupported-linktype', totals.unsupportedLink, 'packets have a link type that is not read'],
    ['encrypted-tls', tally.tls, 'sessions are TLS: replay sends the recorded bytes and works between our agents only'],
    ['quic', tally.quic, 'sessions are QUIC and encrypted'],
    ['one-way', tally.oneWay, 'sessions have packets of one direction only'],
    [
      'non-tcp-udp',
      totals.notTcpUdp,
      `packets are neither TCP nor UDP, ${totals.closedTunnels} of them GRE or IP-in-IP`,
    ],
    [
      'tunnelled',
      totals.tunnelled,
      'packets are in tunnels, whose inner sessions are listed instead of the outer ones',
    ],
    ['bad-header', totals.badHeaders, 'packets have a TCP or UDP header that is cut or invalid, and no session'],
    ['sequence-jump', tally.jumps, 'times TCP data went on at an unrelated sequence number'],
    ['cut-file', facts.cutFile ? 1 : 0, 'record at the end of the file is incomplete'],
    ['multicast', tally.multicast, 'sessions go to a multicast or broadcast address'],
    ['too-many-sessions', totals.unassigned, 'packets belong to sessions beyond the most that are told apart'],
  ];
  return rows.filter((row) => row[1] > 0).map(([code, count, text]) => ({ code, count, message: `${count} ${text}.` }));
}

function tallyOf(facts: WarningFacts): SessionTally {
  const tally: SessionTally = {
    noHandshake: 0,
    withMissing: 0,
    missingBytes: 0,
    retransmissions: 0,
    tls: 0,
    quic: 0,
    oneWay: 0,
    multicast: 0,
    jumps: 0,
  };
  for (const session of facts.sessions) {
    const missing = session.a.missing + session.b.missing;
    if (session.isTcp && handshakeOf(session) === 'none') tally.noHandshake++;
    if (missing > 0) tally.withMissing++;
    tally.missingBytes += missing;
    tally.retransmissions += session.a.retransmissions + session.b.retransmissions;
    tally.jumps += session.a.jumps + session.b.jumps;
    if (session.appProtocol === 'tls') tally.tls++;
    if (session.appProtocol === 'quic') tally.quic++;
    if (isOneWay(session)) tally.oneWay++;
    if (!session.isTcp && facts.flows.isMulticast(session.index)) tally.multicast++;
  }
  return tally;
}
