import { type Static, Type } from 'typebox';
import { strict } from '../../../schema.ts';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { recordedIpLayer } from '../members/ip-layer.ts';
import { fileId } from '../members/reference.ts';
import { frameMembers } from '../members/traffic-members.ts';
import { address, milliseconds, optionalInteger, optionalText, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';
import { application, speed } from './application.ts';

const schema = valuesOf({
  ...frameMembers,
  ipLayer: recordedIpLayer,
  pcapReplayParams: Type.Object(
    {
      fileId: fileId('A capture that is ready', ['pcap', 'capture']),
      mode: choice('Send the packets, or play the sessions by real sockets on both sides', ['packet', 'stateful']),
      loop: whole(
        'Times to play it, to the end unless a duration is given; 0 until the end of the duration',
        1,
        [0, 1_000_000_000],
      ),
      loopDelayMs: milliseconds('Wait between two times', 0),
      speed,
      clientIp: address('The side of this address is the client’s'),
      rewrite: section('What is changed in the packets', {
        ips: choice('Addresses of the networks of the task, or as recorded', ['networks', 'keep']),
        ports: choice('Ports', ['keep', 'networks']),
        macs: choice('MAC addresses', ['networks', 'keep']),
        vlan: optionalInteger('One VLAN tag instead of all recorded ones; 0 for none', [0, 4094]),
        ttl: optionalInteger('Time to live', [1, 255]),
        dscp: optionalInteger('Differentiated services code point', [0, 63]),
        mtu: whole('Longest packet; TCP beyond it is sent in segments, the rest in fragments', 1500, [68, 9216]),
        fixChecksums: flag('Make checksums right again', true),
      }),
      uniquePerLoop: section('New addresses each time it is played', {
        enabled: flag('Do so'),
        everyLoops: whole('After so many times', 1, [1, 1_000_000]),
      }),
      filter: section('Which packets', {
        include: optionalText('tcp, udp, host a.b.c.d or port n'),
        exclude: optionalText('The same, left out'),
        packets: optionalText('Numbers of packets such as "1-500"', {
          pattern: '^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$',
        }),
      }),
      maxGapMs: milliseconds('Longer pauses are cut to this', 1000),
    },
    { ...strict, description: 'The capture and how it is played' },
  ),
});

export type PcapReplayValues = Static<typeof schema>;

export const pcapReplay = definePlugin({
  id: 8,
  name: 'pcap-replay',
  title: 'Capture replay',
  description: 'Plays a capture from one agent to another, packet by packet or session by session.',
  kind: 'traffic',
  hazard: 1,
  engines: ['pcap-replay', 'application'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      pcapReplayParams: { fileId: 1, speed: { mode: 'original' }, loop: 10 },
    },
  ],
  metrics: [
    counter('pcap-replay.sent', 'Packets sent', { better: 'higher' }),
    counter('pcap-replay.failed', 'Packets that could not be sent', { better: 'lower' }),
    counter('pcap-replay.truncated', 'Packets the capture holds only in part', { better: 'lower' }),
    counter('pcap-replay.loops', 'Times the capture was played'),
    counter('pcap-replay.received', 'Packets received by the other side', { better: 'higher' }),
    counter('pcap-replay.lost', 'Packets that were sent and did not arrive', { better: 'lower' }),
    gauge('pcap-replay.flows', 'Flows under way'),
    bytes('pcap-replay.txBytes', 'Bytes sent'),
    bytes('pcap-replay.rxBytes', 'Bytes received'),
    errorsOf('pcap-replay'),
    ...loadMetricsOf('pcap-replay').filter(({ name }) => name !== 'pcap-replay.begun'),
    // Metrics of mode stateful.
    ...application.metrics,
  ],
  requires: ['Raw frames on the agent, in mode packet'],
});
