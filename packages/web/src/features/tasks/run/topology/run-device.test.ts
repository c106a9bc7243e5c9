import { expect, it } from 'vitest';
import { labelsOf, labelsToRepeat } from './run-device.ts';

it('a repeated run keeps the labels of the last one, but has the device that the task names now', () => {
  const earlier = { device: 'fw', deviceVersion: '9.1', site: 'lab' };
  const device = { name: 'fw', version: '9.2' };
  expect(labelsToRepeat({ device }, earlier)).toEqual({ site: 'lab' });
  expect(labelsToRepeat({ device: null }, earlier)).toEqual(earlier);
  expect(labelsOf({ device })).toEqual({ device: 'fw', deviceVersion: '9.2' });
});
