import { decodeName, encodeName } from './name.ts';

export const recordTypes: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  ANY: 255,
};

const rcodeNames = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
export const rcodeName = (rcode: number): string => rcodeNames[rcode] ?? `RCODE${rcode}`;

const flag = { response: 0x8000, authoritative: 0x0400, truncated: 0x0200, recursionDesired: 0x0100 } as const;
const headerBytes = 12;
const internet = 1;

export interface Question {
  readonly name: string;
  readonly type: number;
}

export interface Edns {
  readonly size: number;
  readonly dnssec: boolean;
}

/** The OPT pseudo-record: maximum size of the answer. */
const optRecord = ({ size, dnssec }: Edns): Buffer => {
  const bytes = Buffer.alloc(11);
  bytes.writeUInt16BE(recordTypes['OPT'] as number, 1);
  bytes.writeUInt16BE(size, 3);
  bytes.writeUInt16BE(dnssec ? 0x8000 : 0, 7);
  return bytes;
};

const header = (id: number, flags: number, counts: readonly [number, number, number, number]): Buffer => {
  const bytes = Buffer.alloc(headerBytes);
  [id, flags, ...counts].forEach((value, index) => {
    bytes.writeUInt16BE(value, index * 2);
  });
  return bytes;
};

const questionBytes = ({ name, type }: Question): Buffer => {
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(type, 0);
  tail.writeUInt16BE(internet, 2);
  return Buffer.concat([encodeName(name), tail]);
};

/** A query template with id 0. */
export const encodeQuery = (question: Question, options: { recursion: boolean; edns?: Edns | undefined }): Buffer => {
  const opt = options.edns === undefined ? [] : [optRecord(options.edns)];
  const flags = options.recursion ? flag.recursionDesired : 0;
  return Buffer.concat([header(0, flags, [1, 0, 0, opt.length]), questionBytes(question), ...opt]);
};

export interface Query {
  readonly id: number;
  readonly flags: number;
  readonly opcode: number;
  readonly question: Question;
  readonly questionEnd: number;
  readonly edns: Edns | undefined;
}

/** Throws when the message is not a query with one question. */
export const decodeQuery = (message: Buffer): Query => {
  if (message.length < headerBytes) throw new RangeError('shorter than a header');
  const flags = message.readUInt16BE(2);
  if ((flags & flag.response) !== 0 || message.readUInt16BE(4) !== 1)
    throw new RangeError('not a query with exactly one question');
  const { name, end } = decodeName(message, headerBytes);
  if (end + 4 > message.length) throw new RangeError('the question exceeds the message');
  const questionEnd = end + 4;
  return {
    id: message.readUInt16BE(0),
    flags,
    opcode: (flags >> 11) & 15,
    question: { name, type: message.readUInt16BE(end) },
    questionEnd,
    edns: findEdns(message, questionEnd),
  };
};

const findEdns = (message: Buffer, start: number): Edns | undefined => {
  let at = start;
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
  for (let index = 0; index < records; index++) {
    const { end } = decodeName(message, at);
    if (end + 10 > message.length) throw new RangeError('a record exceeds the message');
    if (message.readUInt16BE(end) === recordTypes['OPT']) {
      return {
        size: Math.max(512, message.readUInt16BE(end + 2)),
        dnssec: (message.readUInt16BE(end + 6) & 0x8000) !== 0,
      };
    }
    at = end + 10 + message.readUInt16BE(end + 8);
  }
  return undefined;
};

export interface EncodedRecord {
  /** Undefined: the name of the question. */
  readonly owner: Buffer | undefined;
  readonly type: number;
  readonly ttl: number;
  readonly data: Buffer;
}

const recordBytes = ({ owner, type, ttl, data }: EncodedRecord): Buffer => {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(internet, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  // The name of the question follows the header.
  return Buffer.concat([owner ?? Buffer.of(0xc0, headerBytes), fixed, data]);
};

/** The answer to a query; truncated to the header when it exceeds `maxBytes`. */
export const encodeAnswer = (
  query: Query,
  message: Buffer,
  answer: { rcode: number; records: readonly EncodedRecord[]; maxBytes: number },
): Buffer => {
  const question = message.subarray(headerBytes, query.questionEnd);
  const opt = query.edns === undefined ? [] : [optRecord({ size: 1232, dnssec: query.edns.dnssec })];
  const flags = flag.response | flag.authoritative | (query.flags & (flag.recursionDesired | 0x7800)) | answer.rcode;
  const records = answer.records.map(recordBytes);
  const whole = Buffer.concat([
    header(query.id, flags, [1, records.length, 0, opt.length]),
    question,
    ...records,
    ...opt,
  ]);
  if (whole.length <= answer.maxBytes) return whole;
  return Buffer.concat([header(query.id, flags | flag.truncated, [1, 0, 0, opt.length]), question, ...opt]);
};

/** The FORMERR answer to an unreadable message. */
export const encodeFormatError = (message: Buffer): Buffer | undefined =>
  message.length < 2 ? undefined : header(message.readUInt16BE(0), flag.response | 1, [0, 0, 0, 0]);
