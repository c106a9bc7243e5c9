import type { CipherSpec } from '../crypto.ts';
import { encryptionId, groupId, integrityId, prfId } from './numbers.ts';

/** Ciphers that protect integrity themselves, or only that. */
const combined: ReadonlySet<number> = new Set([
  encryptionId.aesGcm8,
  encryptionId.aesGcm12,
  encryptionId.aesGcm16,
  encryptionId.aesGmac,
  encryptionId.chacha20Poly1305,
]);

export const isCombined = (encryption: number): boolean => combined.has(encryption);

/** Bytes at the end of a key that are part of every nonce. */
const hasSalt = (encryption: number): boolean => combined.has(encryption) || encryption === encryptionId.aesCtr;

export const encryptionKeyBytes = ({ encryption, keyBits }: CipherSpec): number =>
  keyBits / 8 + (hasSalt(encryption) ? 4 : 0);

const integrityKeys: Readonly<Record<number, number>> = {
  [integrityId.none]: 0,
  [integrityId.sha1]: 20,
  [integrityId.sha256]: 32,
  [integrityId.sha384]: 48,
  [integrityId.sha512]: 64,
};

export const integrityKeyBytes = (integrity: number): number => integrityKeys[integrity] ?? 0;

const prfKeys: Readonly<Record<number, number>> = {
  [prfId.sha1]: 20,
  [prfId.sha256]: 32,
  [prfId.sha384]: 48,
  [prfId.sha512]: 64,
};

export const prfBytes = (prf: number): number => prfKeys[prf] ?? 0;

export interface Encryption {
  readonly id: number;
  readonly keyBits: number;
}

const modes: Readonly<Record<string, number>> = {
  '': encryptionId.aesCbc,
  cbc: encryptionId.aesCbc,
  ctr: encryptionId.aesCtr,
  gcm8: encryptionId.aesGcm8,
  gcm64: encryptionId.aesGcm8,
  gcm12: encryptionId.aesGcm12,
  gcm96: encryptionId.aesGcm12,
  gcm: encryptionId.aesGcm16,
  gcm16: encryptionId.aesGcm16,
  gcm128: encryptionId.aesGcm16,
  gmac: encryptionId.aesGmac,
};

/** A cipher by the names that strongSwan has for it, such as aes256, aes128ctr or aes256gcm16. */
export const findEncryption = (name: string): Encryption | undefined => {
  const plain = name.toLowerCase().replaceAll(/[-_ ]/g, '');
  if (plain === 'null') return { id: encryptionId.null, keyBits: 0 };
  if (plain === '3des') return { id: encryptionId.tripleDes, keyBits: 192 };
  if (plain === 'chacha20poly1305') return { id: encryptionId.chacha20Poly1305, keyBits: 256 };
  const [, , size = '128', mode = ''] = /^(aes|nullaes)(128|192|256)?(.*)$/.exec(plain) ?? [];
  const id = plain.includes('aes') ? modes[mode] : undefined;
  return id === undefined ? undefined : { id, keyBits: Number(size) };
};

type Hash = keyof typeof prfId;

const hashNames: Readonly<Record<string, Hash>> = {
  sha: 'sha1',
  sha1: 'sha1',
  sha256: 'sha256',
  sha2256: 'sha256',
  sha384: 'sha384',
  sha2384: 'sha384',
  sha512: 'sha512',
  sha2512: 'sha512',
};

const hashOf = (name: string): Hash | undefined =>
  hashNames[
    name
      .toLowerCase()
      .replaceAll(/[-_ ]/g, '')
      .replace(/^(prf|hmac)+/, '')
  ];

export const findPrf = (name: string): number | undefined => {
  const hash = hashOf(name);
  return hash && prfId[hash];
};

export const findIntegrity = (name: string): number | undefined => {
  const hash = hashOf(name);
  return hash && integrityId[hash];
};

const encapsulations: ReadonlySet<number> = new Set([groupId.mlkem512, groupId.mlkem768, groupId.mlkem1024]);

/** True for ML-KEM, whose responder answers with a ciphertext instead of a value of its own. */
export const isEncapsulation = (group: number): boolean => encapsulations.has(group);

/** A key exchange by its name, such as modp2048, ecp256, curve25519 or x25519; "group14" and "14" by number. */
export const findGroup = (name: string): number | undefined => {
  const plain = name
    .toLowerCase()
    .replaceAll(/[-_ ]/g, '')
    .replace(/^x(25519|448)$/, 'curve$1')
    .replace(/^(?:p|secp|nistp)(256|384|521)(?:r1)?$/, 'ecp$1');
  const known = Object.entries(groupId).filter(([, id]) => id !== groupId.none);
  const number = /^(?:dh)?(?:group)?(\d{1,2})$/.exec(plain)?.[1];
  return known.find(([key, id]) => key === plain || String(id) === number)?.[1];
};

const nameIn = (table: Readonly<Record<string, number>>, id: number): string =>
  Object.entries(table).find(([, value]) => value === id)?.[0] ?? String(id);

/** A suite in the names of strongSwan, such as aes256gcm16-sha256-curve25519. */
export const suiteName = (suite: CipherSpec & { readonly prf?: number; readonly group?: number }): string => {
  const cipher = nameIn(encryptionId, suite.encryption)
    .replace(/^aes(Cbc)?/, `aes${suite.keyBits}`)
    .toLowerCase();
  const parts = [cipher];
  if (suite.integrity !== integrityId.none) parts.push(nameIn(integrityId, suite.integrity));
  else if (suite.prf !== undefined) parts.push(nameIn(prfId, suite.prf));
  if ((suite.group ?? 0) !== 0) parts.push(nameIn(groupId, suite.group as number));
  return parts.join('-');
};
