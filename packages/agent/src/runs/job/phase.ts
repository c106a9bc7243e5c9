import type { Duration, Phase } from '@rushhour/protocol';

/** The phase at a time in seconds of traffic since the common start. */
export const phaseAt = (seconds: number, duration: Duration): Phase => {
  if (seconds < duration.rampUpSec) return 'rampUp';
  if (seconds < duration.rampUpSec + duration.warmUpSec) return 'warmUp';
  if (duration.mode !== 'time' || seconds < duration.seconds - duration.rampDownSec) return 'steady';
  return seconds < duration.seconds ? 'rampDown' : 'windDown';
};
