import { isIPv4, isIPv6 } from 'node:net';
import type { DnsServerConfig } from '@rushhour/protocol';
import { addressToNumber } from '../../net/addresses/address-range.ts';
import { type EncodedRecord, type Question, recordTypes } from './message.ts';
import { encodeName } from './name.ts';

type Answer = DnsServerConfig['answers'][number];

const uint16 = (...values: readonly (string | undefined)[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16BE(Number(value), index * 2);
  });
  return bytes;
};

const uint32 = (values: readonly string[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(Number(value), index * 4);
  });
  return bytes;
};

const text = (data: string): Buffer => {
  const strings = data.startsWith('"')
    ? [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? '')
    : [data];
  const pieces = strings.flatMap((string) => {
    const bytes = Buffer.from(string.replace(/\\(.)/g, '$1'));
    return Array.from({ length: Math.max(1, Math.ceil(bytes.length / 255)) }, (_, index) =>
      bytes.subarray(index * 255, index * 255 + 255),
    );
  });
  return Buffer.concat(pieces.flatMap((piece) => [Buffer.of(piece.length), piece]));
};

const address = (data: string, isRight: (text: string) => boolean, digits: number): Buffer => {
  if (!isRight(data)) throw new RangeError(`${data} is not a valid address for this record type`);
  return Buffer.from(addressToNumber(data).toString(16).padStart(digits, '0'), 'hex');
};

/** Encodes record data written as in a zone file. */
const encodeData = (type: string, data: string): Buffer => {
  const words = data.trim().split(/\s+/);
  switch (type) {
    case 'A':
      return address(data, isIPv4, 8);
    case 'AAAA':
      return address(data, isIPv6, 32);
    case 'TXT':
      return text(data);
    case 'MX':
      return Buffer.concat([uint16(words[0]), encodeName(words[1] ?? '')]);
    case 'SRV':
      return Buffer.concat([uint16(words[0], words[1], words[2]), encodeName(words[3] ?? '')]);
    case 'SOA':
      return Buffer.concat([encodeName(words[0] ?? ''), encodeName(words[1] ?? ''), uint32(words.slice(2, 7))]);
    case 'ANY':
      throw new RangeError('ANY is a query type and cannot be used in an answer');
    default:
      return encodeName(data.trim());
  }
};

interface ZoneRecord extends EncodedRecord {
  readonly target: string | undefined;
}

const keyOf = (name: string): string => name.replace(/\.$/, '').toLowerCase();

/** The names a server answers for. */
export class Zone {
  readonly #records = new Map<string, ZoneRecord[]>();

  constructor(answers: readonly Answer[]) {
    for (const { name, type, ttl, data } of answers) {
      const record: ZoneRecord = {
        owner: undefined,
        type: recordTypes[type] as number,
        ttl,
        data: encodeData(type, data),
        target: type === 'CNAME' ? data : undefined,
      };
      const key = keyOf(name);
      this.#records.set(key, [...(this.#records.get(key) ?? []), record]);
    }
  }

  /** Undefined when the name does not exist. CNAMEs are followed within this zone. */
  find({ name, type }: Question): EncodedRecord[] | undefined {
    const found: EncodedRecord[] = [];
    let next = name;
    for (let hops = 0; hops < 8; hops++) {
      const records = this.#at(next);
      if (records === undefined) return hops === 0 ? undefined : found;
      const owner = hops === 0 ? undefined : encodeName(next);
      const wanted = records.filter((record) => type === recordTypes['ANY'] || record.type === type);
      found.push(...wanted.map((record) => ({ ...record, owner })));
      const alias = records.find((record) => record.target !== undefined);
      if (alias?.target === undefined || wanted.length > 0) return found;
      found.push({ ...alias, owner });
      next = alias.target;
    }
    return found;
  }

  #at(name: string): readonly ZoneRecord[] | undefined {
    const key = keyOf(name);
    const exact = this.#records.get(key);
    if (exact !== undefined) return exact;
    for (let dot = key.indexOf('.'); dot >= 0; dot = key.indexOf('.', dot + 1)) {
      const wild = this.#records.get(`*${key.slice(dot)}`);
      if (wild !== undefined) return wild;
    }
    return this.#records.get('*');
  }
}
