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
