import { existsSync, readdirSync } from 'node:fs';
import type { HostStack, ResultRow } from '@rushhour/protocol';
import type { Availability, Host, Samples } from '../../engine.ts';
import { type Device, requireDevice } from '../../net/packet/device.ts';
import { probePackets } from '../../net/packet/packet-socket.ts';
import { probeEpoll } from '../../net/path-probe.ts';
import { Hosts } from '../hosts.ts';
import { reportKeys } from '../ipsec/key-report.ts';
import { Stack, type StackHosts } from '../stack.ts';
import { openPacketPort } from './packet-port.ts';
import type { Port } from './port.ts';
import { shareProgram } from './share-filter.ts';
import type { StackShare } from './stack-share.ts';
import { openXdpPort, xdpPortProblem } from './xdp-port.ts';

/** Whether hosts can be emulated on this machine, or the reason why not. */
export const checkStack = (): Availability => {
  const reason = probePackets() ?? probeEpoll();
  if (reason !== undefined) return { isAvailable: false, missing: ['raw frames'], reason };
  return { isAvailable: true, path: 'AF_XDP or packet socket' };
};

export interface StackDeps {
  readonly host: Host;
  readonly note: (remark: string) => void;
  readonly samples: Samples;
  /** The part of a worker; without one the stack has everything. */
  readonly share?: StackShare | undefined;
  readonly putRow?: ((table: 'keys', row: ResultRow) => void) | undefined;
}

const receiveQueues = ({ name }: Device): number => {
  const folder = `/sys/class/net/${name}/queues`;
  return existsSync(folder) ? readdirSync(folder).filter((queue) => queue.startsWith('rx-')).length : 1;
};

const isVirtual = ({ name }: Device): boolean => !existsSync(`/sys/class/net/${name}/device`);

/** The fastest port that carries the frames of a job. */
const openPort = (config: HostStack, hosts: Hosts, device: Device, { host, note, share }: StackDeps): Port => {
  const { path = 'auto', vlan } = config;
  const isCaptured = host.isCaptured ?? false;
  if (share !== undefined) return openPacketPort({ device, isCaptured, filter: shareProgram(share, hosts.blocks) });
  if (path === 'af_packet') return openPacketPort({ device, isCaptured });
  const problem =
    (path === 'auto' && isCaptured ? 'captures do not see frames of AF_XDP' : undefined) ??
    (vlan.length > 0 ? 'it does not see VLAN tags that the kernel removes' : undefined) ??
    (config.tunnel?.type === 'mpls' ? 'it sees IP packets only' : undefined) ??
    xdpPortProblem(device, hosts.blocks);
  try {
    if (problem !== undefined) throw new Error(problem);
    return openXdpPort({ device, blocks: hosts.blocks, isVirtual: isVirtual(device), queues: receiveQueues(device) });
  } catch (error) {
    const reason = (error as Error).message;
    if (path === 'af_xdp') throw new Error(`hosts cannot be emulated on ${device.name} by AF_XDP: ${reason}`);
    note(`emulated hosts by packet socket: no AF_XDP: ${reason}`);
    return openPacketPort({ device, isCaptured });
  }
};

const createHosts = (
  config: HostStack,
  mac: Uint8Array,
  share: StackShare | undefined,
): StackHosts & { readonly linkHosts: Hosts } => {
  const { tunnel, networks, vlan } = config;
  if (tunnel === undefined || tunnel.type === 'mpls') {
    const hosts = new Hosts({ networks, vlan }, mac, share?.by === 'hosts' ? share : undefined);
    return { hosts, linkHosts: hosts };
  }
  // The last tag of the entry is inside the tunnel if its record says so.
  const isTagged = tunnel.params['innerVlan'] === true;
  const outerHosts = new Hosts({ networks: [tunnel.outer], vlan: isTagged ? vlan.slice(0, -1) : vlan }, mac);
  return {
    hosts: new Hosts({ networks, vlan: isTagged ? vlan.slice(-1) : [] }, mac),
    outerHosts,
    linkHosts: outerHosts,
  };
};

/** Opens the interface and starts the hosts of a job. */
export const openStack = (config: HostStack, deps: StackDeps): Stack => {
  const device = requireDevice(config.interface);
  if (!device.isEthernet) throw new Error(`hosts cannot be emulated on ${device.name}: it has no Ethernet`);
  const { linkHosts, ...stackHosts } = createHosts(config, device.mac, deps.share);
  const port = openPort(config, linkHosts, device, deps);
  try {
    const stack = new Stack(config, { ...stackHosts, share: deps.share }, port);
    if (stack.ipsec !== undefined) reportKeys(stack.ipsec, deps);
    return stack;
  } catch (error) {
    port.close();
    throw error;
  }
};
