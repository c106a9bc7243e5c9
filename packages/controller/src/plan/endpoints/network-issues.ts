import type { Leaf } from '../core/leaf.ts';
import type { PlanNetwork } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import { type Place, placesOf } from './address-book.ts';

/** Sockets leave Ethernet to the network card: what networks say of MAC addresses is not done. */
export const tellNetworks = (
  leaves: readonly Leaf[],
  networks: ReadonlyMap<number, PlanNetwork>,
  issues: PlanIssues,
): void => {
  for (const leaf of leaves) {
    for (const member of ['sources', 'targets'] as const) {
      for (const [i, place] of placesOf(leaf, member).entries()) {
        const network = place.network && networks.get(place.network.id);
        if (network)
          tellPolicy({ leaf, place, network, path: `${leaf.path}/values/${member}/${i}/network/id` }, issues);
      }
    }
  }
};

interface Use {
  readonly leaf: Leaf;
  readonly place: Place;
  readonly network: PlanNetwork;
  readonly path: string;
}

const tellPolicy = ({ leaf, place, network, path }: Use, issues: PlanIssues): void => {
  const mode = network.macPolicy?.mode ?? 'interface';
  if (place.agent !== undefined && mode !== 'interface') {
    const message = `the MAC policy of network "${network.name}" is not followed: sockets send with the address of the card`;
    issues.caveat(path, 'MAC_POLICY_IGNORED', message);
  }
  const made = leaf.values['l2PolicyVersion'];
  if (made !== undefined && made !== network.l2PolicyVersion) {
    const message = `the MAC policy of network "${network.name}" has changed since the task was made`;
    issues.warning(path, 'L2_POLICY_CHANGED', message);
  }
};
