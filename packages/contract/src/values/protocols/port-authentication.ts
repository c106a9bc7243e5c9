import { Id } from '../../scalars.ts';
import { optional } from '../../schema.ts';
import { secret } from '../../secret.ts';
import { choice, flag, maybeMac, numbered, profile, section, text, whole } from './field.ts';

export const dot1x = profile('Port authentication (IEEE 802.1X), supplicant and authenticator', {
  supplicant: section('Who asks to be let in', {
    method: choice('EAP method', ['peap-mschapv2', 'md5', 'ttls-pap', 'ttls-mschapv2', 'tls']),
    identity: numbered('Identity', 'user{n}@rushhour.test'),
    outerIdentity: text('Identity shown outside the tunnel; empty shows the real one'),
    password: numbered('Password', 'test-{n}', secret),
    certificateID: optional.described(Id, 'Certificate with its key, for method tls'),
    caCertificateID: optional.described(Id, 'Authority that the server must be signed by; unset accepts any'),
    version: whole('Version of EAPOL', 2, [1, 3]),
    logoff: flag('Say goodbye at the end', true),
  }),
  timers: section('Patience', {
    startPeriodSec: whole('Time between start messages', 30, [1, 65_535]),
    maxStart: whole('Start messages before going on without authentication', 3, [1, 100]),
    authPeriodSec: whole('Wait for the authenticator', 30, [1, 65_535]),
    heldPeriodSec: whole('Wait after a refusal', 60, [0, 65_535]),
    reauthSec: whole('Authenticate again after; 0 for never', 0, [0, 604_800]),
  }),
  authenticator: section('What the server side does', {
    decision: choice('Accept everyone, check the password, or refuse everyone', ['check', 'accept', 'reject']),
    groupAddress: maybeMac('Destination of EAPOL frames; the standard group address when left out'),
    vlan: whole('VLAN handed out; 0 for none', 0, [0, 4094]),
    rejectPct: whole('Share of attempts refused whatever they say', 0, [0, 100]),
  }),
});
