import { type AccessGatewayOptions, parseMac, portAccessMac, type SupplicantOptions } from '@rushhour/wire';
import { bytesOf, type Dot1xProfile, numberedBytes, numberIn, textOf } from './access-profiles.ts';

import { radiusSessionsOf } from './radius-link.ts';

const second = 1000;

const groupMacOf = ({ authenticator: { groupAddress } }: Dot1xProfile): Uint8Array =>
  groupAddress === undefined ? portAccessMac : parseMac(groupAddress);

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
    identity: numberedBytes(supplicant.identity, first),
    password: numberedBytes(supplicant.password, first),
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
