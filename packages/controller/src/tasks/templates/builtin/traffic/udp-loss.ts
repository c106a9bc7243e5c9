import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const udpLoss: BuiltinTemplate = {
  name: 'UDP loss and jitter',
  description:
    'UDP packets with sequence numbers and timestamps at a fixed rate: loss, reordering, duplicates, latency and jitter.',
  tags: 'udp,loss,jitter,starter,performance',
  task: {
    comment: 'UDP loss and jitter',
    configuration: [
      {
        plugin: { id: 3 },
        values: {
          ...ends,
          ...lasting.values,
          payload: { size: param('size') },
          packetsPerSecond: param('pps'),
          totalSessions: param('flows'),
        },
      },
    ],
  },
  slots: twoAgents('udp'),
  parameters: [
    whole('pps', 1000, [1, 10_000_000], 'Packets per second of all flows'),
    whole('size', 200, [24, 65_507], 'UDP payload size in bytes'),
    whole('flows', 1, [1, 1_000_000], 'Flows, each with its own ports and sequence numbers'),
    ...lasting.parameters,
  ],
};
