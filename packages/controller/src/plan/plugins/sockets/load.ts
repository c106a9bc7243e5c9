import type { Load } from '@rushhour/protocol';
import type { ClientPart } from '../../core/traffic.ts';

interface Wish {
  /** Of the whole entry; undefined: as fast as possible. */
  readonly rate: number | undefined;
  readonly initialTps?: number | undefined;
  readonly tpsRampStep?: number | undefined;
}

/** The part of one client of a rate and of the stairs that lead up to it. */
export const loadOf = (part: ClientPart, { rate, initialTps, tpsRampStep }: Wish): Load => {
  const own = part.rate(rate);
  if (own === undefined) return {};
  const [initialRate, rampStep] = [part.rate(initialTps), part.rate(tpsRampStep)];
  return {
    rate: own,
    ...(initialRate !== undefined && { initialRate }),
    ...(rampStep !== undefined && rampStep > 0 && { rampStep }),
  };
};
