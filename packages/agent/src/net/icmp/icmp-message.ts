import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import { type IcmpSocketKind, icmpType } from './icmp-socket.ts';

export const icmpHeaderBytes = 8;

/** What a received message says about one of ours. */
export interface IcmpResponse {
  kind: 'reply' | 'refused' | 'none';
  /** Only for errors. */
  reason: string;
  identifier: number;
  sequence: number;
}

/** An echo request without identifier, sequence number and checksum. */
export const requestTemplate = (version: 4 | 6, payloadBytes: number): Buffer => {
  const message = Buffer.alloc(icmpHeaderBytes + payloadBytes);
  message[0] = icmpType[version].request;
  for (let at = icmpHeaderBytes; at < message.length; at++) message[at] = at & 0xff;
  return message;
};

/** Sets identifier and sequence number. The kernel fills in ICMPv6 checksums, which cover the addresses. */
export const numberRequest = (
  message: Buffer,
  { version, identifier, sequence }: { version: 4 | 6; identifier: number; sequence: number },
  templateSum: number,
): void => {
  message.writeUInt16BE(identifier, 4);
  message.writeUInt16BE(sequence, 6);
  if (version === 4) message.writeUInt16BE(checksumOf(templateSum + identifier + sequence), 2);
};

export const templateSumOf = (template: Buffer): number => sumOf(template, 0, template.length);

const headerBytesAt = (bytes: Buffer, at: number, version: 4 | 6): number =>
  version === 6 ? 40 : ((bytes[at] as number) & 15) * 4;

/** Reads a message into `response`. Raw IPv4 sockets deliver the IP header as well. */
export const readMessage = (
  bytes: Buffer,
  { start, end, version, kind }: { start: number; end: number; version: 4 | 6; kind: IcmpSocketKind },
  response: IcmpResponse,
): void => {
  response.kind = 'none';
  const at = version === 4 && kind === 'raw' ? start + headerBytesAt(bytes, start, 4) : start;
  if (at + icmpHeaderBytes > end) return;
  const { reply, unreachable, exceeded } = icmpType[version];
  const type = bytes[at] as number;
  if (type === reply) {
    readNumbers(bytes, at, response, 'reply');
    return;
  }
  if (type !== unreachable && type !== exceeded) return;
  // An ICMP error quotes the beginning of the message it is about.
  const quoted = at + icmpHeaderBytes;
  if (quoted + 1 > end) return;
  const message = quoted + headerBytesAt(bytes, quoted, version);
  if (message + icmpHeaderBytes > end || bytes[message] !== icmpType[version].request) return;
  readNumbers(bytes, message, response, 'refused');
  response.reason = type === unreachable ? String(bytes[at + 1]) : 'timeExceeded';
};

const readNumbers = (bytes: Buffer, at: number, response: IcmpResponse, kind: 'reply' | 'refused'): void => {
  response.kind = kind;
  response.identifier = bytes.readUInt16BE(at + 4);
  response.sequence = bytes.readUInt16BE(at + 6);
};
