import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import { type IcmpWay, icmpType } from './icmp-socket.ts';

export const icmpHeaderBytes = 8;

/** What a message that arrived says about one of ours. */
export interface IcmpNews {
  kind: 'reply' | 'refused' | 'none';
  /** Of a refusal. */
  reason: string;
  identifier: number;
  sequence: number;
}

/** An echo request with everything but identifier, sequence number and checksum. */
export const requestTemplate = (version: 4 | 6, payloadBytes: number): Buffer => {
  const message = Buffer.alloc(icmpHeaderBytes + payloadBytes);
  message[0] = icmpType[version].request;
  for (let at = icmpHeaderBytes; at < message.length; at++) message[at] = at & 0xff;
  return message;
};

/** Numbers a request. The kernel puts in checksums of IPv6 itself, for they cover the addresses. */
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

/** Reads a message into `news`. Raw sockets of IPv4 hand over the IP header as well. */
export const readMessage = (
  bytes: Buffer,
  { start, end, version, way }: { start: number; end: number; version: 4 | 6; way: IcmpWay },
  news: IcmpNews,
): void => {
  news.kind = 'none';
  const at = version === 4 && way === 'raw' ? start + headerBytesAt(bytes, start, 4) : start;
  if (at + icmpHeaderBytes > end) return;
  const { reply, unreachable, exceeded } = icmpType[version];
  const type = bytes[at] as number;
  if (type === reply) {
    readNumbers(bytes, at, news, 'reply');
    return;
  }
  if (type !== unreachable && type !== exceeded) return;
  // A refusal holds the beginning of what it refuses.
  const quoted = at + icmpHeaderBytes;
  if (quoted + 1 > end) return;
  const message = quoted + headerBytesAt(bytes, quoted, version);
  if (message + icmpHeaderBytes > end || bytes[message] !== icmpType[version].request) return;
  readNumbers(bytes, message, news, 'refused');
  news.reason = type === unreachable ? String(bytes[at + 1]) : 'timeExceeded';
};

const readNumbers = (bytes: Buffer, at: number, news: IcmpNews, kind: 'reply' | 'refused'): void => {
  news.kind = kind;
  news.identifier = bytes.readUInt16BE(at + 4);
  news.sequence = bytes.readUInt16BE(at + 6);
};
