import { formatMac } from './mac.ts';
import { type OverrideScope, type PlacedMac, readOverrides } from './mac-override.ts';
import { type MacAssigner, readMacPolicy } from './mac-policy.ts';
import { readMacBlock, readUnicastMac } from './mac-reference.ts';
import type { NetworkDraft } from './network-draft.ts';

export interface NetworkMacs {
  readonly assigner: MacAssigner | undefined;
  readonly overrides: ReadonlyMap<bigint, PlacedMac>;
  /** undefined where the gateway answers ARP or neighbour discovery for itself. */
  readonly gateway: PlacedMac | undefined;
}

/** A network without a policy leaves the MACs to the interface. */
export function readNetworkMacs(draft: NetworkDraft, scope: OverrideScope): NetworkMacs {
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
