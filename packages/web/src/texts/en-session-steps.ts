/** Steps and states of access sessions, in their order. */
export const sessionSteps = {
  idle: 'not started',
  dot1x: '802.1X',
  discovery: 'PPPoE discovery',
  request: 'PPPoE request',
  tunnel: 'L2TP tunnel',
  call: 'L2TP call',
  lcp: 'LCP',
  authentication: 'authentication',
  network: 'IPCP and IP6CP',
  dhcp: 'DHCP',
  gateway: 'gateway',
  ipv6: 'IPv6',
  up: 'up',
  closing: 'closing',
  waiting: 'waiting to try again',
  ended: 'ended',
};
