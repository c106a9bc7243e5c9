import type { Attempt, ClientObservation } from '@rushhour/protocol';
import type { Samples } from '../../engine.ts';

/** Preliminary verdict of the client; the final verdict is computed from both ends. */
export type ClientVerdict = 'blocked' | 'passed' | 'inconclusive';

export const clientVerdictOf = (seen: ClientObservation): ClientVerdict => {
  if (seen.skipped !== undefined || seen.error !== undefined) return 'inconclusive';
  return seen.responseIsOurs ? 'passed' : 'blocked';
};

/** Live counters of one engine. */
export const metersOf = (engine: string, samples: Samples) => {
  const latency = samples.histogram(`${engine}.latency`);
  const count = (name: string) => samples.counter(`${engine}.${name}`).add(1);
  return (attempt: Attempt, seen: ClientObservation): void => {
    const verdict = clientVerdictOf(seen);
    if (seen.skipped === undefined) latency.record((seen.endedMs - seen.startedMs) * 1000);
    if (seen.error !== undefined) count('errors.local');
    if (attempt.kind === 'benign') {
      count('benign');
      if (verdict === 'blocked') count('falsePositives');
      return;
    }
    if (seen.skipped === undefined) count('sent');
    count(verdict);
    if (verdict === 'passed') count(`module.${attempt.category}`);
  };
};
