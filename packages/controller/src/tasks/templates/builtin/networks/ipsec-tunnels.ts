import { type BuiltinTemplate, ends, lasting, param, record, twoAgents, whole } from '../builtin-template.ts';

const [client] = ends.sources;
const [server] = ends.targets;

export const ipsecTunnels: BuiltinTemplate = {
  name: 'Site-to-site: tunnels that stay up',
  description:
    'Opens IPsec tunnels between emulated gateways, sends echoes through each of them and renews their keys while they are up. The table of security associations shows every tunnel. Addresses inside are 10.100.0.0/16 and 10.200.0.1. The agents need CAP_NET_RAW.',
  tags: 'ipsec,emulated-hosts,starter,access',
  task: {
    comment: 'Site-to-site: tunnels that stay up',
    configuration: [
      {
        plugin: { id: 12 },
        values: {
          ...lasting.values,
          sources: [{ ...client, network: { id: param('clientNetwork') } }],
          targets: [{ ...server, network: { id: param('serverNetwork') } }],
          ipsecPsk: param('psk'),
          ipsecTunnelCount: param('tunnels'),
          ipsecTunnelOpenRatePps: param('openRate'),
          ipsecRekeyTime: param('rekeySec'),
          ipsecInnerSrcStart: '10.100.0.0',
          ipsecInnerSrcEnd: '10.100.255.255',
          ipsecInnerDstStart: '10.200.0.1',
          ipsecInnerDstEnd: '10.200.0.1',
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
    { name: 'psk', type: 'string', description: 'Pre-shared key of both sides' },
    whole('tunnels', 100, [1, 65_536], 'Tunnels'),
    whole('openRate', 50, [1, 10_000], 'Tunnels opened per second'),
    whole('rekeySec', 5, [1, 604_800], 'Seconds until keys are renewed'),
    ...lasting.parameters,
  ],
};
