import { type BuiltinTemplate, ends, lasting, param, record, twoAgents, whole } from '../builtin-template.ts';

const [client] = ends.sources;
const [server] = ends.targets;

const between = (clients: string, servers: string) => ({
  sources: [{ ...client, network: { id: param(clients) } }],
  targets: [{ ...server, network: { id: param(servers) } }],
});

const psk = { name: 'psk', type: 'string', description: 'Pre-shared key of both sides' } as const;

/** Addresses inside the tunnels. */
const inside = {
  ...{ ipsecInnerSrcStart: '10.100.0.0', ipsecInnerSrcEnd: '10.100.255.255' },
  ...{ ipsecInnerDstStart: '10.200.0.1', ipsecInnerDstEnd: '10.200.0.1' },
};

export const remoteAccess: BuiltinTemplate = {
  name: 'Remote-access VPN: 1,000 users',
  description:
    'Every user opens an IPsec tunnel from an address of its own, with ESP in UDP and one address inside, and sends an echo a second. The user network needs as many addresses as there are users. Without a server agent in the targets, give the address of the gateway there. Addresses inside are 10.100.0.0/16 and 10.200.0.1. The agents need CAP_NET_RAW.',
  tags: 'ipsec,vpn,emulated-hosts,starter,access',
  task: {
    comment: 'Remote-access VPN: 1,000 users',
    configuration: [
      {
        plugin: { id: 12 },
        values: {
          ...lasting.values,
          ...between('userNetwork', 'gatewayNetwork'),
          ...inside,
          ipsecPsk: param('psk'),
          ipsecNatt: 1,
          ipsecTunnelCount: param('users'),
          ipsecTunnelSrcIpCount: param('users'),
          ipsecTunnelUniqueTsi: 1,
          ...{ ipsecTsSrcStart: inside.ipsecInnerSrcStart, ipsecTsSrcEnd: inside.ipsecInnerSrcEnd },
          ...{ ipsecTsDstStart: inside.ipsecInnerDstStart, ipsecTsDstEnd: inside.ipsecInnerDstEnd },
          ipsecTunnelOpenRatePps: param('openRate'),
          ipsecDpdInterval: param('dpdSec'),
        },
      },
    ],
  },
  slots: twoAgents('ipsec-tunnel'),
  parameters: [
    record('userNetwork', 'network', 'Addresses of the users', { label: 'User network' }),
    record('gatewayNetwork', 'network', 'Addresses of the gateways, at most 1,024', { label: 'Gateway network' }),
    psk,
    whole('users', 1000, [1, 65_536], 'Users, each with an address and a tunnel'),
    whole('openRate', 100, [1, 10_000], 'Users that connect per second'),
    whole('dpdSec', 10, [0, 86_400], 'Seconds between dead-peer checks'),
    ...lasting.parameters,
  ],
};

export const tunnelThroughput: BuiltinTemplate = {
  name: 'Site-to-site: throughput inside',
  description:
    'HTTP transfers at full speed through IPsec tunnels between two sites. The tunnel record of type ipsec has the outer addresses and the keys; both networks are inside and need addresses that no machine has. Compare with the same template without the tunnel. The agents need CAP_NET_RAW.',
  tags: 'ipsec,vpn,http,maximum,emulated-hosts,starter,performance',
  task: {
    comment: 'Site-to-site: throughput inside',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...lasting.values,
          ...between('clientNetwork', 'serverNetwork'),
          tunnelID: param('tunnel'),
          httpParams: { connections: param('connections'), responseSize: param('responseSize') },
          rpsUnlimited: true,
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    record('clientNetwork', 'network', 'Addresses of the clients, inside', { label: 'Client network' }),
    record('serverNetwork', 'network', 'Addresses of the servers, inside, at most 1,024', { label: 'Server network' }),
    record('tunnel', 'tunnel', 'Tunnels of type ipsec', { label: 'Tunnel' }),
    whole('connections', 50, [1, 100_000], 'Concurrent connections, each with one request in flight'),
    whole('responseSize', 65_536, [0, 67_108_864], 'Response size in bytes'),
    ...lasting.parameters,
  ],
};

export const rekeyStorm: BuiltinTemplate = {
  name: 'Survive a rekey storm',
  description:
    'Tunnels renew the keys of their IKE and child SAs every few seconds, with a key exchange each, while echoes go through all of them. Every echo without an answer counts as an error; dead peers and failed tunnels do as well. Addresses inside are 10.100.0.0/16 and 10.200.0.1. The agents need CAP_NET_RAW.',
  tags: 'ipsec,vpn,rekey,emulated-hosts,starter,resilience',
  task: {
    comment: 'Survive a rekey storm',
    configuration: [
      {
        plugin: { id: 12 },
        values: {
          ...lasting.values,
          ...between('clientNetwork', 'serverNetwork'),
          ...inside,
          ipsecPsk: param('psk'),
          ipsecPfs: 1,
          ipsecTunnelCount: param('tunnels'),
          ipsecRekeyTime: param('rekeySec'),
        },
      },
    ],
  },
  slots: twoAgents('ipsec-tunnel'),
  parameters: [
    record('clientNetwork', 'network', 'Addresses of the gateways that initiate', { label: 'Initiator network' }),
    record('serverNetwork', 'network', 'Addresses of the gateways that answer, at most 1,024', {
      label: 'Responder network',
    }),
    psk,
    whole('tunnels', 200, [1, 65_536], 'Tunnels'),
    whole('rekeySec', 2, [1, 3600], 'Seconds until keys are renewed'),
    ...lasting.parameters,
  ],
};
