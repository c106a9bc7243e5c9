import { AccessClient, type AccessClientOptions } from '../access/access-client.ts';
import { AccessGateway, type AccessGatewayOptions } from '../access/access-gateway.ts';
import type { DhcpClientOptions } from '../access/dhcp/client.ts';
import type { DhcpServerOptions } from '../access/dhcp/server.ts';
import type { Dhcpv6ClientOptions } from '../access/dhcpv6/client-options.ts';
import type { Dhcpv6ServerOptions } from '../access/dhcpv6/server-options.ts';
import type { IpoeOptions } from '../access/ipoe.ts';
import type { Ipoe6Options } from '../access/ipv6/ipoe6.ts';
import type { Ipoe6GatewayOptions } from '../access/ipv6/ipoe6-gateway.ts';
import { untagged } from '../access/lines.ts';
import type { PppoeClientOptions } from '../access/pppoe/client.ts';
import type { PppoeServerOptions } from '../access/pppoe/server.ts';
import { parseMac } from '../ethernet/ethernet.ts';
import { parseAddress } from '../ip/address.ts';
import { AccessLab } from './access-lab.ts';

export const ip4 = (text: string): number => parseAddress(text)[3] as number;
const bytes = (text: string) => new TextEncoder().encode(text);

export const dhcpClientOptions: DhcpClientOptions = {
  timeoutMs: 1000,
  retries: 10,
  isBroadcast: false,
  rapidCommit: false,
  hostName: (session) => bytes(`host-${session + 1}`),
  vendorClass: bytes(''),
  clientId: 'mac',
  parameters: Uint8Array.of(1, 3, 6, 15, 51, 54),
  renewPct: 50,
};

export const dhcpServerOptions: DhcpServerOptions & { answerDelayMs: number } = {
  poolStart: ip4('100.64.0.2'),
  poolSize: 4096,
  netmask: ip4('255.192.0.0'),
  router: ip4('100.64.0.1'),
  leaseSec: 3600,
  dnsServers: [ip4('100.64.0.1')],
  domain: bytes('rushhour.test'),
  answerDelayMs: 0,
};

export const ipoeOptions: IpoeOptions = {
  ipv4: { dhcp: dhcpClientOptions },
  releases: true,
  neighbours: { timeoutMs: 1000, retries: 3, intervalMs: 30_000, trusted: [] },
  dscp: 0,
};

export const dhcpv6ClientOptions: Dhcpv6ClientOptions = {
  timeoutMs: 1000,
  retries: 10,
  wantsAddress: true,
  wantsPrefix: true,
  prefixLength: 56,
  rapidCommit: false,
  duid: 'll',
  duidTimeSec: 0x2f000000,
};

export const dhcpv6ServerOptions: Dhcpv6ServerOptions = {
  poolStart: parseAddress('2001:db8:1::2'),
  poolSize: 4096,
  delegatedFrom: parseAddress('2001:db8:4000::'),
  delegatedFromLength: 36,
  delegatedLength: 56,
  preferredSec: 1800,
  validSec: 3600,
  dnsServers: [parseAddress('2001:db8:1::1')],
  domains: Uint8Array.of(4, 116, 101, 115, 116, 0),
};

export const ipoe6Options: Ipoe6Options = {
  method: { dhcpv6: dhcpv6ClientOptions },
  releases: true,
  neighbours: { timeoutMs: 1000, retries: 3, intervalMs: 30_000, trusted: [] },
  dscp: 0,
};

export const gateway6Options: Ipoe6GatewayOptions = {
  address: parseAddress('fe80::1'),
  dhcpv6: dhcpv6ServerOptions,
};

export const clientOptions = {
  count: 100,
  firstMac: parseMac('02:00:00:00:00:01'),
  macStep: 1,
  vlan: untagged,
  load: { startPerSec: 1000, stopPerSec: 1000, maxOutstanding: 800, startDelayMs: 0 },
  life: { holdMs: 0, reconnect: true, reconnectDelayMs: 1000, maxAttempts: 0 },
  proofPerSec: 0,
  access: { ipoe: ipoeOptions },
} as const satisfies Partial<AccessClientOptions>;

const lcp = {
  mru: 1492,
  timeoutMs: 1000,
  retries: 10,
  magicNumber: true,
  echoMs: 10_000,
  echoRetries: 3,
  vendorExtensions: false,
};
const auth = {
  timeoutMs: 1000,
  retries: 10,
  name: 'rushhour',
  credentials: (session: number) => ({ userName: `user${session + 1}@test`, password: `test-${session + 1}` }),
  passwordOf: (userName: string) => {
    const number = /^user(\d+)@test$/.exec(userName)?.[1];
    return number === undefined ? undefined : `test-${number}`;
  },
};

export const pppoeClientOptions: PppoeClientOptions = {
  serviceName: bytes(''),
  acName: bytes(''),
  timeoutMs: 1000,
  retries: 10,
  hostUniq: true,
  maxPayload: 0,
  priority: 6,
  dscp: 0,
  ppp: {
    lcp,
    auth: { ...auth, offer: 'any' },
    ipcp: { enabled: true, address: 0, requestDns: true },
    ip6cp: { enabled: true, autoconfigure: true },
  },
};

export const pppoeServerOptions: PppoeServerOptions & { answerDelayMs: number } = {
  acName: bytes('rushhour'),
  serviceName: bytes('internet'),
  cookie: true,
  maxSessions: 1000,
  pools: [{ name: '', start: ip4('100.64.0.2'), size: 1000 }],
  answerDelayMs: 0,
  ppp: {
    lcp,
    auth: { ...auth, offer: 'chap' },
    ipcp: { enabled: true, address: ip4('100.64.0.1'), requestDns: false, dns: [ip4('9.9.9.9'), ip4('8.8.8.8')] },
    ip6cp: { enabled: true, autoconfigure: true },
  },
};

/** Subscribers and a gateway, both ours, on one wire. */
export const createEnds = (
  client: Partial<AccessClientOptions> = {},
  gateway: Partial<AccessGatewayOptions> = {},
  lab = new AccessLab(),
) => {
  const { random } = lab;
  const left = new AccessClient({ ...clientOptions, sink: lab.sink(0), random, ...client });
  const mac = parseMac('02:ff:00:00:00:01');
  const right = new AccessGateway({ sink: lab.sink(1), random, mac, dhcp: dhcpServerOptions, ...gateway });
  lab.ends[0] = left;
  lab.ends[1] = right;
  return { lab, client: left, gateway: right };
};
