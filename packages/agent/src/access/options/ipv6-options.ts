import { type Dhcpv6ClientOptions, type Ipoe6GatewayOptions, type Ipoe6Options, parseAddress } from '@rushhour/wire';
import {
  bytesOf,
  type Dhcpv6Profile,
  type IpoeProfile,
  numberedBytes,
  type Profiles,
  requireProfile,
} from './access-profiles.ts';

const second = 1000;
/** Identifiers with a time count from 2000 on. */
const duidEpochMs = Date.UTC(2000, 0, 1);
/** Lifetimes of an advertised prefix (RFC 4861). */
const advertised = { validSec: 2_592_000, preferredSec: 604_800 } as const;

export const dhcpv6Options = (
  profiles: Profiles,
  { client, relay }: Dhcpv6Profile,
  first: number,
): Dhcpv6ClientOptions => {
  const { circuitId: interfaceId, remoteId } = profiles.accessLine?.line ?? {
    circuitId: relay.interfaceId,
    remoteId: relay.remoteId,
  };
  return {
    timeoutMs: client.timeoutSec * second,
    retries: client.retries,
    wantsAddress: client.address,
    wantsPrefix: client.prefix,
    prefixLength: client.prefixLength,
    rapidCommit: client.rapidCommit,
    reconfigure: client.reconfigure,
    duid: client.duid,
    duidTimeSec: Math.floor((Date.now() - duidEpochMs) / second),
    relay: relay.enabled
      ? { interfaceId: numberedBytes(interfaceId, first), remoteId: numberedBytes(remoteId, first) }
      : undefined,
  };
};

/** Words of an address so many after another. */
const addressAfter = (text: string, distance: number): Int32Array => {
  const words = parseAddress(text);
  const low = ((words[3] as number) >>> 0) + distance;
  words[3] = low | 0;
  words[2] = ((words[2] as number) + Math.floor(low / 2 ** 32)) | 0;
  return words;
};

const methodOf = (profiles: Profiles, { method, addressStart, gateway }: IpoeProfile['ipv6'], first: number) => {
  if (method === 'slaac') return method;
  if (method === 'static') return { first: addressAfter(addressStart, first), gateway: parseAddress(gateway) };
  return { dhcpv6: dhcpv6Options(profiles, requireProfile(profiles, 'dhcpv6'), first) };
};

/** What the profiles say about IPv6 of the sessions of an interface; undefined: they have none. */
export const ipoe6OptionsOf = (profiles: Profiles, first: number, dscp: number): Ipoe6Options | undefined => {
  const { ipv6, neighbours } = requireProfile(profiles, 'ipoe');
  if (!ipv6.enabled) return undefined;
  return {
    method: methodOf(profiles, ipv6, first),
    releases: profiles.dhcpv6?.client.release ?? false,
    neighbours: {
      timeoutMs: neighbours.timeoutSec * second,
      retries: neighbours.retries,
      intervalMs: neighbours.intervalSec * second,
      trusted: neighbours.trustedGateways.filter((text) => text.includes(':')).map((text) => parseAddress(text)),
    },
    dscp,
  };
};

/** A domain name as DNS writes it; nothing for an empty one. */
const domainBytes = (domain: string): Uint8Array => {
  const labels = domain.split('.').filter((label) => label !== '');
  if (labels.length === 0) return new Uint8Array(0);
  return Uint8Array.from([...labels.flatMap((label) => [label.length, ...bytesOf(label)]), 0]);
};

/** What a server of DHCPv6 hands out. */
export const dhcpv6PoolsOf = ({ server }: Dhcpv6Profile): NonNullable<Ipoe6GatewayOptions['dhcpv6']> => {
  const [network = '', length] = server.delegatedFrom.split('/');
  return {
    poolStart: parseAddress(server.poolStart),
    poolSize: server.poolSize,
    delegatedFrom: parseAddress(network),
    delegatedFromLength: Number(length),
    delegatedLength: server.delegatedLength,
    preferredSec: server.preferredSec,
    validSec: server.validSec,
    dnsServers: server.dnsServers.map((text) => parseAddress(text)),
    domains: domainBytes(server.domain),
    reconfigureSec: server.reconfigureSec,
  };
};

/** What the profiles say about the IPv6 router of an interface; undefined: there is none. */
export const gateway6OptionsOf = (profiles: Profiles): Ipoe6GatewayOptions | undefined => {
  const ipv6 = profiles.ipoe?.ipv6;
  if (ipv6 === undefined || !ipv6.enabled) return undefined;
  const words = parseAddress(ipv6.addressStart);
  words.fill(0, 2);
  return {
    address: parseAddress(ipv6.gateway),
    dhcpv6: ipv6.method === 'dhcpv6' ? dhcpv6PoolsOf(requireProfile(profiles, 'dhcpv6')) : undefined,
    prefix: ipv6.method === 'slaac' ? { words, ...advertised } : undefined,
  };
};
