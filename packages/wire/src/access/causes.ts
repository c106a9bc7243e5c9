/** Why a session failed or ended. The order is the code in session records. */
export const sessionCauses = [
  'none',
  'stopped',
  'link down',
  'hold time over',
  'PPPoE: no offer',
  'PPPoE: no session',
  'PPPoE: refused by the concentrator',
  'PPPoE: ended by the concentrator',
  'LCP: no answer',
  'LCP: options not agreed',
  'LCP: ended by the peer',
  'LCP: echo without answer',
  'PPP: loop detected',
  'authentication: no answer',
  'authentication: refused',
  'authentication: method not accepted',
  'IPCP: no answer',
  'IPCP: refused',
  'IP6CP: no answer',
  'IP6CP: refused',
  'DHCP: no offer',
  'DHCP: no acknowledgement',
  'DHCP: refused',
  'DHCP: lease expired',
  'DHCP: address in use',
  'ARP: gateway does not answer',
  'ARP: gateway is not trusted',
  'router advertisement: none',
  'DHCPv6: no answer',
  'DHCPv6: refused',
  'DHCPv6: lease expired',
  'pool exhausted',
] as const;
export type SessionCause = (typeof sessionCauses)[number];

const codes = new Map<SessionCause, number>(sessionCauses.map((cause, code) => [cause, code]));
export const causeCode = (cause: SessionCause): number => codes.get(cause) as number;
