import { expect, it } from 'vitest';
import { memberText } from './help.tsx';

it('names members in a description by their labels, and leaves values as they are', () => {
  expect(memberText('requestsPerSecond')).toBe('Requests per second');
  expect(memberText('keepAlive.maxRequests')).toBe('Keep-alive › Requests per connection');
  expect(memberText('rampUpSec')).toBe('Ramp-up');
  expect(memberText('c2s')).toBeUndefined();
  expect(memberText('GET /someThing')).toBeUndefined();
});
