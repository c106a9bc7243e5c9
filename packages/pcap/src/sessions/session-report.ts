import { hash } from 'node:crypto';
import { putU16 } from '../bytes.ts';
import type { FlowKey } from '../dissect/flow-table.ts';
import { formatAddress } from '../dissect/ip-address.ts';
import { type ClientChoice, isClientA } from './client-side.ts';
import { type PcapSession, roundMs } from './pcap-info.ts';
import { closeOf, handshakeOf, type Session } from './session.ts';

export interface ReportOptions extends ClientChoice {
  readonly fillGaps: boolean;
}

/** Report of one session, without steps. */
export function sessionReport(session: Session, key: FlowKey, options: ReportOptions): PcapSession {
  const isA = isClientA(session, key, options);
  const [client, server] = isA ? [session.a, session.b] : [session.b, session.a];
  const [srcIp, dstIp] = isA ? [key.addressA, key.addressB] : [key.addressB, key.addressA];
  const reasons = reasonsAgainstReplay(session, options.fillGaps);
  const serverSpeaksFirst = session.firstSide === (isA ? 2 : 1);
  const destination = addressText(dstIp);
  const dstPort = isA ? key.portB : key.portA;
  return {
    name: nameOf(session, destination, dstPort),
    protocol: session.isTcp ? 'tcp' : 'udp',
    srcIp: addressText(srcIp),
    dstIp: destination,
    srcPort: isA ? key.portA : key.portB,
    dstPort,
    bytesC2S: client.bytes,
    bytesS2C: server.bytes,
    exchangeCount: client.runs + (serverSpeaksFirst ? 1 : 0),
    sessionIndex: session.index,
    startMs: roundMs(session.startMs),
    durationMs: roundMs(session.lastMs - session.startMs),
    packets: client.packets + server.packets,
    handshake: handshakeOf(session),
    close: closeOf(session),
    retransmissions: client.retransmissions + server.retransmissions,
    gaps: client.gaps + server.gaps,
    missingBytes: client.missing + server.missing,
    appProtocol: session.appProtocol,
    httpHost: session.httpHost,
    sni: session.sni,
    ja3: session.ja3,
    ja4: session.ja4,
    communityId: communityIdOf(key),
    replayable: reasons.length === 0,
    reasons,
    steps: [],
  };
}

/** Empty if agents can replay both sides from this capture. */
export function reasonsAgainstReplay(session: Session, fillGaps: boolean): string[] {
  const { a, b } = session;
  const reasons: string[] = [];
  if (a.missing + b.missing > 0 && !fillGaps) reasons.push('missing-bytes');
  if (session.isTunnelled) reasons.push('tunnelled');
  // Half a TCP conversation cannot be answered; datagrams need no answer.
  if (session.isTcp && isOneWay(session)) reasons.push('one-way');
  if (session.firstSide === 0) reasons.push('no-payload');
  return reasons;
}

export function isOneWay(session: Session): boolean {
  return session.a.packets === 0 || session.b.packets === 0;
}

function addressText(address: Uint8Array): string {
  return formatAddress(address, 0, address.length === 4 ? 4 : 16);
}

function nameOf(session: Session, address: string, port: number): string {
  const kind = session.appProtocol === 'unknown' ? (session.isTcp ? 'tcp' : 'udp') : session.appProtocol;
  const host =
    session.httpHost || session.sni || (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);
  return `${kind} ${host}`;
}

/** Community ID version 1 with seed 0; the key is already in the order the standard asks for. */
export function communityIdOf(key: FlowKey): string {
  const count = key.addressA.length;
  const input = new Uint8Array(2 + 2 * count + 6);
  input.set(key.addressA, 2);
  input.set(key.addressB, 2 + count);
  input[2 + 2 * count] = key.protocol;
  putU16(input, 4 + 2 * count, key.portA);
  putU16(input, 6 + 2 * count, key.portB);
  return `1:${hash('sha1', input, 'base64')}`;
}
