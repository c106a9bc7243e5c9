import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const httpRate: BuiltinTemplate = {
  name: 'HTTP requests per second',
  description:
    'Sends HTTP requests at a fixed rate, independent of the server, and measures latency from the time at which each request was due.',
  tags: 'http,rate,starter,performance',
  task: {
    comment: 'HTTP requests per second',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          httpParams: { path: param('path'), connections: param('connections'), responseSize: param('responseSize') },
          requestsPerSecond: param('rps'),
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    whole('rps', 1000, [1, 10_000_000], 'Requests per second'),
    ...lasting.parameters,
    whole('connections', 50, [1, 1_000_000], 'Maximum concurrent connections'),
    { name: 'path', type: 'string', default: '/', description: 'Request path' },
    whole('responseSize', 1024, [0, 67_108_864], 'Response size in bytes'),
  ],
};
