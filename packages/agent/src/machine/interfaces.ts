import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { AgentInterface } from '@rushhour/protocol';
import { readText } from './proc.ts';

const run = promisify(execFile);
const of = (name: string, member: string) => readText(`/sys/class/net/${name}/${member}`);

/** Names come from /proc: unlike /sys it always shows the network namespace the process is in. */
const namesOf = (): string[] => {
  const listed = readText('/proc/net/dev').matchAll(/^\s*([^\s:]+):/gm);
  const names = [...listed].map((match) => match[1] as string);
  return names.length > 0 ? names : Object.keys(networkInterfaces());
};

/** Addresses by interface. Node leaves out interfaces that are down; `ip` knows them too, where it is installed. */
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
  // Loopback and tunnels do not know their state; a carrier they have.
  if (state === 'unknown') return of(name, 'carrier') === '1' ? 'up' : 'unknown';
  if (state !== '') return 'down';
  return networkInterfaces()[name] === undefined ? 'unknown' : 'up';
};

/** Stays the same as long as MAC and name do, and fits a 32-bit integer. */
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

/** `controllerVia`: the own address from which the controller is reached. */
export const describeInterfaces = async (controllerVia: string): Promise<AgentInterface[]> => {
  const addresses = await addressesOf();
  return namesOf().map((name) => describe(name, addresses.get(name) ?? [], controllerVia));
};

/** Those by which others reach this machine, the one towards the controller first. Only loopback when there is no other. */
export const addressesIn = (interfaces: readonly AgentInterface[]): string[] => {
  const rank = ({ role }: AgentInterface) => (role === 'mgmt' ? 0 : 1);
  const outward = interfaces.filter(({ usable }) => usable).toSorted((a, b) => rank(a) - rank(b));
  const all = outward.flatMap(({ ips }) => ips.map((ip) => ip.split('/')[0] as string));
  const reachable = all.filter((address) => !address.startsWith('fe80:'));
  const sorted = reachable.toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
  return sorted.length > 0 ? sorted : ['127.0.0.1'];
};
