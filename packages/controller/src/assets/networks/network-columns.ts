import { findIpVersion, findSubnet, formatAddress, normaliseMac, parseAddress, type Subnet } from '@rushhour/pools';
import type { StoredNetwork } from '../../store/assets/networks.ts';

/** A valid draft: the body merged over the stored record. */
export interface NetworkMembers {
  type?: number | null;
  subnet: string;
  gateway?: string | null;
  gatewayMac?: string | null;
  gatewayMacId?: number | null;
  gatewayMacMode?: StoredNetwork['gatewayMacMode'] | '' | null;
  excludes?: string[] | null;
  pattern?: string | null;
  ports?: string | null;
  spoofing?: boolean | null;
}

/** The columns of a network that passed `assertValidNetwork`, every address in its canonical spelling. */
export const networkColumns = (draft: NetworkMembers) => {
  const subnet = findSubnet(draft.subnet) as Subnet;
  const { gateway, gatewayMac, gatewayMacId } = draft;
  return {
    type: draft.type ?? 3,
    ...spanOf(subnet),
    subnet: `${formatAddress(subnet.version, subnet.first)}/${subnet.prefixLength}`,
    gateway: gateway ? canonicalAddress(gateway) : '',
    gatewayMac: gatewayMac ? normaliseMac(gatewayMac) : '',
    gatewayMacId: gatewayMacId || null,
    gatewayMacMode: draft.gatewayMacMode || gatewayMacModeOf(draft),
    excludes: draft.excludes ?? [],
    pattern: draft.pattern ?? '',
    ports: draft.ports ?? '',
    spoofing: draft.spoofing ?? false,
  };
};

/** The range of a subnet as texts that compare like numbers. */
export const spanOf = ({ version, first, last }: Subnet) => ({
  ipVersion: String(version),
  firstAddress: first.toString(16).padStart(32, '0'),
  lastAddress: last.toString(16).padStart(32, '0'),
});

export const ipVersionOf = (spelled: string) => String(findIpVersion(spelled));

const gatewayMacModeOf = ({ gatewayMac, gatewayMacId }: NetworkMembers) => {
  if (gatewayMac) return 'static';
  return gatewayMacId ? 'mac' : 'arp';
};

const canonicalAddress = (text: string) => {
  const { version, value } = parseAddress(text.trim());
  return formatAddress(version, value);
};
