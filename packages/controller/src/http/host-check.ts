import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { hostname } from 'node:os';
import { isLoopbackHost } from '@rushhour/protocol';
import { ApiError, invalid } from '../errors.ts';

interface Options {
  /** The address or name that the controller listens at. */
  readonly host: string;
  /** Names and addresses of `RUSHHOUR_ALLOWED_HOSTS`; `*.` stands for any subdomain. */
  readonly allowed: readonly string[];
  readonly tls: { readonly cert: string } | undefined;
}

/** The name or address of a Host header without its port; undefined if it is malformed. */
const nameOf = (header: string): string | undefined => {
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(header)) return undefined;
  const name = header.startsWith('[') ? header.slice(1, header.indexOf(']')) : header.split(':', 1)[0];
  return name?.toLowerCase().replace(/\.$/, '');
};

const unmapped = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '');

const isSameAddress = (name: string, address: string) => {
  const local = unmapped(address);
  const family = isIP(name);
  if (family === 0 || family !== isIP(local)) return false;
  const list = new BlockList();
  list.addAddress(local, family === 4 ? 'ipv4' : 'ipv6');
  return list.check(name, family === 4 ? 'ipv4' : 'ipv6');
};

const isInList = (allowed: readonly string[], name: string) =>
  allowed.some((entry) => (entry.startsWith('*.') ? name.endsWith(entry.slice(1)) : entry === name));

const hostHeaders = ({ rawHeaders }: IncomingMessage) => {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
};

/** Probes of orchestrators name the machine as they like; their answers are not secret. */
const probes = new Set(['/livez', '/readyz']);

const maxRemembered = 1000;

/**
 * Refuses requests whose Host header is not a name of this controller. Otherwise a page of another site, whose name is
 * made to resolve to this machine, would have the origin of the controller.
 */
export const createHostCheck = ({ host, allowed, tls }: Options) => {
  const own = [host, hostname(), `${hostname()}.local`, ...allowed].map((name) => name.toLowerCase());
  const certificate = tls && new X509Certificate(tls.cert);
  const isOwn = (name: string, address: string) =>
    isLoopbackHost(name) ||
    isInList(own, name) ||
    isSameAddress(name, address) ||
    (isIP(name) ? certificate?.checkIP(name) : certificate?.checkHost(name)) !== undefined;
  const remembered = new Map<string, boolean>();

  return (request: IncomingMessage) => {
    if (hostHeaders(request) > 1) {
      throw invalid([{ path: '/host', in: 'header', code: 'DUPLICATE_HOST', message: 'is given more than once' }]);
    }
    const { host: given } = request.headers;
    // Only HTTP/1.0 has requests without a host, and no browser sends them.
    if (given === undefined || probes.has(request.url ?? '')) return;
    const { localAddress = '' } = request.socket;
    const key = `${given} ${localAddress}`;
    let isAllowed = remembered.get(key);
    if (isAllowed === undefined) {
      const name = nameOf(given);
      isAllowed = name !== undefined && isOwn(name, localAddress);
      if (remembered.size >= maxRemembered) remembered.clear();
      remembered.set(key, isAllowed);
    }
    if (isAllowed) return;
    const message = 'this controller does not go by the name in the Host header: add it to RUSHHOUR_ALLOWED_HOSTS';
    throw new ApiError('misdirected', 'HOST_NOT_ALLOWED', message);
  };
};
