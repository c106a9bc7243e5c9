import { Type } from 'typebox';
import { optional } from '../../../schema.ts';
import { writeOnlySecret } from '../../../secret.ts';
import { choice, whole } from '../../protocols/field.ts';
import { optionalPemOrId } from './reference.ts';
import { bit, optionalText } from './values.ts';

const hexKey = '^(0x)?([0-9a-fA-F]{2}){8,64}$';
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
    'Pre-shared key, certificates, a user name and password to a gateway with a certificate, or keys by hand without IKE',
    ['psk', 'cert', 'eap-mschapv2', 'manual'],
  ),
  ipsecPsk: secret('Pre-shared key; for eap-mschapv2 `user:password`, where `{index}` is the number of the tunnel'),
  ipsecCert: optionalPemOrId('Certificate of the agent'),
  ipsecCa: optionalPemOrId('Authority that peers’ certificates must come from'),
  ipsecIkeEncr: optionalText('IKE encryption, such as aes256', { maxLength: 64 }),
  ipsecIkePrf: optionalText('IKE pseudo-random function, such as sha256', { maxLength: 64 }),
  ipsecIkeDh: optionalText('IKE key exchange, such as curve25519', { maxLength: 64 }),
  ipsecCipher: Type.String({
    default: 'aes256gcm16',
    minLength: 1,
    maxLength: 64,
    description: 'ESP proposal, such as aes256gcm16 or aes128-sha256',
  }),
  ipsecPfs: bit('Child SAs make their own key exchange'),
  ipsecNatt: bit('ESP in UDP'),
  ipsecDpdInterval: whole('Seconds between dead-peer checks; 0 for none', 30, [0, 86_400]),
  ipsecDpdTimeout: whole('Seconds until a peer counts as dead', 150, [0, 86_400]),
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
