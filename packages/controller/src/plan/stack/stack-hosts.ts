import { agentStatus } from '@rushhour/contract';
import { DraftError, findSubnet, formatAddress, gatewayMacOf, type IpVersion, parseAddress } from '@rushhour/pools';
import type { AgentInterface, StackNetwork } from '@rushhour/protocol';
import type { PlanAgent, PlanInput, PlanNetwork } from '../core/plan-input.ts';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';
import type { AddressShare } from '../endpoints/address-share.ts';
import { isLoopback, ownAddresses, versionOf } from '../endpoints/machine-addresses.ts';
import { type NamedEndpoint, reportInterface } from '../endpoints/resolve-endpoint.ts';
import { macDemand, type StackDemand, writesFrames } from './stack-demand.ts';

/** A source or target of an agent whose addresses are emulated. */
export interface EmulatedEndpoint extends NamedEndpoint {
  readonly agent: PlanAgent;
}

const sideOf = ({ path }: NamedEndpoint): string => (path.includes('/sources/') ? 'source' : 'target');

/** Whether it has addresses that are not its machine's own; otherwise an issue says so. */
export const hasAddresses = (
  { issues }: PlanScope,
  one: EmulatedEndpoint & { readonly demand: StackDemand },
): boolean => {
  const { endpoint, agent, demand } = one;
  const isOwn = endpoint.ip !== undefined && (isLoopback(endpoint.ip) || ownAddresses(agent).has(endpoint.ip));
  if (!isOwn && (endpoint.ip ?? endpoint.network) !== undefined) return true;
  const problem = isOwn ? `${endpoint.ip} is an address of the machine of agent ${agent.name}` : `agent ${agent.name}`;
  const message = `${demand.what}: needs emulated hosts, which have addresses of their own: give the ${sideOf(one)} a network (${problem})`;
  issues.error({ path: demand.path, agentId: agent.id }, 'STACK_NEEDS_NETWORK', message);
  return false;
};

/** Emulated hosts send frames, and frames do not reach loopback addresses. */
export const reportLoopback = ({ issues, stack }: PlanScope, { path }: NamedEndpoint, host: string): undefined => {
  const message =
    stack === undefined
      ? `access sessions cannot reach ${host}: give the target an address behind their gateway`
      : `${stack.what}: needs emulated hosts, which cannot reach ${host}: give the target ${path} a network`;
  return issues.error(stack?.path ?? path, 'STACK_NEEDS_NETWORK', message);
};

/** False, with an issue, when the agent may not send and receive frames. */
export const mayEmulate = ({ issues, stack }: PlanScope, { agent, path }: EmulatedEndpoint): boolean => {
  if (agent.status === agentStatus.enrolled) return true;
  const ability = agent.engines.find(({ engine }) => engine === 'stack');
  const isAble = ability?.available ?? true;
  if (isAble && agent.system.caps.includes('cap_net_raw')) return true;
  const reason = isAble ? 'it has no right to send and receive frames (CAP_NET_RAW)' : ability?.reason;
  const message = `agent ${agent.name} cannot emulate hosts, which ${stack?.what ?? 'the entry'} needs: ${reason}`;
  issues.error({ path: `${path}/agent/id`, agentId: agent.id }, 'STACK_UNAVAILABLE', message);
  return false;
};

const isOutside = ({ name, ips }: AgentInterface): boolean =>
  name !== 'lo' && !ips.some((ip) => isLoopback(ip.split('/')[0] ?? ''));

/** The interface that frames leave and enter by; problems are reported as issues. */
export const stackInterface = (scope: PlanScope, one: EmulatedEndpoint): AgentInterface | undefined => {
  const { endpoint, agent, path } = one;
  const { interfaceId: id } = endpoint;
  if (id !== undefined) {
    const found = agent.interfaces.find((candidate) => candidate.id === id);
    return found ?? reportInterface(scope, agent, { id, path, isKnown: false });
  }
  const outside = agent.interfaces.filter(isOutside);
  const test = outside.filter(({ role, usable }) => role === 'test' && usable);
  const [only, ...others] = test.length === 1 ? test : outside;
  if (only !== undefined && others.length === 0) return only;
  const choices = outside.map(({ id: number, name }) => `${number} (${name})`).join(', ');
  const message = `name the interface of agent ${agent.name} that emulated hosts are behind: ${choices || 'it has reported none'}`;
  return scope.issues.error({ path: `${path}/interfaceId`, agentId: agent.id }, 'INTERFACE_NEEDED', message);
};

