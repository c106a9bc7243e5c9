import { findAddress } from '../addresses/address.ts';
import type { Mac } from './mac.ts';
import type { MacScope } from './mac-policy.ts';
import { readMacBlock, readUnicastMac } from './mac-reference.ts';

/** One address that does not follow the policy: its MAC is `mac`, or the first address of the record `macId`. */
export interface MacOverride {
  readonly ip: string;
  readonly mac?: string | null | undefined;
  readonly macId?: number | null | undefined;
  readonly comment?: string | null | undefined;
}

export interface PlacedMac {
  readonly mac: Mac;
  /** Where the draft says so. */
  readonly path: string;
}

export interface OverrideScope extends MacScope {
  readonly gateway: bigint | undefined;
}

/** By address value. */
export function readOverrides(overrides: readonly MacOverride[], scope: OverrideScope): Map<bigint, PlacedMac> {
  const placed = new Map<bigint, PlacedMac>();
  for (const [i, override] of overrides.entries()) {
    const path = `/macOverrides/${i}`;
    const address = readAddress(override.ip, `${path}/ip`, scope);
    const mac = readMac(override, path, scope);
    if (address === undefined) continue;
    if (placed.has(address)) {
      scope.issues.error(`${path}/ip`, 'OVERRIDE_DUPLICATE_IP', `${override.ip} is overridden twice`);
    } else if (mac !== undefined) placed.set(address, { mac, path: `${path}/${override.mac ? 'mac' : 'macId'}` });
  }
  return placed;
}

function readAddress(text: string, path: string, scope: OverrideScope): bigint | undefined {
  const { subnet, clients, gateway, issues } = scope;
  const address = findAddress(text);
  if (address === undefined) return issues.error(path, 'OVERRIDE_IP_INVALID', `"${text}" is not an IP address`);
  const { value } = address;
  if (address.version !== subnet.version || value < subnet.first || value > subnet.last) {
    return issues.error(path, 'OVERRIDE_OUTSIDE_SUBNET', `${text} is not in the subnet`);
  }
  if (value === gateway) {
    return issues.error(path, 'OVERRIDE_IS_GATEWAY', `${text} is the gateway: its MAC is gatewayMac`);
  }
  if (!clients.has(value)) {
    return issues.error(path, 'OVERRIDE_EXCLUDED', `${text} is reserved, excluded or not selected by the pattern`);
  }
  return value;
}

function readMac(override: MacOverride, path: string, scope: OverrideScope): Mac | undefined {
  const { mac, macId } = override;
  if (mac && macId) return scope.issues.error(path, 'OVERRIDE_AMBIGUOUS', 'give either mac or macId');
  if (mac) return readUnicastMac(mac, `${path}/mac`, scope.issues);
  if (macId) return readMacBlock(macId, `${path}/macId`, scope)?.first;
  return scope.issues.error(path, 'OVERRIDE_WITHOUT_MAC', 'neither mac nor macId is given');
}
