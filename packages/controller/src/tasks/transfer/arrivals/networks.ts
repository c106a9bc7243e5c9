import type { MacPolicy } from '@rushhour/contract';
import { networkPolicies, networks } from '../../../store/assets/networks.ts';
import { setLinks } from '../../../store/engine/links.ts';
import { at } from '../at-place.ts';
import { policyOf, travellingNetworks } from '../kinds/networks.ts';
import type { Prepare } from './arrival.ts';

/** Whether a network is sound depends on its MAC records, which may come in with it. */
export const prepareNetwork: Prepare<'networks'> =
  async (_, { rules }) =>
  async (tx, name, parts) => {
    const macPolicy = policyOf(parts) as MacPolicy | null;
    const { network, macOverrides } = parts;
    const columns = await at('/network', () => rules.network(tx, { ...network, macPolicy, macOverrides }));
    const id = await networks.insert(tx, { name, ...columns });
    await networkPolicies.insert(tx, { id, macPolicy, macOverrides, l2PolicyVersion: 1 });
    const used = travellingNetworks.references(parts).map((mac) => ({ kind: 'mac' as const, id: mac.id }));
    await setLinks(tx, { kind: 'network', id, name }, used);
    return id;
  };
