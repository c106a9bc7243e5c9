import { type PppOptions, pppAuthMethod } from '@rushhour/wire';
import { radiusSessionsOf } from '../radius-link.ts';
import { address4, numberIn, type PppProfile, type Profiles, textOf } from './access-profiles.ts';
import { dhcpv6Options, dhcpv6PoolsOf } from './ipv6-options.ts';

type OwnPpp = Omit<PppOptions, 'isServer' | 'capacity'>;

const second = 1000;

/** Options of PPP that both ends have. */
const pppLinkOptions = ({
  lcp,
  auth,
  ip6cp,
}: PppProfile): Pick<PppOptions, 'lcp' | 'ip6cp'> & {
  readonly auth: Pick<PppOptions['auth'], 'offer' | 'timeoutMs' | 'retries' | 'name'>;
} => ({
  lcp: {
    mru: lcp.mru,
    timeoutMs: lcp.timeoutSec * second,
    retries: lcp.retries,
    magicNumber: lcp.magicNumber,
    echoMs: lcp.echoSec * second,
    echoRetries: lcp.echoRetries,
    vendorExtensions: lcp.vendorExtensions,
  },
  auth: {
    offer: auth.protocol === 'mschapv2' ? 'msChapV2' : auth.protocol,
    timeoutMs: auth.timeoutSec * second,
    retries: auth.retries,
    name: 'rushhour',
  },
  ip6cp: { enabled: ip6cp.enabled, autoconfigure: ip6cp.autoconfigure },
});

/** PPP of subscribers, of which the first has the number `first`. */
export const pppClientOptions = (ppp: PppProfile, profiles: Profiles, first: number): OwnPpp => {
  const { auth, ...link } = pppLinkOptions(ppp);
  const { enabled, address, requestDns } = ppp.ipcp;
  return {
    ...link,
    auth: {
      ...auth,
      credentials: (session) => ({
        userName: textOf(ppp.auth.username, first + session),
        password: textOf(ppp.auth.password, first + session),
      }),
      passwordOf: () => undefined,
    },
    ipcp: { enabled, address: address === undefined ? 0 : address4(address), requestDns },
    ip6cp: {
      ...link.ip6cp,
      dhcpv6: profiles.dhcpv6 && {
        ...dhcpv6Options(profiles, profiles.dhcpv6, first),
        releases: profiles.dhcpv6.client.release,
      },
    },
  };
};

/** What sessions of a server get by DHCPv6; its subscribers without PPP come first. */
const poolsOf = ({ dhcpv6, ipoe }: Profiles) => (ipoe?.ipv6.enabled ? undefined : dhcpv6 && dhcpv6PoolsOf(dhcpv6));

/** Lets everyone in. MS-CHAPv2 asks for a proof that needs the password. */
const acceptAll: NonNullable<PppOptions['auth']['ask']> = (_session, { method }, answer) =>
  answer({ isGood: method !== pppAuthMethod.msChapV2, text: undefined, cause: 'authentication: refused' });

/** PPP of the end that lets subscribers in. */
export const pppServerOptions = (ppp: PppProfile, profiles: Profiles): OwnPpp => {
  const { auth, ...link } = pppLinkOptions(ppp);
  const { username, password } = ppp.auth;
  return {
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
    ip6cp: { ...link.ip6cp, pools: poolsOf(profiles) },
  };
};

/** What a server of PPP hands out, and who decides about it. */
export const grantsOf = ({ server, radius }: PppProfile, portName: string) => ({
  pools: [
    { name: '', start: address4(server.poolStart), size: server.poolSize },
    ...server.pools.map(({ name, start, size }) => ({ name, start: address4(start), size })),
  ],
  radius: server.decision === 'radius' ? radiusSessionsOf(radius, portName) : undefined,
});
