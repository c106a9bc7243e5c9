import { type BuiltinTemplate, ends, lasting, param, record, twoAgents, whole } from '../builtin-template.ts';

const [client] = ends.sources;
const [server] = ends.targets;

export const ikeHandshakes: BuiltinTemplate = {
  name: 'IKE handshakes per second',
  description:
    'Complete IKEv2 handshakes at a fixed rate from many addresses of emulated hosts, without traffic inside. Sessions are closed and opened again after a while. The agents need CAP_NET_RAW.',
  tags: 'ipsec,rate,emulated-hosts,starter,scale',
  task: {
    comment: 'IKE handshakes per second',
    configuration: [
      {
        plugin: { id: 13 },
        values: {
          ...lasting.values,
          sources: [{ ...client, network: { id: param('clientNetwork') } }],
          targets: [{ ...server, network: { id: param('serverNetwork') } }],
          ipsecPsk: param('psk'),
          ipsecIkeEncr: 'aes256gcm16',
          ipsecLoadHsRatePps: param('handshakes'),
          ipsecLoadConcurrentHs: param('concurrent'),
          ipsecLoadSrcIpCount: param('addresses'),
          ipsecLoadRecycleAfterMs: param('recycleAfterMs'),
        },
      },
    ],
  },
  slots: twoAgents('ipsec-load'),
  parameters: [
    record('clientNetwork', 'network', 'Addresses of the initiators', { label: 'Initiator network' }),
    record('serverNetwork', 'network', 'Addresses of the responders, at most 1,024', { label: 'Responder network' }),
    { name: 'psk', type: 'string', description: 'Pre-shared key of both sides' },
    whole('handshakes', 200, [1, 1_000_000], 'Handshakes per second'),
    whole('concurrent', 200, [1, 1_000_000], 'Maximum concurrent handshakes'),
    whole('addresses', 100, [1, 1_000_000], 'Addresses that handshakes come from'),
    whole('recycleAfterMs', 5000, [0, 86_400_000], 'Milliseconds until a session is closed and opened again; 0: never'),
    ...lasting.parameters,
  ],
};
