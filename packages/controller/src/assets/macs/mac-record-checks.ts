import { findMacPrefix, formatMac, issuesOfMac, normaliseMac } from '@rushhour/pools';
import { invalid } from '../../errors.ts';
import type { StoredMac } from '../../store/assets/macs.ts';

interface MacDraft {
  kind: StoredMac['kind'];
  address: string;
  count?: number | null | undefined;
}

/** The draft in canonical spelling and with its real count; refuses one that is malformed or multicast. */
export const validMac = ({ kind, address, count }: MacDraft) => {
  const issues: { path: string; code: string; message: string }[] = issuesOfMac({ kind, address, count });
  if (issues.length > 0) throw invalid(issues);
  if (kind === 'oui') {
    const { first, freeBits } = findMacPrefix(address) as NonNullable<ReturnType<typeof findMacPrefix>>;
    const octets = (48 - freeBits) / 8;
    return { kind, address: formatMac(first).slice(0, octets * 3 - 1), count: count || 2 ** freeBits };
  }
  const canonical = normaliseMac(address);
  if (canonical === '00:00:00:00:00:00') {
    throw invalid([{ path: '/address', code: 'MAC_ZERO', message: 'the all-zero MAC is no address' }]);
  }
  return { kind, address: canonical, count: count || 1 };
};

/** Frequent prefixes. Not a registry: other prefixes have no vendor. */
const prefixesOf: Readonly<Record<string, string>> = {
  Apple: '00:03:93 00:0a:27 00:0a:95 00:1e:c2 00:25:00',
  Arista: '00:1c:73 44:4c:a8',
  Broadcom: '00:10:18',
  'Check Point': '00:1c:7f',
  Chelsio: '00:07:43',
  Cisco: '00:00:0c 00:01:42 00:01:43 00:1b:54 00:1e:bd',
  'D-Link': '00:05:5d 00:1b:11',
  Dell: '00:14:22 00:1e:c9 18:03:73',
  'Extreme Networks': '00:04:96',
  F5: '00:01:d7 00:0a:49',
  Fortinet: '00:09:0f 90:6c:ac',
  'Hewlett Packard': '00:17:a4 3c:d9:2b',
  Huawei: '00:e0:fc 00:18:82',
  IANA: '00:00:5e',
  IBM: '00:04:ac',
  Intel: '00:15:17 00:1b:21 3c:fd:fe 68:05:ca 90:e2:ba a0:36:9f',
  Juniper: '00:05:85 00:10:db 00:12:1e',
  KVM: '52:54:00',
  Marvell: '00:50:43',
  Mellanox: '00:02:c9 24:8a:07 7c:fe:90 b8:59:9f e4:1d:2d ec:0d:9a',
  Microsoft: '00:15:5d 00:03:ff',
  MikroTik: '00:0c:42 4c:5e:0c',
  Netgear: '00:09:5b 00:14:6c',
  'Oracle VirtualBox': '08:00:27',
  'Palo Alto Networks': '00:1b:17',
  Parallels: '00:1c:42',
  'Raspberry Pi': 'b8:27:eb dc:a6:32 e4:5f:01 28:cd:c1',
  Realtek: '00:e0:4c',
  Solarflare: '00:0f:53',
  Sophos: '00:1a:8c',
  Spirent: '00:10:94',
  Supermicro: '00:25:90 0c:c4:7a ac:1f:6b',
  'TP-Link': '50:c7:bf 00:27:19',
  Ubiquiti: '00:27:22 24:a4:3c',
  VMware: '00:05:69 00:0c:29 00:1c:14 00:50:56',
  Xen: '00:16:3e',
  Xerox: '00:00:00',
};

const vendors = new Map(
  Object.entries(prefixesOf).flatMap(([vendor, prefixes]) => prefixes.split(' ').map((prefix) => [prefix, vendor])),
);

/** The maker of an address or OUI in canonical spelling; empty when unknown. */
export const vendorOf = (address: string): string => vendors.get(address.slice(0, 8)) ?? '';

/** A vendor equal to the one looked up for the previous address counts as not chosen. */
export const chosenVendor = (given: string | null | undefined, address: string, formerAddress = address): string =>
  given && given !== vendorOf(formerAddress) ? given : vendorOf(address);
