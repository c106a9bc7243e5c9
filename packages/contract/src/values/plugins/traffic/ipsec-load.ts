import type { Static } from 'typebox';
import { choice, whole } from '../../protocols/field.ts';
import { ipsecProposal } from '../members/ipsec-proposal.ts';
import { frameMembers } from '../members/traffic-members.ts';
import { address, bit, milliseconds, optionalRate, valuesOf } from '../members/values.ts';
import { counter, errorsOf, gauge, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const { tunnelID: _, tunnelIDs: __, ...members } = frameMembers;

const schema = valuesOf({
  ...members,
  ...ipsecProposal,
  ipsecAuthMethod: choice('Pre-shared key, certificates, or EAP to a gateway with a certificate', [
    'psk',
    'cert',
    'eap-mschapv2',
    'eap-tls',
  ]),
  ipsecLoadRole: choice('Side that the agents of `sources` take', ['initiator', 'responder']),
  ipsecLoadConcurrentHs: whole('Most handshakes under way', 100, [1, 1_000_000]),
  ipsecLoadHsRatePps: optionalRate('Handshakes begun a second'),
  ipsecLoadKeepalivePps: whole('Keep-alive messages a second of all sessions', 0, [0, 1_000_000_000]),
  ipsecLoadPeerBaseIp: address('First address of the peers, where targets name none'),
  ipsecLoadPeerCount: whole('Peers', 1, [1, 1_000_000]),
  ipsecLoadPeerShareEndpoint: bit('Sessions to one peer share an address'),
  ipsecLoadLocalBaseIp: address('First address to send from, where sources name none'),
  ipsecLoadSrcIpCount: whole('Addresses to send from', 1, [1, 1_000_000]),
  ipsecLoadRecycleAfterMs: milliseconds('A session is closed and opened again after so long; 0 for never', 0),
  ipsecLoadResponderIdleRecycleMs: milliseconds('The responder forgets a session idle for so long', 60_000),
  ipsecLoadResponderPoolCap: whole('Sessions the responder keeps', 100_000, [1, 10_000_000]),
});

export type IpsecLoadValues = Static<typeof schema>;

export const ipsecLoad = definePlugin({
  id: 13,
  name: 'ipsec-load',
  title: 'IKE load',
  description: 'IKEv2 handshakes at a set rate from many addresses, without traffic inside.',
  kind: 'traffic',
  hazard: 2,
  canPause: true,
  canChangeLoad: true,
  engines: ['ipsec-load'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 }, network: { id: 1 } }],
      targets: [{ agent: { id: 2 }, network: { id: 2 } }],
      ipsecLoadRole: 'initiator',
      ipsecPsk: 'a long word that both know',
      ipsecLoadHsRatePps: 50,
      duration: { mode: 'time', seconds: 30 },
    },
  ],
  metrics: [
    counter('ipsec-load.started', 'Handshakes begun', { better: 'higher' }),
    counter('ipsec-load.completed', 'Handshakes done', { better: 'higher' }),
    counter('ipsec-load.failed', 'Handshakes that failed', { better: 'lower' }),
    gauge('ipsec-load.halfOpen', 'Handshakes under way'),
    counter('ipsec-load.cookies', 'Times the peer asked for a cookie'),
    counter('ipsec-load.retransmits', 'Messages sent again', { better: 'lower' }),
    counter('ipsec-load.recycled', 'Sessions closed and opened again, or forgotten by the responder'),
    gauge('ipsec-load.poolUsed', 'Sessions the responder keeps'),
    latency('ipsec-load.exchange', 'Exchanges'),
    latency('ipsec-load.handshake', 'Whole handshakes; those that time out count with the time they waited'),
    errorsOf('ipsec-load'),
    ...loadMetricsOf('ipsec-load'),
  ],
  requires: ['Agents that can emulate hosts (CAP_NET_RAW)'],
});
