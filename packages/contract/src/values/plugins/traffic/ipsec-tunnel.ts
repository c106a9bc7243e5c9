import type { Static } from 'typebox';
import { whole } from '../../protocols/field.ts';
import { ipsecManualKeys, ipsecProposal } from '../members/ipsec-proposal.ts';
import { frameMembers } from '../members/traffic-members.ts';
import { address, bit, optionalRate, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, family, gauge, latency } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const { tunnelID: _, tunnelIDs: __, ...members } = frameMembers;

const selectors = {
  ipsecTsSrcStart: address('First source address of the traffic selector'),
  ipsecTsSrcEnd: address('Last source address of the traffic selector'),
  ipsecTsDstStart: address('First destination address of the traffic selector'),
  ipsecTsDstEnd: address('Last destination address of the traffic selector'),
};

const innerAddresses = {
  ipsecInnerSrcStart: address('First address inside on the side of `sources`'),
  ipsecInnerSrcEnd: address('Last address inside on the side of `sources`'),
  ipsecInnerDstStart: address('First address inside on the side of `targets`'),
  ipsecInnerDstEnd: address('Last address inside on the side of `targets`'),
};

const schema = valuesOf({
  ...members,
  ...ipsecProposal,
  ...ipsecManualKeys,
  ...selectors,
  ...innerAddresses,
  ipsecPeerBase: address('First address of the peers, where targets name none'),
  ipsecPeerCount: whole('Peers', 1, [1, 1_000_000]),
  ipsecTunnelCount: whole('Tunnels', 1, [1, 1_000_000]),
  ipsecTunnelOpenRatePps: optionalRate('Tunnels opened a second'),
  ipsecTunnelSrcIpCount: whole('Source addresses that tunnels are opened from', 1, [1, 1_000_000]),
  ipsecTunnelPeerShareEndpoint: bit('Tunnels to one peer share an address'),
  ipsecTunnelUniqueTsi: bit('Every tunnel has a selector of its own'),
  ipsecMultiChildCount: whole('Child SAs of each tunnel', 1, [1, 1000]),
});

export type IpsecTunnelValues = Static<typeof schema>;

export const ipsecTunnel = definePlugin({
  id: 12,
  name: 'ipsec-tunnel',
  title: 'IPsec tunnels',
  description:
    'Opens IPsec tunnels between emulated hosts and keeps them. With addresses inside, echoes prove each tunnel; other traffic inside is an entry with `tunnelID`.',
  kind: 'traffic',
  hazard: 1,
  engines: ['ipsec-tunnel'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 }, network: { id: 1 } }],
      targets: [{ agent: { id: 2 }, network: { id: 2 } }],
      ipsecPsk: 'a long word that both know',
      ipsecTunnelCount: 10,
      ipsecTunnelOpenRatePps: 5,
      duration: { mode: 'time', seconds: 60 },
    },
  ],
  metrics: [
    gauge('ipsec-tunnel.ikeUp', 'IKE SAs up', { better: 'higher' }),
    gauge('ipsec-tunnel.childUp', 'Child SAs up', { better: 'higher' }),
    counter('ipsec-tunnel.opened', 'Tunnels opened', { better: 'higher' }),
    family(
      'ipsec-tunnel.failed',
      'notify',
      'Tunnels that failed, by the notification of the peer or why this side gave up',
      'lower',
    ),
    counter('ipsec-tunnel.rekeys', 'Keys renewed'),
    counter('ipsec-tunnel.moved', 'Tunnels that went on from another source address'),
    counter('ipsec-tunnel.dpdTimeouts', 'Peers that were silent', { better: 'lower' }),
    counter('ipsec-tunnel.replayErrors', 'Packets that came twice', { better: 'lower' }),
    counter('ipsec-tunnel.authErrors', 'Packets with a wrong check value', { better: 'lower' }),
    latency('ipsec-tunnel.setup', 'Time until a tunnel is up, or has timed out'),
    bytes('ipsec-tunnel.txBytes', 'Bytes sent by ESP'),
    bytes('ipsec-tunnel.rxBytes', 'Bytes received by ESP'),
    errorsOf('ipsec-tunnel'),
  ],
  requires: ['Agents that can emulate hosts (CAP_NET_RAW)'],
});
