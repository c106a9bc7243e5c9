import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Loopback and private ranges. Link-local is excluded: cloud metadata services are there. */
export const defaultAllowedTargets: readonly string[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
];

export class TargetNotAllowed extends Error {
  readonly code = 'TARGET_NOT_ALLOWED';
  constructor(host: string, address: string) {
    super(host === address ? `target ${host} is not allowed` : `target ${host} (${address}) is not allowed`);
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** An IPv4-mapped IPv6 address (`::ffff:1.2.3.4`) reaches the IPv4 host and is checked as such. */
const plainAddressOf = (address: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;

const parseAllowList = (entries: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    if (isIP(address) === 0) throw new RangeError(`${entry} is not an address or network`);
    const bits = prefix === undefined ? (isIP(address) === 6 ? 128 : 32) : Number(prefix);
    list.addSubnet(address, bits, familyOf(address));
  }
  return list;
};

/** Resolves every host once. Traffic goes to exactly these addresses, so a later DNS change cannot redirect it. */
export const resolveTargets = async (
  hosts: readonly string[],
  allowedTargets: readonly string[] = defaultAllowedTargets,
): Promise<ReadonlyMap<string, string>> => {
  const allowed = parseAllowList(allowedTargets);
  const resolved = new Map<string, string>();
  for (const host of new Set(hosts)) {
    const found = isIP(host) === 0 ? (await lookup(host, { verbatim: false })).address : host;
    const address = plainAddressOf(found);
    if (!allowed.check(address, familyOf(address))) throw new TargetNotAllowed(host, address);
    resolved.set(host, address);
  }
  return resolved;
};
