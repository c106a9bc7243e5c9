import { describe, expect, it } from 'vitest';
import { planRun } from '../core/plan-run.ts';
import { agentOf, inputOf } from '../testing/plan-fixture.ts';

const card = (id: number, name: string, mac: string) => ({
  ...{ id, name, mac, mtu: 1500, speedMbps: null, link: 'up', ips: [] },
  ...{ driver: 'veth', role: 'test', usable: true, reason: '' },
});
const engines = [{ engine: 'plane.access', available: true, way: '', version: '1', missing: [], reason: '' }];
const agent = (id: number, macs: readonly [string, string]) => ({
  ...agentOf(id),
  interfaces: [card(11, 'eth1', macs[0]), card(12, 'eth2', macs[1])],
  engines,
});
const agents = [
  agent(1, ['02:00:00:00:01:00', '02:00:00:00:01:01']),
  agent(2, ['02:00:00:00:02:00', '02:00:00:00:ff:00']),
];

const profile = (protocol: string, config: object) => ({ name: protocol, protocol, config });
const linksOf = (sourceMac: string, macStep = 1, outer = 0) =>
  profile('links', { link: { sourceMac, macStep }, vlan: { outer } });
const profiles = new Map([
  [1, profile('dhcp', {})],
  [2, profile('sessions', { load: { count: 10 } })],
  [3, profile('sessions', { load: { count: 1 } })],
  [4, linksOf('02:00:00:00:05:00')],
  [5, linksOf('02:00:00:00:05:09')],
  [6, linksOf('02:00:00:00:05:0a')],
  [7, linksOf('02:00:00:00:05:00', 4, 7)],
  [8, linksOf('02:00:00:00:05:05', 4, 7)],
  [9, linksOf('02:00:00:00:05:03', 3, 7)],
]);

const warningsOf = (...accessPlane: object[]) =>
  planRun(inputOf([], { agents, profiles, definition: { accessPlane } } as never)).issues.map(
    ({ severity, code, path, message }) => [severity, code, path, message],
  );
const on = (id: number, interfaces: number[], links?: number, sessions = 2) => ({
  ...{ agent: { id }, interfaces, dhcp: [1], sessions: [sessions], ...(links && { links: [links] }) },
});
const warning = (path: string, text: string) => ['warning', 'MAC_OVERLAP', path, expect.stringContaining(text)];

describe('MACs of sessions', () => {
  it.each([
    [
      'of two agents',
      [on(1, [11], 4), on(2, [11], 5)],
      ['/accessPlane/1', '/accessPlane/0 on agent agent1 as well, such as 02:00:00:00:05:09'],
    ],
    ['of two entries of an interface', [on(1, [11]), on(1, [11])], ['/accessPlane/1', '02:00:00:00:01:00']],
    [
      'of neighbouring interfaces',
      [on(1, [11, 12])],
      ['/accessPlane/0', 'its interface eth1 as well, such as 02:00:00:00:01:01'],
    ],
    ['with other steps', [on(1, [11], 7), on(2, [11], 9)], ['/accessPlane/1', '02:00:00:00:05:0c']],
  ] as const)('that are those %s are a warning', (_, entries, [path, text]) => {
    expect(warningsOf(...entries)).toEqual([warning(path, text)]);
  });

  it.each([
    ['of two agents that follow each other', [on(1, [11], 4), on(2, [11], 6)]],
    ['of other VLANs', [on(1, [11], 4), on(2, [11], 7)]],
    ['between each other', [on(1, [11], 7), on(2, [11], 8)]],
    ['of one entry on two interfaces', [on(1, [11, 12], 4)]],
    ['of few sessions', [on(1, [11, 12], undefined, 3)]],
    ['of a gateway', [on(1, [11], 4), { agent: { id: 2 }, interfaces: [11], dhcp: [1], isServer: true }]],
  ] as const)('that are not those %s are not', (_, entries) => {
    expect(warningsOf(...entries)).toEqual([]);
  });
});
