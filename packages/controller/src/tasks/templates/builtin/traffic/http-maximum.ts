import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const httpMaximum: BuiltinTemplate = {
  name: 'HTTP maximum rate',
  description:
    'Finds the maximum rate of HTTP requests: every connection sends its next request as soon as it has received the response.',
  tags: 'http,maximum,starter,performance',
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
    whole('connections', 50, [1, 1_000_000], 'Concurrent connections, each with one request in flight'),
    whole('responseSize', 0, [0, 67_108_864], 'Response size in bytes'),
    whole('cores', 1, [1, 256], 'CPU cores per agent'),
  ],
};
