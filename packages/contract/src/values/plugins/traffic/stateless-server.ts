import { type Static, Type } from 'typebox';
import { choice, section, whole } from '../../protocols/field.ts';
import { payload } from '../members/payload.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { milliseconds, optionalText, portsPattern, valuesOf } from '../members/values.ts';
import { bytes, counter, errorsOf, gauge, generatorMetrics } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const { targets, duration, cpuCores, l2PolicyVersion, ipLayer } = socketMembers;

const schema = valuesOf({
  targets,
  duration,
  ipLayer,
  cpuCores,
  l2PolicyVersion,
  isServer: Type.Literal(true, { default: true, description: 'It has no other side' }),
  statelessServerParams: section('What is done with what arrives', {
    protocol: choice(
      'Transport; icmp: echo requests, raw: IP packets of all protocols but ICMP, both at emulated hosts, so that targets need a network',
      ['udp', 'tcp', 'icmp', 'raw'],
    ),
    mode: choice(
      'echo: send it back; discard: drop it; chargen: send characters (RFC 864); reply: answer with `reply`',
      ['echo', 'discard', 'chargen', 'reply'],
    ),
    ports: optionalText('Ports to listen on, such as "7,9000-9010", where the target names none', {
      maxLength: 1024,
      pattern: portsPattern,
    }),
    reply: payload('The answer in mode reply'),
    delayMs: milliseconds('Wait before an answer', 0),
    maxRate: whole('Answers a second; what is beyond is dropped. 0 for no limit', 0, [0, 1_000_000_000]),
  }),
});
export type StatelessServerValues = Static<typeof schema>;

export const statelessServer = definePlugin({
  id: 6,
  name: 'stateless-server',
  title: 'Stateless server',
  description:
    'Answers whatever arrives by UDP, TCP, ICMP or IP without keeping any state: echo, discard, chargen or a set reply.',
  kind: 'traffic',
  hazard: 0,
  engines: ['stateless-server'],
  schema,
  examples: [
    {
      isServer: true,
      targets: [{ agent: { id: 2 }, ports: '15007' }],
      statelessServerParams: { protocol: 'udp', mode: 'echo' },
      duration: { mode: 'time', seconds: 60 },
    },
  ],
  metrics: [
    counter('stateless-server.received', 'Packets or pieces received'),
    counter('stateless-server.answered', 'Answers sent'),
    counter('stateless-server.dropped', 'Not answered because of `maxRate`', { better: 'lower' }),
    bytes('stateless-server.rxBytes', 'Bytes received'),
    bytes('stateless-server.txBytes', 'Bytes sent'),
    gauge('stateless-server.peers', 'Different senders'),
    errorsOf('stateless-server'),
    ...generatorMetrics,
  ],
});
