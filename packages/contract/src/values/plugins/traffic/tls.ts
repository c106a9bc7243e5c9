import type { Static } from 'typebox';
import { handshakeParams } from '../members/tls-params.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { rampMembers, sessionLoad, valuesOf } from '../members/values.ts';
import { alertsOf, counter, errorsOf, family, gauge, generatorMetrics, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const { sessionsPerSecond, totalSessions } = sessionLoad;

const schema = valuesOf({
  ...socketMembers,
  tlsParams: handshakeParams,
  sessionsPerSecond,
  totalSessions,
  ...rampMembers,
});
export type TlsValues = Static<typeof schema>;

const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };

export const tls = definePlugin({
  id: 11,
  name: 'tls',
  title: 'TLS handshakes',
  description:
    'Full and resumed handshakes and nothing after them. `sessionsPerSecond` begins handshakes at set times; without it as many as `tlsParams.connections` are under way at once.',
  kind: 'traffic',
  hazard: 0,
  canPause: true,
  canChangeLoad: true,
  engines: ['tls'],
  schema,
  examples: [
    { ...ends, sessionsPerSecond: 100, duration: { mode: 'time', seconds: 10 } },
    { ...ends, tlsParams: { versions: ['1.3'], resumption: 'psk', connections: 4 }, duration: { seconds: 30 } },
  ],
  metrics: [
    counter('tls.attempted', 'Handshakes begun', { better: 'higher' }),
    counter('tls.full', 'Full handshakes done', { better: 'higher' }),
    counter('tls.resumed', 'Resumed handshakes done', { better: 'higher' }),
    counter('tls.failed', 'Handshakes that failed', { better: 'lower' }),
    family('tls.version', 'version', 'Handshakes by version, such as tls.version.1.3'),
    gauge('tls.active', 'Handshakes under way, at the server connections open'),
    latency('tls.connect', 'Opening of TCP connections'),
    latency('tls.handshake', 'Handshakes'),
    latency('tls.latency', 'From the time a handshake was due to its end'),
    counter('tls.acceptedFull', 'Full handshakes of the server'),
    counter('tls.acceptedResumed', 'Resumed handshakes of the server'),
    family('tls.cipher', 'cipher', 'Handshakes by cipher suite'),
    family('tls.group', 'group', 'Handshakes by group of the key exchange'),
    ...alertsOf('tls'),
    errorsOf('tls'),
    ...loadMetricsOf('tls'),
    ...generatorMetrics,
  ],
});
