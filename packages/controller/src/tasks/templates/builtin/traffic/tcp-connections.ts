import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const tcpConnections: BuiltinTemplate = {
  name: 'TCP connections',
  description: 'Opens and closes TCP connections at a fixed rate and measures the connection time.',
  tags: 'tcp,rate,starter,scale',
  task: {
    comment: 'TCP connections',
    configuration: [
      {
        plugin: { id: 2 },
        values: { ...ends, ...lasting.values, sessionsPerSecond: param('cps') },
      },
    ],
  },
  slots: twoAgents('tcp'),
  parameters: [whole('cps', 500, [1, 10_000_000], 'Connections per second'), ...lasting.parameters],
};
