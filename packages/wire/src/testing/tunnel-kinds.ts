import { bytesOfHex } from '../bytes/memory.ts';
import { createGeneve } from '../links/geneve.ts';
import { createGre } from '../links/gre.ts';
import { createGtpu } from '../links/gtpu.ts';
import { createIpip } from '../links/ipip.ts';
import { createL2tpv3 } from '../links/l2tpv3.ts';
import type { LinkCodec } from '../links/link.ts';
import { createVxlan } from '../links/vxlan.ts';

/** A pair of codecs, one for each end, of every kind of tunnel over IP. */
export const tunnelKinds: Readonly<Record<string, (isClient: boolean) => LinkCodec>> = {
  gre: () => createGre(),
  'gre with everything': () => createGre({ key: 0xdeadbeef, hasChecksum: true, hasSequence: true }),
  'gre with Ethernet': () => createGre({ key: 7, payload: 'ethernet' }),
  'IPv4 in IP': () => createIpip(4),
  'IPv6 in IP': () => createIpip(6),
  vxlan: () => createVxlan({ network: 0xabcdef }),
  geneve: () =>
    createGeneve({ network: 77, options: [{ optionClass: 0x0102, type: 0x03, data: bytesOfHex('01020304') }] }),
  'l2tpv3 over UDP': (isClient) =>
    createL2tpv3({ localSession: isClient ? 1 : 2, remoteSession: isClient ? 2 : 1, hasSequence: true }),
  'l2tpv3 over IP': (isClient) =>
    createL2tpv3({
      localSession: isClient ? 1 : 2,
      remoteSession: isClient ? 2 : 1,
      encapsulation: 'ip',
      hasSublayer: false,
      localCookie: bytesOfHex(isClient ? '1111111122222222' : '3333333344444444'),
      remoteCookie: bytesOfHex(isClient ? '3333333344444444' : '1111111122222222'),
    }),
  gtpu: (isClient) => createGtpu({ localTeid: isClient ? 0x80000001 : 2, remoteTeid: isClient ? 2 : 0x80000001 }),
  'gtpu with a PDU session': (isClient) =>
    createGtpu({
      localTeid: isClient ? 1 : 2,
      remoteTeid: isClient ? 2 : 1,
      hasSequence: true,
      pduSession: { isUplink: isClient, qosFlow: 9 },
    }),
};
