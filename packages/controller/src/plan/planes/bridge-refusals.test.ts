import type { ProtocolConfig } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { bridgeRefusals } from './bridge-refusals.ts';
import { defaultProfile } from './plane-references.ts';

type Stp = ProtocolConfig<'stp'>;

const refusalsOf = (version: Stp['bridge']['version'], mst: Partial<Stp['mst']> = {}, protocols = ['stp']) => {
  const whole = defaultProfile('stp') as Stp;
  const stp = { ...whole, bridge: { ...whole.bridge, version }, mst: { ...whole.mst, ...mst } };
  return bridgeRefusals(stp, protocols).map((refusal) => refusal.join(' '));
};
const instance = (id: number, vlans: string) => ({ id, vlans, priority: 32_768 });

it('regions belong to MSTP', () => {
  expect(refusalsOf('rstp', { region: 'a' })).toEqual(['/stp/0 /mst: belongs to mstp']);
  expect(refusalsOf('mstp', { region: 'a' })).toEqual([]);
  expect(refusalsOf('mstp', { region: 'ä'.repeat(17) })).toEqual(['/stp/0 /mst/region: has 32 bytes at most']);
  expect(refusalsOf('stp', {}, ['dhcp', 'stp'])).toEqual(['/dhcp/0 a bridge of stp has an entry of its own']);
});

it('every VLAN is in one instance, and every instance has VLANs', () => {
  expect(refusalsOf('mstp', { instances: [instance(1, '10-19,30'), instance(2, '40')] })).toEqual([]);
  const wrong = [instance(1, '10-19'), instance(2, '5-4'), instance(3, '15'), instance(1, '20'), instance(4, '0-4')];
  expect(refusalsOf('mstp', { instances: wrong })).toEqual([
    '/stp/0 /mst/instances/1/vlans: 5-4 is no range of VLANs from 1 to 4094',
    '/stp/0 /mst/instances/2/vlans: VLAN 15 is in instance 1',
    '/stp/0 /mst/instances/3/id: there are two instances 1',
    '/stp/0 /mst/instances/4/vlans: 0-4 is no range of VLANs from 1 to 4094',
  ]);
});
