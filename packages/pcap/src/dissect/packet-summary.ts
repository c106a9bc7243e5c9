import { latin1, u8, u16 } from '../bytes.ts';
import { linkTypeName } from '../read/link-type.ts';
import { isDns, isQuic } from '../sessions/identify/app-protocol.ts';
import { ACK, FIN, type Frame, PSH, RST, SYN, TCP, UDP } from './frame.ts';
import { formatAddress, formatMac } from './ip-address.ts';
import { ETHERTYPE_ARP } from './link-layer.ts';

export interface PacketSummary {
  proto: string;
  info: string;
}

const IP_PROTOCOLS = new Map([
  [1, 'ICMP'],
  [2, 'IGMP'],
  [4, 'IP-in-IP'],
  [41, 'IPv6-in-IP'],
  [47, 'GRE'],
  [50, 'ESP'],
  [58, 'ICMPv6'],
  [89, 'OSPF'],
  [103, 'PIM'],
  [112, 'VRRP'],
  [132, 'SCTP'],
]);
const ETHER_TYPES = new Map([
  [0x8035, 'RARP'],
  [0x8809, 'LACP'],
  [0x8847, 'MPLS'],
  [0x8863, 'PPPoED'],
  [0x8864, 'PPPoES'],
  [0x888e, 'EAPOL'],
  [0x88cc, 'LLDP'],
  [0x88f7, 'PTP'],
]);
const TLS_RECORDS = new Map([
  [20, 'Change Cipher Spec'],
  [21, 'Alert'],
  [22, 'Handshake'],
  [23, 'Application Data'],
]);
const FLAG_NAMES: readonly [number, string][] = [
  [FIN, 'FIN'],
  [SYN, 'SYN'],
  [RST, 'RST'],
  [PSH, 'PSH'],
  [ACK, 'ACK'],
];

/** The highest protocol that can be told from the packet alone, and one line about it. */
export function summaryOf(frame: Frame): PacketSummary {
  if (!frame.isLinkKnown) return { proto: linkTypeName(frame.linkType), info: 'link type is not read' };
  if (frame.ipVersion === 0) return belowIp(frame);
  if (frame.isFragment) return fragment(frame);
  if (frame.hasPorts) return frame.protocol === TCP ? tcp(frame) : udp(frame);
  const proto = protocolName(frame.protocol);
  const isCut = frame.protocol === TCP || frame.protocol === UDP;
  return { proto, info: isCut ? 'header is cut' : icmpInfo(frame) };
}

function protocolName(protocol: number): string {
  if (protocol === TCP) return 'TCP';
  return protocol === UDP ? 'UDP' : (IP_PROTOCOLS.get(protocol) ?? `IP protocol ${protocol}`);
}

function belowIp(frame: Frame): PacketSummary {
  const { bytes, networkStart: at, etherType } = frame;
  if (etherType !== ETHERTYPE_ARP) {
    const proto =
      ETHER_TYPES.get(etherType) ?? (etherType === 0 ? 'LLC' : `0x${etherType.toString(16).padStart(4, '0')}`);
    return { proto, info: '' };
  }
  if (at + 28 > frame.end) return { proto: 'ARP', info: 'header is cut' };
  const [sender, target] = [formatAddress(bytes, at + 14, 4), formatAddress(bytes, at + 24, 4)];
  const isRequest = u16(bytes, at + 6) === 1;
  const info = isRequest ? `Who has ${target}? Tell ${sender}` : `${sender} is at ${formatMac(bytes, at + 8)}`;
  return { proto: 'ARP', info };
}

function fragment(frame: Frame): PacketSummary {
  const more = frame.hasMoreFragments ? 'more follow' : 'last';
  const id = (frame.fragmentId >>> 0).toString(16).padStart(4, '0');
  const info = `Fragment of ${protocolName(frame.protocol)}, id=0x${id} offset=${frame.fragmentOffset}, ${more}`;
  return { proto: frame.ipVersion === 4 ? 'IPv4' : 'IPv6', info };
}

