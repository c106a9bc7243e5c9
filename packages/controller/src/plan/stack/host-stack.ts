import { parseAddress } from '@rushhour/pools';
import type { HostStack } from '@rushhour/protocol';
import type { PlanAgent } from '../core/plan-input.ts';
import type { PlanScope } from '../core/plan-scope.ts';
import type { AddressShare } from '../endpoints/address-share.ts';
import { ownAddresses } from '../endpoints/machine-addresses.ts';
import { type ClientSource, type NamedEndpoint, networkShare } from '../endpoints/resolve-endpoint.ts';
import { type EmulatedEndpoint, mayEmulate, stackInterface, stackNetworkOf } from './stack-hosts.ts';
import { stackSettingsOf } from './stack-settings.ts';
import { tunnelOf } from './stack-tunnel.ts';

/** The stack of a client; undefined, with issues, when it cannot have one. */
export const clientStackOf = (
  scope: PlanScope,
  one: EmulatedEndpoint,
  { network }: ClientSource,
): HostStack | undefined => hostStackOf(scope, one, { share: network?.share, side: 'client' });

/** The stack of a server; undefined, with issues, when it cannot have one. */
export const serverStackOf = (scope: PlanScope, one: NamedEndpoint, agent: PlanAgent): HostStack | undefined => {
  const { ip, network } = one.endpoint;
  const share = ip === undefined && network !== undefined ? networkShare(scope, one) : undefined;
  return hostStackOf(scope, { ...one, agent }, { share, side: 'server' });
};

interface Side {
  /** Its addresses of a network; undefined where it has a single one. */
  readonly share: AddressShare | undefined;
  readonly side: 'client' | 'server';
}

const hostStackOf = (scope: PlanScope, one: EmulatedEndpoint, { share, side }: Side): HostStack | undefined => {
  const settings = stackSettingsOf(scope, side);
  const isAllowed = mayEmulate(scope, one);
  const through = stackInterface(scope, one);
  const network = through && stackNetworkOf(scope, one, { share, through });
  const carried = through && tunnelOf(scope, one, { side, through });
  if (through === undefined || network === undefined || carried === undefined || !isAllowed) return undefined;
  // Inside a tunnel addresses of machines may come again.
  if (share !== undefined && carried.tunnel === undefined && !areFree(scope, one, share)) return undefined;
  return { interface: through.name, networks: [network], ...settings, ...carried };
};

/** Two machines, or a kernel and a stack, that have the same address answer for each other. */
const areFree = ({ input, issues }: PlanScope, { path }: NamedEndpoint, share: AddressShare): boolean => {
  for (const agent of input.agents.values()) {
    const taken = [...ownAddresses(agent)].find((address) => isIn(share, address));
    if (taken === undefined) continue;
    const message = `${taken} is an address of the machine of agent ${agent.name}: exclude it from the network`;
    issues.error({ path: `${path}/network/id`, agentId: agent.id }, 'ADDRESS_OVERLAP', message);
    return false;
  }
  return true;
};

const isIn = (share: AddressShare, address: string): boolean => {
  const { version, value } = parseAddress(address);
  return version === share.version && share.has(value);
};
