import { type Static, Type } from 'typebox';
import { optional } from '../../../schema.ts';
import { choice, flag, section } from '../../protocols/field.ts';
import { optionalIdOf } from '../members/reference.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { optionalInteger, optionalRate, optionalText, packetLoad, rampMembers, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, generatorMetrics, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const schema = valuesOf({
  ...socketMembers,
  payload: section('What is in the packets: 24 bytes that number and time them, then this', {
    type: choice('Zeros, or a value of a dictionary in each packet', ['zero', 'dictionary']),
    dictionaryId: optionalIdOf(
      'dictionary',
      'A dictionary from which each packet gets a row, as its selection says; its users are the flows',
    ),
    text: optionalText(
      'With a dictionary, what is sent: {{column}} stands for a cell of the row; without it the first column is sent',
      { maxLength: 65_536 },
    ),
    size: Type.Integer({
      default: 64,
      minimum: 24,
      maximum: 65_507,
      description: 'Bytes above UDP; longer values are cut, others followed by zeros',
    }),
    echo: flag('The other side sends every packet back: loss and times are those of the way there and back'),
  }),
  ...packetLoad,
  ...rampMembers,
  ppsPerConnection: optionalRate('Packets a second of each flow, instead of `packetsPerSecond`'),
  frameSize: optionalInteger(
    'Bytes of the whole Ethernet frame, instead of `payload.size`; at least 90 for IPv6',
    [70, 9216],
  ),
  invalidChecksum: optional.flag('Wrong UDP checksums'),
  totalSessions: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Flows, each with ports and sequence numbers of its own, of all agents together',
  }),
});
export type UdpValues = Static<typeof schema>;

const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };

export const udp = definePlugin({
  id: 3,
  name: 'udp',
  title: 'UDP',
  description:
    'Numbered and timed packets at a set rate. The receiving side counts loss, reordering, duplicates, jitter (RFC 3550) and how long losses lasted; `payload.echo` measures round trips instead.',
  kind: 'traffic',
  hazard: 1,
  canPause: true,
  canChangeLoad: true,
  engines: ['udp'],
  schema,
  examples: [
    { ...ends, packetsPerSecond: 1000, payload: { size: 200 }, duration: { mode: 'time', seconds: 10 } },
    {
      ...ends,
      packetsPerSecond: 100,
      totalSessions: 10,
      payload: { echo: true },
      duration: { mode: 'count', count: 1000 },
    },
  ],
  metrics: [
    counter('udp.sent', 'Packets sent', { better: 'higher' }),
    counter('udp.received', 'Packets received, each once', { better: 'higher' }),
    counter('udp.lost', 'Packets that were sent and did not arrive', { better: 'lower' }),
    counter('udp.reordered', 'Packets that came after later ones', { better: 'lower' }),
    counter('udp.duplicates', 'Packets that came again', { better: 'lower' }),
    counter('udp.foreign', 'Packets that are none of ours', { better: 'lower' }),
    counter('udp.packetLossDurationMs', 'How long losses lasted', { unit: 'ms', better: 'lower' }),
    latency('udp.jitter', 'Jitter as RFC 3550 computes it'),
    latency('udp.latency', 'One way, by the clocks of both agents'),
    latency('udp.rtt', 'There and back, with `payload.echo`'),
    gauge('udp.flows', 'Flows seen by the receiving side'),
    counter('udp.bufferDrops', 'Packets the receiving machine had no room for', { better: 'lower' }),
    bytes('udp.txBytes', 'Bytes sent above UDP'),
    bytes('udp.rxBytes', 'Bytes received above UDP'),
    errorsOf('udp'),
    ...loadMetricsOf('udp'),
    ...generatorMetrics,
  ],
});
