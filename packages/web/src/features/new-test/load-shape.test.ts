import { describe, expect, it } from 'vitest';
import { loadShapeOf, snapped } from './load-shape.ts';

const whole = (name: string, description = '') => ({ name, type: 'integer', description }) as const;

describe('the load of a template', () => {
  it('is its rate over its duration, or else the number of its users', () => {
    const [seconds, warmUp] = [whole('seconds'), whole('warmUpSec')];
    const [rate, users] = [whole('rps', 'Requests per second'), whole('users')];
    expect(loadShapeOf({ parameters: [users, rate, seconds, warmUp] })).toEqual({
      ...{ duration: seconds, level: rate, warmUp },
    });
    expect(loadShapeOf({ parameters: [users, seconds] })?.level).toBe(users);
    expect(loadShapeOf({ parameters: [rate, users] })).toBeUndefined();
  });

  it('is dragged to round values within its bounds', () => {
    const bounds = { ...whole('rps'), min: 1, max: 5000 };
    expect([0, 0.4, 7.4, 83.7, 1234, 99_999].map((value) => snapped(value, bounds))).toEqual([1, 1, 7, 84, 1200, 5000]);
  });
});
