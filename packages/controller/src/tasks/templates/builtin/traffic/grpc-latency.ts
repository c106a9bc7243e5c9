import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const grpcLatency: BuiltinTemplate = {
  name: 'gRPC latency',
  description:
    'Unary gRPC calls at a fixed rate, independent of the server: latency of calls and messages, and their status by name.',
  tags: 'http,grpc,rate,performance',
  task: {
    comment: 'gRPC latency',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          httpParams: {
            version: '2',
            path: param('method'),
            connections: param('connections'),
            grpc: { message: { type: 'zero', size: param('messageSize') } },
          },
          requestsPerSecond: param('calls'),
          maxStreams: param('streams'),
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    whole('calls', 1000, [1, 10_000_000], 'Calls per second'),
    whole('connections', 10, [1, 1_000_000], 'Connections'),
    whole('streams', 10, [1, 10_000], 'Calls under way on one connection'),
    whole('messageSize', 64, [0, 1_048_576], 'Message size in bytes'),
    { name: 'method', type: 'string', default: '/test.Echo/Call', description: 'Method to call' },
    ...lasting.parameters,
  ],
};
