import type { AddressSet } from '../addresses/address-set.ts';
import { findPorts, type PortSet, parsePorts } from '../addresses/ports.ts';
import { formatMac, type Mac } from '../macs/mac.ts';
import { type OverrideScope, type PlacedMac, readOverrides } from '../macs/mac-override.ts';
import { type MacAssigner, readMacPolicy } from '../macs/mac-policy.ts';
import { readMacBlock, readUnicastMac } from '../macs/mac-reference.ts';
import { type Issue, IssueList } from '../values/issue.ts';
import { type NetworkAddresses, readClients } from './network-addresses.ts';
import type { MacLookup, NetworkDraft } from './network-draft.ts';

/** A compiled network: its addresses, their MACs, and all issues. */
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

/** The client addresses of a valid network; otherwise throws a DraftError with all problems. */
export function createAddressSet(draft: NetworkDraft): AddressSet {
  const issues = new IssueList();
  const addresses = readClients(draft, issues);
  issues.throwIfErrors();
  if (addresses === undefined) throw new Error('a network without issues has addresses');
  return addresses.clients;
}

/** MACs of the client addresses of a valid network; otherwise throws a DraftError with all problems. */
export function createHostMacs(draft: NetworkDraft, macs: MacLookup): (address: bigint) => Mac | null {
  const { issues, addresses, macs: found } = compileNetwork(draft, macs);
  issues.throwIfErrors();
  if (addresses === undefined || found === undefined) throw new Error('a network without issues has addresses');
  const { assigner, overrides } = found;
  return (address) =>
    overrides.get(address)?.mac ?? assigner?.macAt(addresses.clients.lowerBound(address), address) ?? null;
}

/**
 * The MAC of the gateway as the network gives it; undefined where the gateway is asked by ARP or neighbour discovery.
 * Throws a DraftError with all problems when the network, its policy included, is not valid.
 */
export function gatewayMacOf(draft: NetworkDraft, macs: MacLookup): string | undefined {
  const { issues, macs: found } = compileNetwork(draft, macs);
  issues.throwIfErrors();
  return found?.gateway && formatMac(found.gateway.mac);
}

/** The ports of a network; all ports by default. */
export function portsOf(draft: Pick<NetworkDraft, 'ports'>): PortSet {
  return parsePorts(draft.ports || '1-65535');
}

export interface NetworkMacs {
  readonly assigner: MacAssigner | undefined;
  readonly overrides: ReadonlyMap<bigint, PlacedMac>;
  /** Undefined if the gateway itself answers ARP or neighbour discovery. */
  readonly gateway: PlacedMac | undefined;
}

/** A network without a policy leaves the MACs to the interface. */
function readNetworkMacs(draft: NetworkDraft, scope: OverrideScope): NetworkMacs {
  const assigner = readMacPolicy(draft.macPolicy ?? { mode: 'interface' }, scope);
  const overrides = readOverrides(draft.macOverrides ?? [], scope);
  const gateway = readGatewayMac(draft, scope);
  checkUnique({ assigner, overrides, gateway }, scope);
  return { assigner, overrides, gateway };
}

/**
 * `arp`: found at run time. `static`: `gatewayMac`. `mac`: the first address of the record `gatewayMacId`.
 * Without a mode, what is given decides.
 */
function readGatewayMac(draft: NetworkDraft, scope: OverrideScope): PlacedMac | undefined {
  const { gatewayMac, gatewayMacId } = draft;
  const mode = draft.gatewayMacMode || (gatewayMac ? 'static' : gatewayMacId ? 'mac' : 'arp');
  if (mode === 'arp') return undefined;
  if (mode === 'static') {
    if (!gatewayMac) return scope.issues.error('/gatewayMac', 'GATEWAY_MAC_MISSING', 'mode static needs gatewayMac');
    const mac = readUnicastMac(gatewayMac, '/gatewayMac', scope.issues);
    return mac === undefined ? undefined : { mac, path: '/gatewayMac' };
  }
  if (mode === 'mac') {
    if (!gatewayMacId) return scope.issues.error('/gatewayMacId', 'GATEWAY_MAC_MISSING', 'mode mac needs gatewayMacId');
    const block = readMacBlock(gatewayMacId, '/gatewayMacId', scope);
    return block === undefined ? undefined : { mac: block.first, path: '/gatewayMacId' };
  }
  return scope.issues.error('/gatewayMacMode', 'GATEWAY_MAC_MODE_UNKNOWN', `"${mode}" is none of arp, static, mac`);
}

/**
 * Policies are invertible, so each fixed MAC is checked against all generated ones without generating them.
 * Where the generated ones repeat anyway, which is a warning of its own, they are not compared.
 */
function checkUnique({ assigner, overrides, gateway }: NetworkMacs, { clients, issues }: OverrideScope): void {
  const owners = new Map<number, string>();
  const isPolicyUnique = (assigner?.distinct ?? 0n) >= clients.size;
  for (const { mac, path } of gateway === undefined ? overrides.values() : [...overrides.values(), gateway]) {
    const other = owners.get(mac);
    if (other !== undefined) {
      issues.error(path, 'MAC_DUPLICATE', `${formatMac(mac)} is given at ${other} too`);
      continue;
    }
    owners.set(mac, path);
    const index = isPolicyUnique ? assigner?.findIndex(mac) : undefined;
    if (index === undefined || index >= clients.size) continue;
    const holder = clients.valueAt(index);
    if (!overrides.has(holder)) {
      issues.error(path, 'MAC_DUPLICATE', `${formatMac(mac)} is what the policy gives ${clients.at(index)}`);
    }
  }
}
