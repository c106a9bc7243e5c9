import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { type AccessClientOptions, type AccessGatewayOptions, l2tpPort } from '@rushhour/wire';
import {
  address4,
  bytesOf,
  type L2tpProfile,
  numberedBytes,
  type Profiles,
  requireProfile,
} from './access-profiles.ts';
import { grantsOf, pppClientOptions, pppServerOptions } from './ppp-options.ts';

type LacOptions = NonNullable<AccessClientOptions['access']['l2tp']>;
type LnsOptions = NonNullable<AccessGatewayOptions['l2tp']>;

const second = 1000;
/** Speed of the lines of subscribers, as reported to an LNS. */
const connectBps = 1_000_000_000;
/** Tunnels of an LNS at once. */
const maxTunnels = 4096;

const peerOf = ({ tunnel: { peerAddress } }: L2tpProfile): LacOptions['peer'] =>
  peerAddress === undefined ? undefined : { address: address4(peerAddress), port: l2tpPort };

/** Words of `/proc/net/route` have the byte order of the machine, which is little-endian. */
const routeWord = (hex: string): number => Buffer.from(hex, 'hex').readInt32LE(0);

/** The gateway by which the kernel reaches an address through an interface; 0: there is none. */
const gatewayTo = (interfaceName: string, address: number): number => {
  const routes = readFileSync('/proc/net/route', 'latin1').split('\n').slice(1);
  let [gateway, longest] = [0, -1];
  for (const fields of routes.map((line) => line.split('\t'))) {
    const [name, destination = '', via = '', , , , , mask = ''] = fields;
    if (name !== interfaceName || routeWord(via) === 0) continue;
    const length = routeWord(mask) >>> 0;
    if ((address & routeWord(mask)) !== routeWord(destination) || length <= longest) continue;
    [gateway, longest] = [routeWord(via), length];
  }
  return gateway;
};

/**
 * The address of the tunnels of an interface. It is in the network of the interface that contains it; outside of them
 * all everyone is a neighbour.
 */
const portOf = (interfaceName: string, { tunnel }: L2tpProfile): LacOptions['port'] => {
  const { localAddress, peerAddress = '0.0.0.0' } = tunnel;
  if (localAddress === undefined) throw new RangeError('tunnels need an address of their own');
  const address = address4(localAddress);
  const known = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (known.some((one) => one.address === localAddress))
    throw new RangeError(`${localAddress} is an address of this machine: the kernel would answer for it`);
  const network = (networkInterfaces()[interfaceName] ?? []).find((one) => {
    if (one.family !== 'IPv4') return false;
    return ((address4(one.address) ^ address) & address4(one.netmask)) === 0;
  });
  const prefixLength = Number(network?.cidr?.split('/')[1] ?? 0);
  return { address, prefixLength, gateway: gatewayTo(interfaceName, address4(peerAddress)) };
};

const tunnelOf = ({ tunnel }: L2tpProfile): LacOptions['tunnel'] => ({
  hostName: numberedBytes(tunnel.hostName, 0),
  secret: bytesOf(tunnel.secret),
  helloMs: tunnel.helloSec * second,
  receiveWindow: tunnel.receiveWindow,
  timeoutMs: tunnel.timeoutSec * second,
  attempts: tunnel.retries,
  tosOfControl: tunnel.tosOfControl,
});

/** The access concentrator of subscribers, of which the first has the number `first`. */
export const lacOptionsOf = (
  profiles: Profiles,
  { first, interfaceName, dscp }: { readonly first: number; readonly interfaceName: string; readonly dscp: number },
): LacOptions => {
  const l2tp = requireProfile(profiles, 'l2tp');
  return {
    ...l2tp.session,
    tunnel: tunnelOf(l2tp),
    peer: peerOf(l2tp),
    connectBps,
    dscp,
    ppp: pppClientOptions(requireProfile(profiles, 'ppp'), profiles, first),
    port: portOf(interfaceName, l2tp),
  };
};

/** The network server of an interface. */
export const lnsOptionsOf = (profiles: Profiles, interfaceName: string): LnsOptions => {
  const l2tp = requireProfile(profiles, 'l2tp');
  const ppp = profiles.l2tpPpp ?? requireProfile(profiles, 'ppp');
  return {
    ...l2tp.session,
    ...l2tp.server,
    ...grantsOf(ppp, interfaceName),
    tunnel: { ...tunnelOf(l2tp), maxTunnels },
    peer: peerOf(l2tp),
    ppp: pppServerOptions(ppp, profiles),
    port: portOf(interfaceName, l2tp),
  };
};
