import { expect, it } from 'vitest';
import { parseAddress } from '../dissect/ip-address.ts';
import { communityIdOf } from './session-report.ts';

it('the Community ID matches the published examples', () => {
  const tcp = {
    protocol: 6,
    addressA: parseAddress('66.35.250.204'),
    addressB: parseAddress('128.232.110.120'),
    portA: 80,
    portB: 34_855,
  };
  expect(communityIdOf(tcp)).toBe('1:LQU9qZlK+B5F3KDmev6m5PMibrg=');
});
