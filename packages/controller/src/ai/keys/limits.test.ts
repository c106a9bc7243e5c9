import { expect, it } from 'vitest';
import type { AiKeyFacts } from '../../caller.ts';
import { createBadKeyThrottle, createLimits } from './limits.ts';

const key = { id: 1, limits: { requestsPerMin: 6, writesPerMin: 2, parallel: 2 } } as unknown as AiKeyFacts;

it('lets a burst of twice the limit through and then as many as flow back', () => {
  let now = 0;
  const limits = createLimits(() => now);
  for (let i = 0; i < 12; i += 1) limits.take(key, false);
  expect(() => limits.take(key, false)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
  now += 10_000;
  limits.take(key, false);
  expect(() => limits.take(key, false)).toThrow();
  expect(limits.headersOf(key)).toEqual({ 'ratelimit-policy': '"rpm";q=6;w=60', ratelimit: '"rpm";r=0;t=120' });
});

it('counts writes apart, and calls that run at once', () => {
  const limits = createLimits(() => 0);
  for (let i = 0; i < 4; i += 1) limits.take(key, true);
  expect(() => limits.take(key, true)).toThrow();
  limits.take(key, false);
  const leave = limits.enter(key);
  limits.enter(key);
  expect(() => limits.enter(key)).toThrow();
  leave();
  expect(limits.remaining(key).parallel).toBe(1);
});

it('makes an address wait a minute after more than 20 bad keys in a minute', () => {
  let now = 0;
  const throttle = createBadKeyThrottle(() => now);
  for (let i = 0; i < 20; i += 1) throttle.count('a');
  throttle.assertMayTry('a');
  throttle.count('a');
  expect(() => throttle.assertMayTry('a')).toThrow();
  throttle.assertMayTry('b');
  now += 60_001;
  throttle.assertMayTry('a');
});
