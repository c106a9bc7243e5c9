import type { AddressSet } from './address-set.ts';
import { type Issue, IssueList } from './issue.ts';
import { type NetworkAddresses, readClients } from './network-addresses.ts';
import type { MacLookup, NetworkDraft } from './network-draft.ts';
import { type NetworkMacs, readNetworkMacs } from './network-macs.ts';
import { findPorts, type PortSet, parsePorts } from './ports.ts';

/** A network read once: what its addresses are, which MACs they get, and everything that is wrong with it. */
export interface CompiledNetwork {
  readonly issues: IssueList;
  readonly addresses: NetworkAddresses | undefined;
  readonly macs: NetworkMacs | undefined;
}

export function compileNetwork(draft: NetworkDraft, macs?: MacLookup): CompiledNetwork {
  const issues = new IssueList();
  if (draft.ports && findPorts(draft.ports) === undefined) {
    issues.error('/ports', 'PORTS_INVALID', `"${draft.ports}" is not a list such as "80,8000-8100"`);
  }
  const addresses = readClients(draft, issues);
  const networkMacs = addresses === undefined ? undefined : readNetworkMacs(draft, { ...addresses, macs, issues });
  return { issues, addresses, macs: networkMacs };
}

/** Every problem at once. Without `macs` the ids of MAC records are not checked. */
export function issuesOf(draft: NetworkDraft, macs?: MacLookup): Issue[] {
  return compileNetwork(draft, macs).issues.issues;
}

/** The client addresses of a sound network; throws a DraftError with all problems otherwise. */
export function createAddressSet(draft: NetworkDraft): AddressSet {
  const issues = new IssueList();
  const addresses = readClients(draft, issues);
  issues.throwIfErrors();
  if (addresses === undefined) throw new Error('a network without issues has addresses');
  return addresses.clients;
}

/** The ports of a network; every port where it names none. */
export function portsOf(draft: Pick<NetworkDraft, 'ports'>): PortSet {
  return parsePorts(draft.ports || '1-65535');
}
