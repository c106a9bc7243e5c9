import type { AccessGatewayOptions, PppoeServerOptions } from '@rushhour/wire';
import { radiusSessionsOf } from '../radius-link.ts';
import { address4, bytesOf, type Profiles, requireProfile } from './access-profiles.ts';
import { vlanPlanOf } from './client-options.ts';
import { authenticatorOptionsOf } from './dot1x-options.ts';
import { gateway6OptionsOf } from './ipv6-options.ts';
import { lnsOptionsOf } from './l2tp-options.ts';
import { grantsOf, pppServerOptions } from './ppp-options.ts';

const pppoeOptions = (
  profiles: Profiles,
  portName: string,
): PppoeServerOptions & { readonly answerDelayMs: number } => {
  const { server } = requireProfile(profiles, 'pppoe');
  const ppp = requireProfile(profiles, 'ppp');
  return {
    acName: bytesOf(server.acName),
    serviceName: bytesOf(server.serviceName),
    cookie: server.cookie,
    maxSessions: server.maxSessions,
    setupPerSec: server.setupPerSec,
    answerDelayMs: server.answerDelayMs,
    ...grantsOf(ppp, portName),
    ppp: pppServerOptions(ppp, profiles),
  };
};

const dhcpOptions = (profiles: Profiles, portName: string): AccessGatewayOptions['dhcp'] => {
  const { server, radius } = requireProfile(profiles, 'dhcp');
  return {
    radius: server.decision === 'radius' ? radiusSessionsOf(radius, portName) : undefined,
    poolStart: address4(server.poolStart),
    poolSize: server.poolSize,
    netmask: address4(server.netmask),
    router: address4(server.router),
    leaseSec: server.leaseSec,
    dnsServers: server.dnsServers.map(address4),
    domain: bytesOf(server.domain),
    setupPerSec: server.setupPerSec,
    answerDelayMs: server.answerDelayMs,
  };
};

/** What the profiles say about the gateway of an interface. */
export const gatewayOptionsOf = (
  profiles: Profiles,
  portName: string,
): Omit<AccessGatewayOptions, 'sink' | 'random' | 'mac' | 'radius'> => ({
  outerTpid: vlanPlanOf(profiles).outerTpid,
  dhcp:
    profiles.dhcp === undefined || profiles.ipoe?.ipv4.enabled === false ? undefined : dhcpOptions(profiles, portName),
  dot1x: profiles.dot1x && authenticatorOptionsOf(profiles.dot1x, portName),
  ipv6: gateway6OptionsOf(profiles),
  pppoe: profiles.pppoe === undefined ? undefined : pppoeOptions(profiles, portName),
  l2tp: profiles.l2tp && lnsOptionsOf(profiles, portName),
});
