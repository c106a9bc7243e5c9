import { type EncodedRecord, encodeQuery, recordTypes } from '../../../dns/message.ts';
import { decodeName } from '../../../dns/name.ts';
import { Zone } from '../../../dns/zone.ts';
import { sha256Of } from '../../proof.ts';

export const proofName = (nonce: string): string => `${nonce}.proof.test`;

/** The nonce of a proof query. */
export const nonceIn = (name: string): string | undefined =>
  /^([0-9a-f]{32})\.proof\.test$/i.exec(name)?.[1]?.toLowerCase();

export const queryBytes = (name: string, type: string, id: number): Buffer => {
  const bytes = encodeQuery({ name, type: recordTypes[type] as number }, { recursion: true });
  bytes.writeUInt16BE(id, 0);
  return bytes;
};

const ttl = 60;

/** Encodes records written as in a zone file. */
export const recordsOf = (name: string, type: string, answers: readonly string[]): EncodedRecord[] => {
  const zone = new Zone(answers.map((data) => ({ name, type: type as 'A', ttl, data })));
  return zone.find({ name, type: recordTypes[type] as number }) ?? [];
};

const dataOf = (message: Buffer, type: number, at: number, length: number): string => {
  if (type === recordTypes['CNAME']) return decodeName(message, at).name.toLowerCase();
  if (type === recordTypes['MX'])
    return `${message.readUInt16BE(at)} ${decodeName(message, at + 2).name.toLowerCase()}`;
  return message.toString('hex', at, at + length);
};

/** Hash of the records of an answer. Flags and TTLs are ignored, because resolvers change them. */
export const answerHash = (message: Buffer): string => {
  const rcode = message.readUInt16BE(2) & 15;
  let at = decodeName(message, 12).end + 4;
  const records: string[] = [];
  for (let index = 0; index < message.readUInt16BE(6); index++) {
    const { end } = decodeName(message, at);
    const type = message.readUInt16BE(end);
    const length = message.readUInt16BE(end + 8);
    records.push(`${type} ${dataOf(message, type, end + 10, length)}\n`);
    at = end + 10 + length;
  }
  return sha256Of(`${rcode}\n`, records.toSorted().join(''));
};

export const questionHash = (name: string, type: number): string => sha256Of(`${name.toLowerCase()} ${type}`);
