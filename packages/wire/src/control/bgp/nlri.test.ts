import { expect, it } from 'vitest';
import { familyOf } from './families.ts';
import { formatNlri, nlriEnd } from './nlri.ts';

it.each([
  ['a label', [0x00, 0x01, 0x31]],
  ['the label of withdrawals', [0x80, 0x00, 0x00]],
  ['the label that FRR withdraws with', [0x00, 0x00, 0x00]],
] as const)('prefixes with %s are read', (_, label) => {
  const labeled = Uint8Array.of(24 + 24, ...label, 10, 128, 3);
  expect(nlriEnd(familyOf('ipv4-labeled'), labeled, 0, labeled.length)).toBe(labeled.length);
  expect(formatNlri(familyOf('ipv4-labeled'), labeled, 0, labeled.length)).toBe('10.128.3.0/24');
  const vpn = Uint8Array.of(24 + 64 + 24, ...label, 0, 0, 0xfd, 0xe8, 0, 0, 0, 1, 10, 128, 3);
  expect(nlriEnd(familyOf('vpnv4'), vpn, 0, vpn.length)).toBe(vpn.length);
  expect(formatNlri(familyOf('vpnv4'), vpn, 0, vpn.length)).toBe('65000:1 10.128.3.0/24');
});
