import { latin1, startsWith, u8, u16 } from '../../bytes.ts';
import type { AppProtocol, Session } from '../session.ts';

const HTTP_STARTS = [
  'HTTP/1.',
  'GET ',
  'POST ',
  'HEAD ',
  'PUT ',
  'DELETE ',
  'OPTIONS ',
  'PATCH ',
  'CONNECT ',
  'TRACE ',
  'PROPFIND ',
  'REPORT ',
  'PRI * HTTP/2',
];
const SMTP_STARTS = ['EHLO ', 'HELO ', 'LHLO ', 'ehlo ', 'helo '];
const FTP_STARTS = ['USER ', 'AUTH ', 'FEAT', 'user '];
const SMTP_PORTS = [25, 465, 587, 2525];
const DNS_PORTS = [53, 5353, 5355];

/** Names the protocol from the first payload of one direction. */
export function classify(session: Session, bytes: Uint8Array, start: number, end: number): AppProtocol {
  return session.isTcp ? classifyStream(session, bytes, start, end) : classifyDatagram(session, bytes, start, end);
}

function classifyStream(session: Session, bytes: Uint8Array, start: number, end: number): AppProtocol {
  if (isTlsHello(bytes, start, end)) return 'tls';
  if (HTTP_STARTS.some((text) => startsWith(bytes, start, end, text))) return 'http';
  if (startsWith(bytes, start, end, 'SSH-')) return 'ssh';
  if (isSmb(bytes, start, end)) return 'smb';
  if (SMTP_STARTS.some((text) => startsWith(bytes, start, end, text))) return 'smtp';
  if (startsWith(bytes, start, end, '220')) return classifyGreeting(session, bytes, start, end);
  if (session.hasGreeting && FTP_STARTS.some((text) => startsWith(bytes, start, end, text))) return 'ftp';
  if (hasPort(session, DNS_PORTS) && end - start >= 14 && isDns(bytes, start + 2, end)) return 'dns';
  return 'unknown';
}

function classifyDatagram(session: Session, bytes: Uint8Array, start: number, end: number): AppProtocol {
  if (hasPort(session, DNS_PORTS) && isDns(bytes, start, end)) return 'dns';
  return isQuic(bytes, start, end) ? 'quic' : 'unknown';
}

/** SMTP and FTP both greet with 220; if port and text do not decide, the reply of the client does. */
function classifyGreeting(session: Session, bytes: Uint8Array, start: number, end: number): AppProtocol {
  session.hasGreeting = true;
  const text = latin1(bytes, start, Math.min(end, start + 256)).toUpperCase();
  if (hasPort(session, [21]) || text.includes('FTP')) return 'ftp';
  return hasPort(session, SMTP_PORTS) || text.includes('SMTP') ? 'smtp' : 'unknown';
}

function hasPort(session: Session, ports: readonly number[]): boolean {
  return ports.includes(session.portA) || ports.includes(session.portB);
}

function isTlsHello(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 6 || u8(bytes, start) !== 0x16 || u8(bytes, start + 1) !== 3 || u8(bytes, start + 2) > 4)
    return false;
  const type = u8(bytes, start + 5);
  return type === 1 || type === 2;
}

function isSmb(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 8 || u8(bytes, start) !== 0) return false;
  const mark = u8(bytes, start + 4);
  return (mark === 0xff || mark === 0xfe || mark === 0xfd) && startsWith(bytes, start + 5, end, 'SMB');
}

export function isDns(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 12) return false;
  const opcode = (u8(bytes, start + 2) >>> 3) & 15;
  const records = u16(bytes, start + 4) + u16(bytes, start + 6) + u16(bytes, start + 8) + u16(bytes, start + 10);
  return opcode <= 6 && records > 0 && records * 5 <= end - start;
}

/** Long header of version 1, version 2, a draft, or version negotiation of one of them. */
export function isQuic(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 7 || (u8(bytes, start) & 0xc0) !== 0xc0 || u8(bytes, start + 5) > 20) return false;
  const high = u16(bytes, start + 1);
  const low = u16(bytes, start + 3);
  if (high === 0 && low === 1) return true;
  return (high === 0x6b33 && low === 0x43cf) || (high === 0xff00 && low <= 0x22);
}
