import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readText } from './proc.ts';

const run = promisify(execFile);
const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
const discardPort = 9;
const tries = 8;
const betweenMs = 150;

/** Whether an address is on a network of one of this machine's interfaces. */
const isOnLink = (address: string): boolean => {
  const networks = new BlockList();
  for (const { cidr, family } of Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])) {
    const [network, prefix] = (cidr ?? '').split('/');
    if (network !== undefined && prefix !== undefined) {
      networks.addSubnet(network, Number(prefix), family === 'IPv6' ? 'ipv6' : 'ipv4');
    }
  }
  return networks.check(address, familyOf(address));
};

const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === address));

/** Makes the kernel resolve the address. */
const triggerResolution = (address: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = createSocket(familyOf(address) === 'ipv6' ? 'udp6' : 'udp4');
    socket.on('error', () => {});
    socket.send('', discardPort, address, () => socket.close(() => resolve()));
  });

const isResolved = async (address: string): Promise<boolean> => {
  const { stdout } = await run('ip', ['-j', 'neigh', 'show', address]).catch(() => ({ stdout: '' }));
  if (stdout !== '') {
    type Neighbour = { lladdr?: string; state: string[] };
    return (JSON.parse(stdout) as Neighbour[]).some(
      ({ lladdr, state }) => lladdr !== undefined && !state.includes('FAILED') && !state.includes('INCOMPLETE'),
    );
  }
  const line = readText('/proc/net/arp')
    .split('\n')
    .find((entry) => entry.startsWith(`${address} `));
  return line !== undefined && !/ 0x0 /.test(line);
};

/** Why a gateway cannot be used; undefined if it can. */
export const gatewayProblem = async (address: string): Promise<string | undefined> => {
  if (isIP(address) === 0) return `${address} is not an address`;
  if (isOwn(address)) return undefined;
  if (!isOnLink(address)) return `gateway ${address} is not on a network of this machine`;
  for (let i = 0; i < tries; i++) {
    await triggerResolution(address);
    await sleep(betweenMs);
    if (await isResolved(address)) return undefined;
  }
  return `gateway ${address} does not answer`;
};
