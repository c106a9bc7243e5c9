import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { AgentInterface } from '@rushhour/protocol';
import { readText } from './proc.ts';

type Link = AgentInterface['link'];

const linksNow = (): Map<string, Link> =>
  new Map(
    [...readText('/proc/net/dev').matchAll(/^\s*([^\s:]+):/gm)].map(([, name = '']) => [name, linkOf(name)] as const),
  );

/** Detects links that go down or up, and interfaces that appear or disappear. */
export class LinkMonitor {
  #links = linksNow();

  /** Changes since the last call; a removed interface counts as down. */
  take(): { readonly name: string; readonly link: Link }[] {
    const links = linksNow();
    const names = new Set([...this.#links.keys(), ...links.keys()]);
    const changes = [...names].flatMap((name) => {
      const link = links.get(name) ?? 'down';
      return link === (this.#links.get(name) ?? 'down') && links.has(name) === this.#links.has(name)
        ? []
        : [{ name, link }];
    });
    this.#links = links;
    return changes;
  }
}

const run = promisify(execFile);
const of = (name: string, member: string) => readText(`/sys/class/net/${name}/${member}`);

/** Names from /proc, which unlike /sys always shows the network namespace of the process. */
const namesOf = (): string[] => {
  const listed = readText('/proc/net/dev').matchAll(/^\s*([^\s:]+):/gm);
  const names = [...listed].map((match) => match[1] as string);
  return names.length > 0 ? names : Object.keys(networkInterfaces());
};

/** Addresses by interface. Node omits interfaces that are down; `ip`, if installed, lists them. */
const addressesOf = async (): Promise<Map<string, string[]>> => {
  const found = new Map<string, string[]>();
  for (const [name, entries] of Object.entries(networkInterfaces())) {
    found.set(name, entries?.flatMap(({ cidr }) => cidr ?? []) ?? []);
  }
  const { stdout } = await run('ip', ['-j', 'address']).catch(() => ({ stdout: '[]' }));
  type Listed = { ifname: string; addr_info: { local: string; prefixlen: number }[] };
  for (const { ifname, addr_info } of JSON.parse(stdout || '[]') as Listed[]) {
    if (!found.has(ifname))
      found.set(
        ifname,
        addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
      );
  }
  return found;
};

const driverOf = (name: string): string => {
  try {
    return basename(readlinkSync(`/sys/class/net/${name}/device/driver`));
  } catch {
    return /^DEVTYPE=(.+)$/m.exec(of(name, 'uevent'))?.[1] ?? '';
  }
};

export const linkOf = (name: string): AgentInterface['link'] => {
  const state = of(name, 'operstate');
  if (state === 'up') return 'up';
  // Loopback and tunnels have no operational state but a carrier.
  if (state === 'unknown') return of(name, 'carrier') === '1' ? 'up' : 'unknown';
  if (state !== '') return 'down';
  return networkInterfaces()[name] === undefined ? 'unknown' : 'up';
};

/** Stable for a MAC address and name, and fits a 32-bit integer. */
export const interfaceIdOf = (mac: string, name: string): number =>
  createHash('sha256').update(`${mac} ${name}`).digest().readUInt32BE() % 0x7fff_ffff || 1;

const isLoopback = (name: string, ips: readonly string[]) =>
  name === 'lo' || ips.some((ip) => ip.startsWith('127.') || ip === '::1/128');

const reasonOf = (link: AgentInterface['link'], name: string, ips: readonly string[]): string => {
  if (isLoopback(name, ips)) return 'reaches only this machine';
  if (link === 'down') return 'the link is down';
  return ips.length === 0 ? 'has no address' : '';
};

const describe = (name: string, ips: readonly string[], controllerVia: string): AgentInterface => {
  const entry = networkInterfaces()[name]?.[0];
  const mac = of(name, 'address') || (entry?.mac ?? '');
  const speed = Number(of(name, 'speed') || Number.NaN);
  const link = linkOf(name);
  const reason = reasonOf(link, name, ips);
  return {
    id: interfaceIdOf(mac, name),
    name,
    mac,
    mtu: Number(of(name, 'mtu') || 1500),
    speedMbps: speed > 0 ? speed : null,
    link,
    ips: [...ips],
    driver: driverOf(name),
    role: ips.some((ip) => ip.split('/')[0] === controllerVia) ? 'mgmt' : 'test',
    usable: reason === '',
    reason,
  };
};

/** `controllerVia`: the local address of the connection to the controller. */
export const describeInterfaces = async (controllerVia: string): Promise<AgentInterface[]> => {
  const addresses = await addressesOf();
  return namesOf().map((name) => describe(name, addresses.get(name) ?? [], controllerVia));
};

/** Addresses reachable from other machines, those towards the controller first; loopback only if there is no other. */
export const addressesIn = (interfaces: readonly AgentInterface[]): string[] => {
  const rank = ({ role }: AgentInterface) => (role === 'mgmt' ? 0 : 1);
  const outward = interfaces.filter(({ usable }) => usable).toSorted((a, b) => rank(a) - rank(b));
  const all = outward.flatMap(({ ips }) => ips.map((ip) => ip.split('/')[0] as string));
  const reachable = all.filter((address) => !address.startsWith('fe80:'));
  const sorted = reachable.toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
  return sorted.length > 0 ? sorted : ['127.0.0.1'];
};
