import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from './builtin-template.ts';

export const httpMaximum: BuiltinTemplate = {
  name: 'HTTP maximum rate',
  description:
    'Finds out how many HTTP requests a second go through: every connection sends its next request as soon as it has its answer.',
  tags: 'http,maximum,starter',
  task: {
    comment: 'HTTP maximum rate',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          httpParams: { connections: param('connections'), responseSize: param('responseSize') },
          rpsUnlimited: true,
          cpuCores: param('cores'),
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    ...lasting.parameters,
    whole('connections', 50, [1, 1_000_000], 'Connections, each with one request under way'),
    whole('responseSize', 0, [0, 67_108_864], 'Bytes the server answers with'),
    whole('cores', 1, [1, 256], 'Processor cores of each agent'),
  ],
};
