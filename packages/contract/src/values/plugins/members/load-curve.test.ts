import { describe, expect, it } from 'vitest';
import { loadCurveOf, stagesPeak, stagesSeconds, stagesWithin } from './load-curve.ts';

const areaOf = (pieces: ReturnType<typeof loadCurveOf>) =>
  pieces.reduce((sum, { seconds, from, to }) => sum + (seconds * (from + to)) / 2, 0);

describe('load over time', () => {
  it('begins at nothing and continues where the stage before has ended', () => {
    const stages = [
      { seconds: 10, target: 100, shape: 'linear' as const },
      { seconds: 5, target: 40, shape: 'step' as const },
      { seconds: 4, target: 90, shape: 'spike' as const },
      { seconds: 2, target: 0, shape: 'linear' as const },
    ];
    expect(loadCurveOf(stages)).toEqual([
      { seconds: 10, from: 0, to: 100 },
      { seconds: 5, from: 40, to: 40 },
      { seconds: 2, from: 40, to: 90 },
      { seconds: 2, from: 90, to: 40 },
      { seconds: 2, from: 40, to: 0 },
    ]);
    expect([stagesSeconds(stages), stagesPeak(stages)]).toEqual([21, 100]);
  });

  it('is cut off after a time', () => {
    const stages = [
      { seconds: 4, target: 100, shape: 'step' as const },
      { seconds: 10, target: 200, shape: 'linear' as const },
      { seconds: 5, target: 0, shape: 'linear' as const },
    ];
    expect(stagesWithin(stages, 100)).toEqual(stages);
    expect(stagesWithin(stages, 9)).toEqual([stages[0], { seconds: 5, target: 150, shape: 'linear' }]);
    expect(stagesWithin(stages, 3)).toEqual([{ seconds: 3, target: 100, shape: 'step' }]);
  });

  it('swings to the target of a sine and back, with the mean of both as its average', () => {
    const wave = loadCurveOf([
      { seconds: 1, target: 20, shape: 'step' },
      { seconds: 60, target: 100, shape: 'sine' },
    ]).slice(1);
    expect(Math.max(...wave.map(({ to }) => to))).toBeCloseTo(100);
    expect([wave[0]?.from, wave.at(-1)?.to].map((level) => Math.round(level ?? 0))).toEqual([20, 20]);
    expect(areaOf(wave)).toBeCloseTo(60 * 60, 6);
  });
});
