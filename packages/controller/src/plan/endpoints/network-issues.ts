import type { PlanNetwork } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import type { TrafficEntry } from '../core/traffic-entry.ts';
import { endpointsOf, type Place } from './address-allocator.ts';

/** Sockets leave Ethernet to the network card: what networks say of MAC addresses is not done. */
export const reportNetworks = (
  entries: readonly TrafficEntry[],
  networks: ReadonlyMap<number, PlanNetwork>,
  issues: PlanIssues,
): void => {
  for (const entry of entries) {
    for (const member of ['sources', 'targets'] as const) {
      for (const [i, place] of endpointsOf(entry, member).entries()) {
        const network = place.network && networks.get(place.network.id);
        if (network)
          reportPolicy({ entry, place, network, path: `${entry.path}/values/${member}/${i}/network/id` }, issues);
      }
    }
  }
};

interface Use {
  readonly entry: TrafficEntry;
  readonly place: Place;
  readonly network: PlanNetwork;
  readonly path: string;
}

const reportPolicy = ({ entry, place, network, path }: Use, issues: PlanIssues): void => {
  const mode = network.macPolicy?.mode ?? 'interface';
  if (place.agent !== undefined && mode !== 'interface') {
    const message = `the MAC policy of network "${network.name}" is not followed: sockets send with the address of the card`;
    issues.caveat(path, 'MAC_POLICY_IGNORED', message);
  }
  const made = entry.values.l2PolicyVersion;
  if (made !== undefined && made !== network.l2PolicyVersion) {
    const message = `the MAC policy of network "${network.name}" has changed since the task was made`;
    issues.warning(path, 'L2_POLICY_CHANGED', message);
  }
};
