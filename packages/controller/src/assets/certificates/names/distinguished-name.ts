import { AsnConvert } from '@peculiar/asn1-schema';
import { AttributeTypeAndValue, AttributeValue, Name, RelativeDistinguishedName } from '@peculiar/asn1-x509';
import { CertificateError } from '../certificate-error.ts';
import { type NameAttribute, splitDistinguishedName } from './distinguished-name-syntax.ts';

/** RFC 4514 text (`CN=www.example.test,O=Example,C=NL`), or the same attributes as an object. */
export type SubjectInput = string | Readonly<Record<string, string>>;

const attributeOids = {
  CN: '2.5.4.3',
  SN: '2.5.4.4',
  SERIALNUMBER: '2.5.4.5',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  T: '2.5.4.12',
  GN: '2.5.4.42',
  UID: '0.9.2342.19200300.100.1.1',
  DC: '0.9.2342.19200300.100.1.25',
  EMAILADDRESS: '1.2.840.113549.1.9.1',
} as const;
const oidsByName = new Map<string, string>(Object.entries(attributeOids));
const aliases: Readonly<Record<string, string>> = { E: 'EMAILADDRESS', EMAIL: 'EMAILADDRESS', S: 'ST', G: 'GN' };
const displayNames = new Map<string, string>(
  Object.entries(attributeOids).map(([name, oid]) => [oid, name === 'EMAILADDRESS' ? 'emailAddress' : name]),
);
const ia5Oids = new Set<string>([attributeOids.DC, attributeOids.EMAILADDRESS]);
const maxAttributes = 64;
const maxValueChars = 256;

export function parseDistinguishedName(input: SubjectInput): Name {
  const parts = typeof input === 'string' ? splitDistinguishedName(input) : objectParts(input);
  if (parts.flat().length > maxAttributes) throw badSubject(`the subject has more than ${maxAttributes} attributes`);
  // RFC 4514 writes the last part of the encoded name first.
  return new Name(parts.reverse().map((part) => new RelativeDistinguishedName(inDerOrder(part.map(attributeOf)))));
}

/** RFC 4514 text of an encoded name. */
export function distinguishedNameOf(name: Name): string {
  return [...name]
    .reverse()
    .map((part) => [...part].map(({ type, value }) => `${displayNames.get(type) ?? type}=${textOf(value)}`).join('+'))
    .join(',');
}

export function commonNameOf(name: Name): string | undefined {
  const attributes = [...name].flatMap((part) => [...part]);
  return attributes.findLast(({ type }) => type === attributeOids.CN)?.value.toString();
}

function inDerOrder(attributes: AttributeTypeAndValue[]): AttributeTypeAndValue[] {
  const encoded = new Map(attributes.map((one) => [one, Buffer.from(AsnConvert.serialize(one))]));
  return attributes.sort((a, b) => Buffer.compare(encoded.get(a) ?? Buffer.of(), encoded.get(b) ?? Buffer.of()));
}

function objectParts(input: Readonly<Record<string, string>>): NameAttribute[][] {
  return Object.entries(input).map(([type, value]) => [{ type, value }]);
}

function attributeOf({ type, value }: NameAttribute): AttributeTypeAndValue {
  const oid = oidOfType(type);
  if (value.length === 0 || value.length > maxValueChars) {
    throw badSubject(`${type} must have 1 to ${maxValueChars} characters`);
  }
  if (/\p{Cc}/u.test(value)) throw badSubject(`${type} contains a control character`);
  return new AttributeTypeAndValue({ type: oid, value: new AttributeValue(encodedAs(oid, type, value)) });
}

function encodedAs(oid: string, type: string, value: string): Partial<AttributeValue> {
  if (oid === attributeOids.C) {
    if (!/^[A-Za-z]{2}$/.test(value)) throw badSubject('C must be a country code of two letters');
    return { printableString: value.toUpperCase() };
  }
  if (!ia5Oids.has(oid)) return { utf8String: value };
  if (!/^[\x20-\x7e]*$/.test(value)) throw badSubject(`${type} must be ASCII`);
  return { ia5String: value };
}

function oidOfType(type: string): string {
  if (/^[0-2](\.(0|[1-9]\d{0,9})){1,20}$/.test(type)) return type;
  const upper = type.toUpperCase();
  const oid = oidsByName.get(aliases[upper] ?? upper);
  if (!oid) throw badSubject(`the attribute ${JSON.stringify(type)} is not known; use its object identifier`);
  return oid;
}

function textOf(value: AttributeValue): string {
  if (value.anyValue) return `#${Buffer.from(value.anyValue).toString('hex')}`;
  return value
    .toString()
    .replace(/^[ #]|[,+"\\<>;]| $/g, '\\$&')
    .replace(/\p{Cc}/gu, (character) => Buffer.from(character).toString('hex').replace(/../g, '\\$&').toUpperCase());
}

function badSubject(message: string): CertificateError {
  return new CertificateError('BAD_SUBJECT', '/generate/subject', message);
}
