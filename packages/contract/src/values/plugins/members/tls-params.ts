import { Type } from 'typebox';
import { OneOf, optional } from '../../../schema.ts';
import { choice, flag, section, subset } from '../../protocols/field.ts';
import { optionalIdOf } from './reference.ts';
import { ignored, listOf, optionalInteger, optionalObject, optionalText } from './values.ts';

/** TLS parameters of client and server. */
export const tlsMembers = {
  versions: subset('Versions that may be agreed on', ['1.2', '1.3'], ['1.2', '1.3']),
  ciphers: optionalText('OpenSSL cipher list; suites of TLS 1.3 by their full names'),
  groups: optionalText('Groups of the key exchange, such as X25519:P-256'),
  sni: optionalText('Server name the client asks for', { maxLength: 253 }),
  alpn: listOf('Protocols to agree on, the preferred first', Type.String({ minLength: 1, maxLength: 255 }), 16),
  certificateID: optionalIdOf('certificate', 'Certificate of the server; a self-signed one is made when left out'),
  clientCertificateID: optionalIdOf('certificate', 'Certificate of the client; the server then asks for one'),
  caCertificateID: optionalIdOf('certificate', 'Authority that `verify` trusts besides those of the system'),
  verify: flag('The client refuses a certificate that does not verify'),
  resumption: choice('Resume sessions: by ticket in TLS 1.2, by pre-shared key in 1.3; either word allows both', [
    'none',
    'ticket',
    'psk',
  ]),
  earlyData: ignored(optional.flag('Send data with the first message of TLS 1.3')),
  recordSizeLimit: optionalInteger(
    'Largest record of both ends in bytes of data, which each asks of the other by record_size_limit (RFC 8449)',
    [512, 16_384],
  ),
  closeNotify: flag('Take leave by close_notify; else reset the connection', true),
};

/** TLS is used if the member is present, even if empty. Engines with a protocol above TLS close it themselves. */
export const tlsParams = optionalObject('Traffic is encrypted when this is given, even empty', {
  ...tlsMembers,
  closeNotify: ignored(tlsMembers.closeNotify),
});

/** For recorded sessions; those that are encrypted already are not encrypted again. */
export const sessionTlsParams = optionalObject(
  'Sessions over TCP are played over TLS when this is given, even empty; those recorded encrypted and those over UDP as they are',
  { ...tlsMembers, closeNotify: ignored(tlsMembers.closeNotify) },
);

/** For requests, which may be sent with the first message of a resumed session. */
export const requestTlsParams = optionalObject('Traffic is encrypted when this is given, even empty', {
  ...tlsMembers,
  earlyData: optional.flag(
    'Send GET and HEAD with the first message of a resumed TLS 1.3 session; the server accepts it',
  ),
  closeNotify: ignored(tlsMembers.closeNotify),
});

/** For the TLS plugin. */
export const handshakeParams = section('Handshakes', {
  ...tlsMembers,
  connections: Type.Integer({ default: 10, minimum: 1, maximum: 100_000, description: 'Most handshakes at once' }),
  timeoutMs: Type.Integer({ default: 10_000, minimum: 1, maximum: 3_600_000, description: 'Longest handshake' }),
});

/** TLS for attack traffic. */
export const tlsUse = (values: readonly [string, ...string[]], description: string) =>
  OneOf(values, { default: values[0], description });
