import { flag } from '../protocols/field.ts';
import { maybeRate, maybeWhole, milliseconds } from './member.ts';

/** A rate that is climbed to in steps. */
export const rampMembers = {
  initialTps: maybeWhole('Rate to begin with, in the unit of the rate it rises to', [0, 1_000_000_000]),
  tpsRampStep: maybeRate('Raise of the rate each second until it is reached'),
};

export const requestLoad = {
  requestsPerSecond: maybeRate('Requests a second of all agents together, begun at set times whatever the target does'),
  rpsUnlimited: flag('As fast as answers come: each connection sends its next request once it has the answer'),
  ...rampMembers,
};

export const sessionLoad = {
  sessionsPerSecond: maybeRate('Sessions opened a second by all agents together'),
  totalSessions: maybeWhole('Sessions in all; the entry ends after the last', [1, 1e15]),
  reopenSessionTime: milliseconds('Milliseconds before a closed session is opened again', 0),
};

export const packetLoad = {
  packetsPerSecond: maybeRate('Packets a second of all agents together'),
  ppsUnlimited: flag('As fast as the machine can'),
};
