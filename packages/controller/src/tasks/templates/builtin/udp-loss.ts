import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from './builtin-template.ts';

export const udpLoss: BuiltinTemplate = {
  name: 'UDP loss and jitter',
  description: 'Numbered and timed UDP packets at a set rate: loss, reordering, duplicates, latency and jitter.',
  tags: 'udp,loss,jitter,starter',
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
    whole('pps', 1000, [1, 10_000_000], 'Packets a second of all flows together'),
    whole('size', 200, [24, 65_507], 'Bytes of a packet above UDP'),
    whole('flows', 1, [1, 1_000_000], 'Flows, each with its own ports and numbers'),
    ...lasting.parameters,
  ],
};
