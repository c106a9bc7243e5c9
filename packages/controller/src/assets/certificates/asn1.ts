import { AsnConvert, AsnParser } from '@peculiar/asn1-schema';
import * as asn1js from 'asn1js';

// Bytes inside octet and bit strings are parsed on demand only: a certificate may hold thousands of names.
const limits = { maxDepth: 40, maxNodes: 200_000, parseEmbedded: false };

export type Asn1Node = asn1js.AsnType;

/** Parses one BER value; throws on anything malformed, too deep or followed by other bytes. */
export function parseAsn1(bytes: Uint8Array): Asn1Node {
  const { offset, result } = asn1js.fromBER(bytes, limits);
  if (offset === -1) throw new Error(result.error || 'malformed ASN.1');
  if (offset !== bytes.byteLength) throw new Error('bytes after the end of the ASN.1 value');
  return result;
}

/** Parses DER into a class of the asn1-x509 schemas, with the same limits. */
export function parseSchema<T>(der: Uint8Array, schema: new () => T): T {
  return AsnConvert.parse(der, schema, { berOptions: limits });
}

export function schemaOf<T>(node: Asn1Node, schema: new () => T): T {
  return AsnParser.fromASN(node, schema);
}

/** Members of a SEQUENCE, a SET or an explicit tag. */
export function membersOf(node: Asn1Node | undefined): Asn1Node[] {
  if (!(node instanceof asn1js.Constructed)) throw new Error('expected a constructed ASN.1 value');
  return node.valueBlock.value as Asn1Node[];
}

export function oidOf(node: Asn1Node | undefined): string {
  if (!(node instanceof asn1js.ObjectIdentifier)) throw new Error('expected an object identifier');
  return node.getValue();
}

/** Bytes of an OCTET STRING, whole or in BER pieces, also under an implicit context tag. */
export function octetsOf(node: Asn1Node | undefined): Buffer {
  if (node instanceof asn1js.OctetString) return Buffer.from(node.getValue());
  if (node instanceof asn1js.Primitive) return Buffer.from(node.valueBlock.valueHexView);
  if (node instanceof asn1js.Constructed) return Buffer.concat(membersOf(node).map(octetsOf));
  throw new Error('expected an octet string');
}

export function integerOf(node: Asn1Node | undefined): number {
  if (!(node instanceof asn1js.Integer)) throw new Error('expected an integer');
  const value = Number(node.toBigInt());
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('integer out of range');
  return value;
}

export function isInteger(node: Asn1Node | undefined): boolean {
  return node instanceof asn1js.Integer;
}

export function encodingOf(node: Asn1Node): Buffer {
  return Buffer.from(node.valueBeforeDecodeView);
}
