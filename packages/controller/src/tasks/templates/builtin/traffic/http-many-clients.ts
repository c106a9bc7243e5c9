import { type BuiltinTemplate, ends, lasting, param, record, twoAgents, whole } from '../builtin-template.ts';

const [client] = ends.sources;

export const httpManyClients: BuiltinTemplate = {
  name: 'HTTP through 10,000 client addresses',
  description:
    'Sends HTTP requests from all addresses of a network in rotation, like as many clients. The network must have at least as many addresses as connections, such as a /18 for 10,000, and the agent must be able to use them; 127.1.0.0/18 works on any machine by itself.',
  tags: 'http,addresses,starter,scale',
  task: {
    comment: 'HTTP through 10,000 client addresses',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          sources: [{ ...client, network: { id: param('clientNetwork') } }],
          ipLayer: { srcMode: 'sequential' },
          httpParams: { connections: param('connections') },
          requestsPerSecond: param('rps'),
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    record('clientNetwork', 'network', 'Network with the client addresses', { label: 'Client network' }),
    whole('connections', 10_000, [1, 1_000_000], 'Concurrent connections, each from its own address'),
    whole('rps', 2000, [1, 10_000_000], 'Requests per second of all clients'),
    ...lasting.parameters,
  ],
};
