import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { addressToNumber } from '../addresses/address-range.ts';

/** The ASN.1 DER elements used in a certificate. */
const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | length.length), length, body]);
};

const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
const octets = (bytes: Uint8Array) => tagged(0x04, bytes);
const bits = (bytes: Uint8Array) => tagged(0x03, Buffer.of(0), bytes);
const utf8 = (text: string) => tagged(0x0c, Buffer.from(text));
const time = (date: Date) => tagged(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')));
export const boolean = (value: boolean) => tagged(0x01, Buffer.of(value ? 0xff : 0));
export const context = (number: number, ...parts: readonly Uint8Array[]) => tagged(0xa0 | number, ...parts);
/** An implicit context tag on a primitive type. */
const implicit = (number: number, bytes: Uint8Array) => tagged(0x80 | number, bytes);

/** A positive integer from its big-endian bytes. */
const integer = (bytes: Uint8Array) =>
  tagged(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);

const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = rest.flatMap((arc) => {
    const groups = [arc & 127];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 127) | 128);
    return groups;
  });
  return tagged(0x06, Buffer.of(first * 40 + second, ...bytes));
};

const dayMs = 86_400_000;
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));

const addressBytes = (address: string): Buffer => {
  const digits = isIP(address) === 6 ? 32 : 8;
  return Buffer.from(addressToNumber(address).toString(16).padStart(digits, '0'), 'hex');
};

const subjectAltName = (names: readonly string[]): Buffer => {
  const entries = names.map((name) =>
    isIP(name) === 0 ? implicit(2, Buffer.from(name)) : implicit(7, addressBytes(name)),
  );
  return sequence(oid('2.5.29.17'), octets(sequence(...entries)));
};

/**
 * A self-signed certificate for servers without a configured one: P-256, valid from yesterday for a year, CA flag set.
 */
export const createSelfSigned = (names: readonly string[]): { certificate: string; privateKey: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8(names[0] ?? 'localhost'))));
  const isAuthority = sequence(oid('2.5.29.19'), boolean(true), octets(sequence(boolean(true))));
  const body = sequence(
    context(0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(Date.now() - dayMs)), time(new Date(Date.now() + 365 * dayMs))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    context(3, sequence(isAuthority, subjectAltName(names))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, privateKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
};
