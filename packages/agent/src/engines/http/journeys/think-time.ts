import type { JourneyStep } from '@rushhour/protocol';

type ThinkStep = Pick<JourneyStep, 'thinkMs' | 'thinkMaxMs' | 'distribution'>;

/** A normal distribution has this share of its mean as deviation. */
const deviationShare = 0.25;

/** A standard normal value (Box and Muller). */
const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Draws the pauses of a step, in milliseconds. */
export const createThinkTime = (
  { thinkMs, thinkMaxMs, distribution }: ThinkStep,
  random: () => number = Math.random,
): (() => number) => {
  const max = thinkMaxMs > 0 ? thinkMaxMs : Number.POSITIVE_INFINITY;
  const limited = (ms: number): number => Math.min(max, Math.max(0, ms));
  switch (distribution) {
    case 'fixed':
      return () => thinkMs;
    case 'uniform':
      return () => thinkMs + random() * (Math.max(thinkMs, thinkMaxMs) - thinkMs);
    case 'normal':
      return () => limited(thinkMs * (1 + deviationShare * normal(random)));
    case 'exponential':
      return () => limited(-thinkMs * Math.log(1 - random()));
  }
};
