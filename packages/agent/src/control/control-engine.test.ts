import { expect, it } from 'vitest';
import { controlPlane } from './control-engine.ts';

it('asks permission for every neighbour that a profile names, except those that are on the link by their address', () => {
  const profiles = {
    bgp: [{ session: { peerAddress: '10.0.0.1' } }],
    bfd: [{ session: { peerAddress: 'fe80::1' } }, { session: {} }],
    ldp: [{ session: {}, targeted: { peers: ['10.0.0.2', '10.0.0.1'] } }],
    ospf: [{ interface: { neighbours: ['10.0.0.3', 'fe80::2'] } }],
  };
  const config = { role: 'client', entry: 0, interfaces: [['eth1']], profiles } as const;
  expect(controlPlane.targetsOf(config as never)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
});
