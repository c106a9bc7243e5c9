import type { StackTunnel } from '@rushhour/protocol';
import { type HostGroup, Memory, parseAddress, type UdpHandler } from '@rushhour/wire';
import { expect, it } from 'vitest';
import type { Hosts } from '../hosts.ts';
import { Tunnels } from './tunnels.ts';

const local = '10.99.0.2';
const remotes = ['10.99.0.11', '10.99.0.12', '10.99.0.13'];
const config: StackTunnel = {
  type: 'vxlan',
  params: { vni: 42 },
  isServer: true,
  ends: remotes.map((remote) => ({ local, remote })),
  outer: { subnet: '10.99.0.0/24', hosts: [local] },
};

/** The hosts that carry the tunnels: takes what arrives for the port of VXLAN, and notes where packets go. */
const outerHosts = () => {
  const sent: number[] = [];
  let handler: UdpHandler | undefined;
  const output = {
    mtu: 1500,
    memory: new Memory(new Uint8Array(2048)),
    begin(keys: Int32Array) {
      sent.push(keys[7] as number);
      return 100;
    },
    commit() {},
  };
  const udp = {
    bind(_port: number, taken: UdpHandler) {
      handler = taken;
    },
  };
  const group = { output, udp, icmp: {} } as unknown as HostGroup;
  return { group, sent, arrive: (...args: Parameters<UdpHandler['onDatagram']>) => handler?.onDatagram(...args) };
};

/** An ARP request in VXLAN: a frame of 42 bytes, which is the shortest with an address. */
const arpRequest = (sender: string, vni: number): Memory => {
  const memory = new Memory(new Uint8Array(8 + 42));
  memory.view.setUint32(0, 0x08000000);
  memory.view.setUint32(4, vni << 8);
  memory.view.setUint16(8 + 12, 0x0806);
  memory.view.setInt32(8 + 28, parseAddress(sender)[3] as number);
  return memory;
};

it('a server answers a host by the tunnel that a frame of 42 bytes came by', () => {
  const outer = outerHosts();
  const hosts = { indexOf: () => 0 } as unknown as Hosts;
  const tunnels = new Tunnels(config, outer.group, { hosts, version: 4 });
  const received: number[] = [];
  tunnels.inner = { receive: (_memory, start, end) => void received.push(end - start) } as HostGroup;
  const senders = ['10.50.0.1', '10.50.0.2', '10.50.0.3'];
  // The third host is behind the first tunnel, and so on.
  for (const [index, remote] of remotes.entries()) {
    const addresses = new Int32Array(8);
    addresses.set(parseAddress(local), 0);
    addresses.set(parseAddress(remote), 4);
    // Every tunnel has an identifier of its own.
    const memory = arpRequest(senders[2 - index] as string, 42 + index);
    outer.arrive(new Int32Array(9), { addresses, path: 0, ecn: 0, checks: false } as never, memory, 0, 50);
  }
  expect(received).toEqual([42, 42, 42]);
  for (const sender of senders) {
    const keys = new Int32Array(8);
    keys.set(parseAddress(sender), 4);
    tunnels.begin(42, 0, keys);
  }
  expect(outer.sent).toEqual(remotes.toReversed().map((remote) => parseAddress(remote)[3]));
});
