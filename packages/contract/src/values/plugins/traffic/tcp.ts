import type { Static } from 'typebox';
import { payload } from '../members/payload.ts';
import { tcpConfiguration } from '../members/tcp-configuration.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { optionalRate, rampMembers, sessionLoad, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, generatorMetrics, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const schema = valuesOf({
  ...socketMembers,
  tcpConfiguration,
  payload: payload('What is sent in the modes send and echo, and by the server in mode receive', 1024),
  ...sessionLoad,
  ...rampMembers,
  ppsPerConnection: optionalRate('Messages a second of each connection, in the modes send and echo'),
});
export type TcpValues = Static<typeof schema>;

const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };

export const tcp = definePlugin({
  id: 2,
  name: 'tcp',
  title: 'TCP',
  description:
    'TCP connections and what goes through them. `tcpConfiguration.mode` tells what a connection does; `sessionsPerSecond` opens connections at set times, without it as many as `tcpConfiguration.connections` are kept open or opened again.',
  kind: 'traffic',
  hazard: 0,
  canPause: true,
  canChangeLoad: true,
  engines: ['tcp'],
  schema,
  examples: [
    { ...ends, sessionsPerSecond: 500, duration: { mode: 'time', seconds: 10 } },
    {
      ...ends,
      tcpConfiguration: { mode: 'send', connections: 4 },
      payload: { size: 65_536 },
      duration: { seconds: 30 },
    },
    {
      ...ends,
      tcpConfiguration: { mode: 'echo', connections: 10 },
      payload: { type: 'random', size: 200 },
      ppsPerConnection: 50,
    },
  ],
  metrics: [
    counter('tcp.attempted', 'Connections tried', { better: 'higher' }),
    counter('tcp.established', 'Connections established', { better: 'higher' }),
    counter('tcp.failed', 'Connections that failed', { better: 'lower' }),
    counter('tcp.closed', 'Connections closed'),
    gauge('tcp.active', 'Connections open'),
    bytes('tcp.txBytes', 'Bytes of payload sent'),
    bytes('tcp.rxBytes', 'Bytes of payload received'),
    counter('tcp.messages', 'Messages sent', { better: 'higher' }),
    latency('tcp.connect', 'Opening of connections'),
    latency('tcp.latency', 'From the time a connection was due until it was open'),
    latency('tcp.echo', 'Round trip of a message in mode echo'),
    counter(
      'tcp.retransmits',
      'Segments that connections of the client sent again; absent where sockets do not report it',
      { better: 'lower' },
    ),
    counter('tcp.accepted', 'Connections taken by the server'),
    errorsOf('tcp'),
    ...loadMetricsOf('tcp'),
    ...generatorMetrics,
  ],
});
