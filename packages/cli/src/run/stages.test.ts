import { expect, it } from 'vitest';
import { loadChanges, parseStage, stageAt, staged } from './stages.ts';

const stages = ['2s:100', '1m:500'].map(parseStage);

it('stages have a time and a rate', () => {
  expect(stages).toEqual([
    { seconds: 2, rate: 100 },
    { seconds: 60, rate: 500 },
  ]);
  for (const text of ['2s', ':5', '0s:5', '2s:0', '2d:5', 'x']) expect(() => parseStage(text)).toThrow('--stage');
});

it('a run is as long as its stages and begins with the first rate', () => {
  const entries = [{ values: { requestsPerSecond: 1, duration: { mode: 'time', seconds: 5, warmUpSec: 1 } } }, {}];
  expect(staged(entries, stages)[0]?.values).toEqual({
    requestsPerSecond: 100,
    duration: { mode: 'time', seconds: 62, warmUpSec: 1 },
  });
  expect(loadChanges(entries, 7)).toEqual([{ index: 0, requestsPerSecond: 7 }]);
  expect(() => staged([{}], stages)).toThrow('needs a task with a rate');
});

it('the stage follows from the time', () => {
  expect([0, 1.9, 2, 61.9, 62].map((at) => stageAt(stages, at))).toEqual([0, 0, 1, 1, undefined]);
});
