import { type BuiltinTemplate, duration, ends, param, twoAgents, whole } from '../builtin-template.ts';

const seconds = whole('seconds', 60, [1, 86_400], 'How long traffic is sent', duration);
const lasts = { duration: { mode: 'time', seconds: param('seconds') } };

export const pings: BuiltinTemplate = {
  name: 'Ping: loss and round trip',
  description: 'ICMP echoes at a fixed rate: how many are lost on the path, and the round-trip time of the others.',
  tags: 'icmp,ping,loss,latency,starter,performance',
  task: {
    comment: 'Ping: loss and round trip',
    configuration: [
      {
        plugin: { id: 5 },
        values: {
          ...{ ...ends, ...lasts },
          icmpParams: { type: 'echo', size: param('size') },
          packetsPerSecond: param('rate'),
        },
      },
    ],
  },
  slots: twoAgents('icmp'),
  parameters: [
    whole('rate', 10, [1, 100_000], 'Echoes per second', { label: 'Rate', unit: '/s' }),
    whole('size', 56, [0, 65_507], 'Bytes after the ICMP header', { label: 'Size', unit: 'bytes' }),
    seconds,
  ],
};

export const udpEchoServer: BuiltinTemplate = {
  name: 'UDP echo server for other generators',
  description:
    'Answers every datagram with itself on port 15007, so that another generator has a peer behind the device.',
  tags: 'udp,echo,server,performance',
  task: {
    comment: 'UDP echo server for other generators',
    configuration: [
      {
        plugin: { id: 6 },
        values: {
          isServer: true,
          targets: [{ agent: { id: { $slot: 'server' } }, ports: '15007' }],
          statelessServerParams: { protocol: 'udp', mode: 'echo' },
          ...lasts,
        },
      },
    ],
  },
  slots: [{ name: 'server', role: 'server', requires: ['stateless-server'] }],
  parameters: [seconds],
};
