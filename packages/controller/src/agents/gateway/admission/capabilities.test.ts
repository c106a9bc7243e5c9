import { expect, it } from 'vitest';
import { capabilitiesOf } from './capabilities.ts';

const system = { caps: [], hugepages: 0, dpdk: false, rdmaDevices: [] };
const ability = (engine: string, available: boolean) => ({
  ...{
    engine,
    available,
    way: '',
    version: '7',
    missing: available ? [] : ['fping'],
    reason: available ? '' : 'no fping',
  },
});
const engines = [ability('icmp', false), ability('raw-icmp', true), ability('plane.access.dhcp', true)];

it('a plugin is available by the best of its engines, else the reason is reported', () => {
  const catalogue = [
    { id: 5, name: 'icmp', engines: ['icmp', 'raw-icmp'] },
    { id: 6, name: 'ping', engines: ['icmp'] },
    { id: 7, name: 'other', engines: ['other'] },
    { id: 21, name: 'suite', engines: [] },
  ];
  const { plugins } = capabilitiesOf({ engines, system, maxBps: 0 }, catalogue, []);
  expect(
    plugins.map(({ name, available, engine, missing, reason }) => [name, available, engine, missing, reason]),
  ).toEqual([
    ['icmp', true, 'raw-icmp', [], ''],
    ['ping', false, 'icmp', ['fping'], 'no fping'],
    ['other', false, '', [], 'the agent has no engine for it'],
    ['suite', true, '', [], ''],
  ]);
});

it('protocols of planes are judged one by one, and limits of the agent are reported', () => {
  const protocols = [
    { plane: 'access' as const, name: 'dhcp' },
    { plane: 'access' as const, name: 'pppoe' },
  ];
  const { planes } = capabilitiesOf({ engines, system, maxBps: 5e9 }, [], protocols);
  expect(planes.map(({ available }) => available)).toEqual([true, false]);
  expect(planes[0]?.limits).toEqual({ maxPps: null, maxBps: 5e9, maxSessions: null });
});

it('emulated hosts are available, or the reason is reported', () => {
  const stackOf = (available: boolean) =>
    capabilitiesOf({ engines: [ability('stack', available)], system, maxBps: 0 }, [], []).stack;
  expect(stackOf(true)).toMatchObject({ available: true, engine: 'stack' });
  expect(stackOf(false)).toMatchObject({ available: false, reason: 'no fping' });
});
