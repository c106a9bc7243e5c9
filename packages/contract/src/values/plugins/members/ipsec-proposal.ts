import { Type } from 'typebox';
import { optional } from '../../../schema.ts';
import { writeOnlySecret } from '../../../secret.ts';
import { choice, whole } from '../../protocols/field.ts';
import { optionalPemOrId } from './reference.ts';
import { bit, optionalText } from './values.ts';

const hexKey = '^(0x)?([0-9a-fA-F]{2}){8,64}$';
const sizes = [128, 192, 256];
const modes = ['gcm16', '', 'ctr', 'gcm8', 'gcm12'];
const ikeCiphers = [...modes.flatMap((mode) => sizes.map((size) => `aes${size}${mode}`)), 'chacha20poly1305'];
const hashes = ['sha256', 'sha384', 'sha512', 'sha1'];
const groups = [
  ...['curve25519', 'curve25519+mlkem768', 'ecp256', 'ecp384', 'ecp521', 'x448'],
  ...['modp2048', 'modp3072', 'modp4096', 'modp6144', 'modp8192'],
];
const espProposals = [
  ...['gcm16', 'gcm12', 'gcm8', 'gmac'].flatMap((mode) => sizes.map((size) => `aes${size}${mode}`)),
  'chacha20poly1305',
  ...['aes128', 'aes256', 'aes256ctr', 'null'].flatMap((cipher) => hashes.map((hash) => `${cipher}-${hash}`)),
  'aes256gcm16-esn',
];
/** Values to pick from, of which one text may have several. */
const alternatives = (examples: readonly string[]) => ({ examples, 'x-separator': ',' });

const secret = (description: string, more: object = {}) =>
  optional.string({
    description: `${description}. Sealed when stored, reads back masked`,
    minLength: 1,
    maxLength: 1024,
    ...writeOnlySecret,
    ...more,
  });

/** Algorithms and keys of an IPsec tunnel. */
export const ipsecProposal = {
  ipsecMode: choice('ESP around the whole packet, or around its payload', ['tunnel', 'transport']),
  ipsecAuthMethod: choice(
    'Pre-shared key, certificates, a user name and password or a certificate by EAP to a gateway with a certificate, or keys by hand without IKE',
    ['psk', 'cert', 'eap-mschapv2', 'eap-tls', 'manual'],
  ),
  ipsecPsk: secret('Pre-shared key; for eap-mschapv2 `user:password`, where `{index}` is the number of the tunnel'),
  ipsecCert: optionalPemOrId('Certificate of the agent'),
  ipsecCa: optionalPemOrId('Authority that peers’ certificates must come from'),
  ipsecIkeEncr: optionalText('IKE encryption, such as aes256; alternatives are separated by commas', {
    maxLength: 64,
    ...alternatives(ikeCiphers),
  }),
  ipsecIkePrf: optionalText('IKE pseudo-random function, such as sha256; alternatives are separated by commas', {
    maxLength: 64,
    ...alternatives(hashes),
  }),
  ipsecIkeDh: optionalText(
    'IKE key exchange, such as curve25519, or curve25519+mlkem768 with a second one; alternatives are separated by commas',
    { maxLength: 64, ...alternatives(groups) },
  ),
  ipsecCipher: Type.String({
    default: 'aes256gcm16',
    minLength: 1,
    maxLength: 64,
    description: 'ESP proposal, such as aes256gcm16 or aes128-sha256',
    examples: espProposals,
  }),
  ipsecPfs: bit('Child SAs make their own key exchange'),
  ipsecNatt: bit('ESP in UDP'),
  ipsecDpdInterval: whole('Seconds between dead-peer checks; 0 for none', 30, [0, 86_400]),
  ipsecDpdTimeout: whole('Seconds until a peer counts as dead', 150, [0, 86_400]),
  ipsecIkeTimeout: whole('Seconds after which a handshake that has not ended has failed', 48, [1, 48]),
  ipsecRekeyTime: whole('Seconds until keys are renewed; 0 for never', 3600, [0, 604_800]),
  ipsecSaLifetime: whole('Seconds an SA lives at most; 0 for ever', 0, [0, 604_800]),
  ipsecEncrypt: bit('ESP encrypts; else it only protects', 1),
};

/** Manual keying. */
export const ipsecManualKeys = {
  ipsecSpi: optionalText('Security parameter index of the first tunnel, in hexadecimal or decimal', {
    pattern: '^(0x[0-9a-fA-F]{1,8}|[0-9]{1,10})$',
  }),
  ipsecKey: secret('Integrity key in hexadecimal', { pattern: hexKey }),
  ipsecCipherKey: secret('Encryption key in hexadecimal', { pattern: hexKey }),
};
