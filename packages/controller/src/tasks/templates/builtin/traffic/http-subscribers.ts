import { type BuiltinTemplate, ends, lasting, param, record, twoAgents, whole } from '../builtin-template.ts';

const [client] = ends.sources;
const [server] = ends.targets;

export const httpSubscribers: BuiltinTemplate = {
  name: '10,000 subscribers with a MAC each through a firewall',
  description:
    'Sends HTTP requests from emulated hosts on one side of a firewall to emulated servers on the other. Give the subscriber network at least 10,000 addresses (such as a /18), the MAC policy perIp and the inside of the firewall as gateway; give the server network a MAC policy and the outside of the firewall as gateway. The firewall then sees a MAC and an ARP entry for every subscriber. The agents need CAP_NET_RAW.',
  tags: 'http,emulated-hosts,firewall,starter,scale',
  task: {
    comment: '10,000 subscribers with a MAC each through a firewall',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...lasting.values,
          sources: [{ ...client, network: { id: param('subscriberNetwork') } }],
          targets: [{ ...server, network: { id: param('serverNetwork') } }],
          ipLayer: { srcMode: 'sequential' },
          httpParams: { connections: param('connections') },
          keepAlive: { maxRequests: param('requestsPerConnection') },
          requestsPerSecond: param('rps'),
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    record('subscriberNetwork', 'network', 'Addresses of the subscribers', { label: 'Subscriber network' }),
    record('serverNetwork', 'network', 'Addresses of the servers, at most 1,024', { label: 'Server network' }),
    whole('connections', 10_000, [1, 100_000], 'Concurrent connections; subscribers take turns'),
    whole('requestsPerConnection', 10, [1, 1_000_000], 'Requests before a subscriber closes its connection'),
    whole('rps', 2000, [1, 10_000_000], 'Requests per second of all subscribers'),
    ...lasting.parameters,
  ],
};
