import { type AccessGatewayOptions, type PppoeServerOptions, pppAuthMethod } from '@rushhour/wire';
import { bytesOf, numberIn, type Profiles, requireProfile, textOf } from './access-profiles.ts';
import { address4, pppLinkOptions, vlanPlanOf } from './client-options.ts';
import { authenticatorOptionsOf } from './dot1x-options.ts';
import { gateway6OptionsOf } from './ipv6-options.ts';
import { radiusSessionsOf } from './radius-link.ts';

/** Lets everyone in. MS-CHAPv2 asks for a proof that needs the password. */
const acceptAll: NonNullable<PppoeServerOptions['ppp']['auth']['ask']> = (_session, { method }, answer) =>
  answer({ isGood: method !== pppAuthMethod.msChapV2, text: undefined, cause: 'authentication: refused' });

const pppoeOptions = (
  profiles: Profiles,
  portName: string,
): PppoeServerOptions & { readonly answerDelayMs: number } => {
  const { server } = requireProfile(profiles, 'pppoe');
  const ppp = requireProfile(profiles, 'ppp');
  const { auth, ...link } = pppLinkOptions(ppp);
  const { username, password } = ppp.auth;
  return {
    acName: bytesOf(server.acName),
    serviceName: bytesOf(server.serviceName),
    cookie: server.cookie,
    maxSessions: server.maxSessions,
    setupPerSec: server.setupPerSec,
    answerDelayMs: server.answerDelayMs,
    pools: [
      { name: '', start: address4(ppp.server.poolStart), size: ppp.server.poolSize },
      ...ppp.server.pools.map(({ name, start, size }) => ({ name, start: address4(start), size })),
    ],
    radius: ppp.server.decision === 'radius' ? radiusSessionsOf(ppp.radius, portName) : undefined,
    ppp: {
      ...link,
      auth: {
        ...auth,
        credentials: () => ({ userName: '', password: '' }),
        ask: ppp.server.decision === 'accept' ? acceptAll : undefined,
        passwordOf: (userName) => {
          if (username === '') return password;
          const number = numberIn(username, userName);
          return number < 0 ? undefined : textOf(password, number - 1);
        },
      },
      ipcp: {
        enabled: ppp.ipcp.enabled,
        address: address4(ppp.server.localAddress),
        requestDns: false,
        dns: [address4(ppp.server.dns1), address4(ppp.server.dns2)],
      },
    },
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
});
