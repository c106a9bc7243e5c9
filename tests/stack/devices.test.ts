import type { HostStack } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { addCables, startOpenVswitch } from '../access/open-vswitch.ts';
import { runJobIn, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { addServerNetwork } from './server-network.ts';

const cable = useCable('test');
const listen = [{ host: '0.0.0.0', port: 8080 }];
const untilStopped = { mode: 'continuous' } as const;

const stackOn = (device: string, network: { hosts: string; start: string; gateway?: string }): HostStack => {
  const [subnet, { hosts, start, gateway }] = ['10.99.0.0/16', network];
  const macs = { network: { subnet, macPolicy: { mode: 'perIp', start } }, records: [] };
  return {
    interface: device,
    networks: [{ subnet, hosts: [hosts], macs, ...(gateway !== undefined && { gateway }) }],
    ...{ vlan: [], header: {}, tcp: {} },
  };
};

const macsFrom = (prefix: string, first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => {
    const low = (first + index).toString(16).padStart(4, '0');
    return `${prefix}:${low.slice(0, 2)}:${low.slice(2)}`;
  });

it('a switch between emulated hosts has the MAC of each of them in its forwarding table', async () => {
  const { left, right } = cable;
  const devices = addCables(cable, 1);
  const ovs = await startOpenVswitch(right);
  for (const device of devices.right) {
    right.run('ip', 'addr', 'flush', 'dev', device);
    ovs.configure('add-port', 'br0', device);
  }
  const server = await startJobIn(left, {
    engine: 'http',
    config: { role: 'server', listen },
    duration: untilStopped,
    stack: stackOn(devices.left[1] as string, { hosts: '10.99.8.1-10.99.8.20', start: '02:bb:00:00:00:01' }),
  });
  const client = await runJobIn(left, {
    engine: 'http',
    config: {
      role: 'client',
      targets: Array.from({ length: 20 }, (_, index) => ({ host: `10.99.8.${index + 1}`, port: 8080 })),
      connections: 20,
      keepAlive: { enabled: false },
    },
    duration: { mode: 'count', count: 1000 },
    stack: stackOn(left.device, { hosts: '10.99.4.0-10.99.7.231', start: '02:aa:00:00:00:01' }),
  });
  expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([1000, 0]);
  expect((await server.stop()).counter('http.served')).toBe(1000);
  const table = ovs.ask('fdb/show', 'br0').trim().split('\n').slice(1);
  const portOf = new Map(table.map((line) => line.trim().split(/\s+/)).map(([port, , mac]) => [mac, port]));
  // The policy counts from the first usable address of the network.
  const [clients, servers] = [macsFrom('02:aa:00:00', 0x400, 1000), macsFrom('02:bb:00:00', 0x801, 20)];
  expect(clients.filter((mac) => portOf.get(mac) === undefined)).toEqual([]);
  expect(servers.filter((mac) => portOf.get(mac) === undefined)).toEqual([]);
  // Each is behind the port of its side.
  expect(new Set(clients.map((mac) => portOf.get(mac))).size).toBe(1);
  expect(new Set([...clients, ...servers].map((mac) => portOf.get(mac))).size).toBe(2);
});

/** Masks emulated hosts, leads a port to one of them, and remembers which MACs it was sent frames by. */
const nat = (device: string): string => `
  table ip t {
    chain masked { type nat hook postrouting priority 100 ; oifname "n0" masquerade ; }
    chain led { type nat hook prerouting priority -100 ; iifname "n0" tcp dport 8080 dnat to 10.99.0.200 ; }
  }
  table netdev t {
    set macs { type ether_addr ; flags dynamic ; size 65535 ; }
    chain seen { type filter hook ingress device ${device} priority 0 ; tcp dport 8080 add @macs { ether saddr } ; }
  }`;

it('a router with NAT masks emulated hosts as clients, and leads others to them as servers', async () => {
  requireProgram('curl');
  const { left, right } = cable;
  const far = addServerNetwork(right);
  right.run('sh', '-c', `nft -f - <<'END'\n${nat(right.device)}\nEND`);
  far.run(
    'sh',
    '-c',
    `nft -f - <<'END'
    table ip t {
      chain seen { type filter hook input priority 0 ;
        tcp dport 8080 ip saddr 10.98.0.1 counter comment "masked"
        tcp dport 8080 ip saddr != 10.98.0.1 counter comment "others" ; }
    }\nEND`,
  );
  const start = '02:aa:00:00:00:01';
  const server = await startJobIn(far, { engine: 'http', config: { role: 'server', listen }, duration: untilStopped });
  const client = await runJobIn(left, {
    engine: 'http',
    config: {
      role: 'client',
      targets: [{ host: far.address, port: 8080 }],
      connections: 10,
      keepAlive: { enabled: false },
    },
    duration: { mode: 'count', count: 300 },
    stack: stackOn(left.device, { hosts: '10.99.0.10-10.99.0.59', start, gateway: right.address }),
  });
  expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([300, 0]);
  expect((await server.stop()).counter('http.served')).toBe(300);
  const counted = far.run('nft', 'list', 'table', 'ip', 't');
  const packetsOf = (name: string) =>
    Number(new RegExp(`packets (\\d+) bytes \\d+ comment "${name}"`).exec(counted)?.[1]);
  // A request rides on the ACK of the handshake at the earliest.
  expect(packetsOf('masked')).toBeGreaterThanOrEqual(3 * 300);
  expect(packetsOf('others')).toBe(0);
  const seen = right.run('nft', 'list', 'set', 'netdev', 't', 'macs').match(/([\da-f]{2}:){5}[\da-f]{2}/g);
  expect(seen?.toSorted()).toEqual(macsFrom('02:aa:00:00', 10, 50));
  const inside = await startJobIn(left, {
    engine: 'http',
    config: { role: 'server', listen, responses: [{ body: { type: 'text', data: 'emulated' } }] },
    duration: untilStopped,
    stack: stackOn(left.device, { hosts: '10.99.0.200', start, gateway: right.address }),
  });
  expect(far.run('curl', '-sS', '--max-time', '100', 'http://10.98.0.1:8080/')).toBe('emulated');
  expect((await inside.stop()).counter('http.served')).toBe(1);
});
