import { type Static, Type } from 'typebox';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { optionalInteger, optionalRate, valuesOf } from '../members/values.ts';
import { counter, errorsOf, family, latency, loadMetricsOf } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const schema = valuesOf({
  ...socketMembers,
  icmpParams: section('ICMP messages', {
    version: Type.Unsafe<4 | 6>({ type: 'integer', enum: [4, 6], default: 4, description: 'ICMP or ICMPv6' }),
    type: choice('Message; all but echo come from emulated hosts, so that sources need a network', [
      'echo',
      'timestamp',
      'unreachable',
      'redirect',
      'neighbourSolicitation',
      'routerSolicitation',
    ]),
    size: whole('Bytes after the ICMP header', 56, [0, 65_507]),
    intervalMs: whole('Time between messages to one target, where no rate is given', 1000, [1, 3_600_000]),
    count: optionalInteger('Messages to each target', [1, 1e9]),
    timeoutMs: whole('Longest wait for an answer', 1000, [1, 3_600_000]),
    idMode: choice('Identifiers: one for each agent, for each target, or for each message', [
      'agent',
      'target',
      'message',
    ]),
  }),
  packetsPerSecond: optionalRate('Messages a second of all agents together'),
  invalidChecksum: flag('Wrong checksums'),
});
export type IcmpValues = Static<typeof schema>;

export const icmp = definePlugin({
  id: 5,
  name: 'icmp',
  title: 'ICMP',
  description: 'Echo and other ICMP messages, their answers and how long they take.',
  kind: 'traffic',
  canPause: true,
  canChangeLoad: true,
  hazard: 1,
  engines: ['icmp'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      icmpParams: { type: 'echo', count: 10 },
      duration: { mode: 'time', seconds: 10 },
    },
  ],
  metrics: [
    counter('icmp.sent', 'Messages sent', { better: 'higher' }),
    counter('icmp.received', 'Answers received', { better: 'higher' }),
    counter('icmp.lost', 'Messages without an answer', { better: 'lower' }),
    counter('icmp.answered', 'Echoes that the agents asked have answered, of everyone', { better: 'none' }),
    family('icmp.unreachable', 'code', 'Messages that something on the way refused', 'lower'),
    latency('icmp.rtt', 'Round trip of messages that were answered; `icmp.lost` counts the others'),
    errorsOf('icmp'),
    ...loadMetricsOf('icmp'),
  ],
  requires: ['Raw sockets on the agent'],
});
