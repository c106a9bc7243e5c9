import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { addressToNumber } from '../addresses/address-range.ts';
import { bits, boolean, context, implicit, integer, octets, oid, sequence, set, time, utf8 } from './der.ts';

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

/** A certificate for servers that were given none: P-256, valid from yesterday for a year, its own authority. */
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