function tcp(frame: Frame): PacketSummary {
  const { bytes, payloadStart: start, payloadCaptured: captured } = frame;
  if (captured > 0) {
    const line = firstLine(bytes, start, start + captured);
    if (/^(HTTP\/1\.[01] \d{3}|[A-Z]{3,10} \S+ HTTP\/1\.[01])/.test(line)) return { proto: 'HTTP', info: line };
    const record = captured >= 5 && u8(bytes, start + 1) === 3 ? TLS_RECORDS.get(u8(bytes, start)) : undefined;
    if (record !== undefined && u8(bytes, start + 2) <= 4) return { proto: 'TLS', info: tlsInfo(frame, record) };
  }
  const flags = FLAG_NAMES.filter(([bit]) => (frame.flags & bit) !== 0).map(([, name]) => name);
  const numbers = `Seq=${frame.sequence >>> 0} Ack=${frame.acknowledgement >>> 0} Win=${frame.window}`;
  return { proto: 'TCP', info: `${ports(frame)} [${flags.join(', ')}] ${numbers} Len=${frame.payloadLength}` };
}

function tlsInfo(frame: Frame, record: string): string {
  const type = frame.payloadCaptured >= 6 && record === 'Handshake' ? u8(frame.bytes, frame.payloadStart + 5) : 0;
  if (type === 1) return 'Client Hello';
  return type === 2 ? 'Server Hello' : record;
}

function udp(frame: Frame): PacketSummary {
  const { bytes, payloadStart: start, sourcePort, destinationPort } = frame;
  const end = start + frame.payloadCaptured;
  if ([53, 5353, 5355].some((port) => port === sourcePort || port === destinationPort) && isDns(bytes, start, end)) {
    return { proto: 'DNS', info: dnsSummary(bytes, start, end) };
  }
  return { proto: isQuic(bytes, start, end) ? 'QUIC' : 'UDP', info: `${ports(frame)} Len=${frame.payloadLength}` };
}

function ports(frame: Frame): string {
  return `${frame.sourcePort} → ${frame.destinationPort}`;
}

function icmpInfo(frame: Frame): string {
  const isIcmp = frame.protocol === 1 || frame.protocol === 58;
  if (!isIcmp || frame.captured < 2) return '';
  const type = u8(frame.bytes, frame.transportStart);
  if (type === (frame.protocol === 1 ? 8 : 128)) return 'Echo request';
  if (type === (frame.protocol === 1 ? 0 : 129)) return 'Echo reply';
  return `Type ${type}, code ${u8(frame.bytes, frame.transportStart + 1)}`;
}

function firstLine(bytes: Uint8Array, start: number, end: number): string {
  const text = latin1(bytes, start, Math.min(end, start + 200));
  const line = text.split(/\r?\n/, 1)[0] ?? '';
  return /^[\x20-\x7e]*$/.test(line) ? line : '';
}

const TYPES = new Map([
  [1, 'A'],
  [2, 'NS'],
  [5, 'CNAME'],
  [6, 'SOA'],
  [12, 'PTR'],
  [15, 'MX'],
  [16, 'TXT'],
  [28, 'AAAA'],
  [33, 'SRV'],
  [64, 'SVCB'],
  [65, 'HTTPS'],
  [255, 'ANY'],
]);
const MAX_NAME = 255;

/** One line about a DNS message of at least 12 bytes. */
function dnsSummary(bytes: Uint8Array, start: number, end: number): string {
  const flags = u16(bytes, start + 2);
  const isResponse = (flags & 0x8000) !== 0;
  const question = u16(bytes, start + 4) > 0 ? questionText(bytes, start + 12, end) : '';
  const kind = isResponse ? `response ${u16(bytes, start + 6)} answers, code ${flags & 15}` : 'query';
  return `${kind}${question}`;
}

function questionText(bytes: Uint8Array, start: number, end: number): string {
  const labels: string[] = [];
  let at = start;
  // A question name is never compressed; anything else ends the reading.
  while (at < end && at - start < MAX_NAME) {
    const length = u8(bytes, at);
    if (length === 0) break;
    if (length > 63 || at + 1 + length > end) return '';
    labels.push(latin1(bytes, at + 1, at + 1 + length).replace(/[^\x21-\x7e]/g, '?'));
    at += 1 + length;
  }
  if (at + 5 > end) return '';
  const type = u16(bytes, at + 1);
  return ` ${TYPES.get(type) ?? `TYPE${type}`} ${labels.join('.') || '.'}`;
}
