import { randomBytes } from 'node:crypto';
import {
  type AccessGatewayOptions,
  type InnerMethod,
  PeapMsChap,
  parseMac,
  portAccessMac,
  type SupplicantOptions,
  TlsMethod,
  TtlsMsChap,
  TtlsPap,
  tlsEapType,
} from '@rushhour/wire';
import { createEapTls } from '../../net/openssl/eap-tls.ts';
import { identityOf, TlsContext } from '../../net/openssl/tls-context.ts';
import { radiusSessionsOf } from '../radius-link.ts';
import { bytesOf, type Dot1xProfile, numberedBytes, numberIn, textOf } from './access-profiles.ts';

const second = 1000;

const groupMacOf = ({ authenticator: { groupAddress } }: Dot1xProfile): Uint8Array =>
  groupAddress === undefined ? portAccessMac : parseMac(groupAddress);

/** Methods inside TLS, with what is said there. */
const tlsMethods: Readonly<
  Record<
    Exclude<Dot1xProfile['supplicant']['method'], 'md5'>,
    readonly [
      type: number,
      inner?: (user: { identity: string; password: string; random: typeof randomBytes }) => InnerMethod,
    ]
  >
> = {
  'peap-mschapv2': [tlsEapType.peap, (user) => new PeapMsChap(user)],
  'ttls-pap': [tlsEapType.ttls, (user) => new TtlsPap(user)],
  'ttls-mschapv2': [tlsEapType.ttls, (user) => new TtlsMsChap(user)],
  tls: [tlsEapType.tls],
};

/** How names of methods stand in results. */
const methodNames: Readonly<Record<Dot1xProfile['supplicant']['method'], string>> = {
  md5: 'EAP-MD5',
  'peap-mschapv2': 'PEAP-MSCHAPv2',
  'ttls-pap': 'EAP-TTLS-PAP',
  'ttls-mschapv2': 'EAP-TTLS-MSCHAPv2',
  tls: 'EAP-TLS',
};

const methodOf = ({ supplicant }: Dot1xProfile, first: number): SupplicantOptions['method'] => {
  const { method, ca } = supplicant;
  if (method === 'md5') return undefined;
  const settings = {
    ...{ ...supplicant, versions: ['1.2' as const], alpn: [], verify: ca !== undefined, resumption: 'none' as const },
  };
  const context = new TlsContext(settings, { alpn: [], identity: identityOf(settings) }, false);
  const [type, inner] = tlsMethods[method];
  return {
    type,
    create: (session) => {
      const identity = textOf(supplicant.identity, first + session);
      const password = textOf(supplicant.password, first + session);
      return new TlsMethod(type, createEapTls(context), inner?.({ identity, password, random: randomBytes }));
    },
  };
};

/** What the profile says about those that ask to be let in. */
export const supplicantOptionsOf = (profile: Dot1xProfile, first: number): SupplicantOptions => {
  const { supplicant, timers } = profile;
  return {
    version: supplicant.version,
    groupMac: groupMacOf(profile),
    logoff: supplicant.logoff,
    startPeriodMs: timers.startPeriodSec * second,
    maxStart: timers.maxStart,
    authPeriodMs: timers.authPeriodSec * second,
    heldPeriodMs: timers.heldPeriodSec * second,
    reauthMs: timers.reauthSec * second,
    identity: numberedBytes(supplicant.outerIdentity || supplicant.identity, first),
    password: numberedBytes(supplicant.password, first),
    methodName: methodNames[supplicant.method],
    method: methodOf(profile, first),
  };
};

/** What the profile says about the side that lets them in. */
export const authenticatorOptionsOf = (
  profile: Dot1xProfile,
  portName: string,
): NonNullable<AccessGatewayOptions['dot1x']> => {
  const { supplicant, timers, authenticator } = profile;
  return {
    version: supplicant.version,
    groupMac: groupMacOf(profile),
    decision: authenticator.decision,
    radius: authenticator.decision === 'radius' ? radiusSessionsOf(profile.radius, portName) : undefined,
    rejectPct: authenticator.rejectPct,
    answerMs: timers.authPeriodSec * second,
    quietMs: timers.heldPeriodSec * second,
    reauthMs: timers.reauthSec * second,
    passwordOf: (identity) => {
      const number = numberIn(supplicant.identity, identity);
      return number < 0 ? undefined : bytesOf(textOf(supplicant.password, number - 1));
    },
  };
};