/** The prefix of an address of the interface that contains all of these, else the first address alone. */
export const subnetOf = (through: AgentInterface, addresses: readonly string[]): string => {
  const values = addresses.map(parseAddress);
  const found = through.ips.map(findSubnet).find((subnet) => {
    if (subnet === undefined) return false;
    const { version, first, last } = subnet;
    return values.every((address) => address.version === version && address.value >= first && address.value <= last);
  });
  if (found === undefined) return `${addresses[0]}/${versionOf(addresses[0] ?? '') === 6 ? 128 : 32}`;
  return `${formatAddress(found.version, found.first)}/${found.prefixLength}`;
};

/** The hosts of a source or target, and how frames reach them. */
export const stackNetworkOf = (
  scope: PlanScope,
  { endpoint, path }: NamedEndpoint,
  { share, through }: { share: AddressShare | undefined; through: AgentInterface },
): StackNetwork | undefined => {
  const { ip } = endpoint;
  const network = endpoint.network && scope.input.networks.get(endpoint.network.id);
  reportFlowLabel(scope, share?.version ?? versionOf(ip ?? ''));
  if (network === undefined || !holds(network, ip)) {
    if (ip === undefined) return undefined;
    const { lastIp = ip } = endpoint;
    return { subnet: subnetOf(through, [ip, lastIp]), hosts: [lastIp === ip ? ip : `${ip}-${lastIp}`] };
  }
  const described = describe(network, scope.input.macs);
  if ('problem' in described) return scope.issues.error(`${path}/network/id`, 'NETWORK_INVALID', described.problem);
  const hosts = ip === undefined ? share?.ranges().ranges : [ip];
  return hosts && { ...described, hosts };
};

/** The hosts of an engine that writes frames; undefined where they need no MACs of their own, or with an issue. */
export const frameHostsOf = (
  scope: PlanScope,
  { endpoint, path }: NamedEndpoint,
  share: AddressShare | undefined,
): StackNetwork | undefined => {
  const network = endpoint.network && scope.input.networks.get(endpoint.network.id);
  if (!writesFrames(scope.entry) || network === undefined || macDemand(network) === undefined) return undefined;
  const described = describe(network, scope.input.macs);
  if ('problem' in described) return scope.issues.error(`${path}/network/id`, 'NETWORK_INVALID', described.problem);
  const hosts = endpoint.ip === undefined ? share?.ranges().ranges : [endpoint.ip];
  return hosts && { ...described, hosts };
};

/** An address outside the subnet of the network is not one of its hosts. */
const holds = (network: PlanNetwork, ip: string | undefined): boolean => {
  const subnet = findSubnet(network.subnet);
  if (ip === undefined || subnet === undefined) return ip === undefined;
  const { version, value } = parseAddress(ip);
  return subnet.version === version && value >= subnet.first && value <= subnet.last;
};

const reportFlowLabel = (scope: PlanScope, version: IpVersion): void => {
  if (scope.entry.values.ipLayer?.flowLabel === undefined || version === 6) return;
  scope.issues.error(pointerIn(scope, 'ipLayer', 'flowLabel'), 'NOT_SUPPORTED', 'IPv4 has no flow label');
};

type Described = Omit<StackNetwork, 'hosts'> | { readonly problem: string };

/** Networks may have thousands of overrides, and every source may use the same network. */
const known = new WeakMap<PlanNetwork, Described>();

const describe = (network: PlanNetwork, macs: PlanInput['macs']): Described => {
  const described = known.get(network) ?? compile(network, macs);
  known.set(network, described);
  return described;
};

const compile = (network: PlanNetwork, records: PlanInput['macs']): Described => {
  const { subnet, ipVersion, gateway, gatewayMac, gatewayMacId, gatewayMacMode, excludes, pattern } = network;
  const { macPolicy, macOverrides } = network;
  try {
    const mac = gatewayMacOf(network, records);
    const hasOwnMacs = (macPolicy?.mode ?? 'interface') !== 'interface' || (macOverrides?.length ?? 0) > 0;
    const draft = {
      ...{ subnet, ipVersion, gateway, gatewayMac, gatewayMacId, gatewayMacMode, excludes, pattern },
      ...{ macPolicy, macOverrides },
    };
    return {
      subnet,
      ...(hasOwnMacs && { macs: { network: draft, records: [...records.values()].filter(isUsedBy(network)) } }),
      ...(gateway && { gateway }),
      ...(gateway && mac !== undefined && { gatewayMac: mac }),
    };
  } catch (error) {
    if (error instanceof DraftError) return { problem: error.message };
    throw error;
  }
};

const isUsedBy = ({ gatewayMacId, macPolicy, macOverrides }: PlanNetwork) => {
  const used = new Set([
    gatewayMacId,
    macPolicy?.macId,
    ...(macPolicy?.macIds ?? []),
    ...(macOverrides ?? []).map(({ macId }) => macId),
  ]);
  return ({ id }: { readonly id: number }) => used.has(id);
};
