import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const dnsQueries: BuiltinTemplate = {
  name: 'DNS queries',
  description: 'Sends DNS queries over UDP at a fixed rate for a name that the server resolves.',
  tags: 'dns,rate,starter,performance',
  task: {
    comment: 'DNS queries',
    configuration: [
      {
        plugin: { id: 4 },
        values: {
          ...ends,
          ...lasting.values,
          dnsParams: {
            names: [param('name')],
            answers: [{ name: param('name'), type: 'A', data: '192.0.2.10' }],
          },
          requestsPerSecond: param('qps'),
        },
      },
    ],
  },
  slots: twoAgents('dns'),
  parameters: [
    whole('qps', 500, [1, 10_000_000], 'Queries per second'),
    { name: 'name', type: 'string', default: 'www.example.test', description: 'Query name' },
    ...lasting.parameters,
  ],
};
