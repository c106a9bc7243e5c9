import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

/** The server agent on ports of this entry alone, so that results by target tell the entries apart. */
const endsAt = (ports: string) => ({ ...ends, targets: [{ agent: { id: { $slot: 'server' } }, ports }] });

const dnsEntry = (transport: string, ports: string) => ({
  plugin: { id: 4 },
  values: {
    ...endsAt(ports),
    ...lasting.values,
    dnsParams: {
      transport,
      names: [param('name')],
      answers: [{ name: param('name'), type: 'A', data: '192.0.2.10' }],
      sockets: param('connections'),
    },
    tlsParams: { versions: ['1.3'] },
    requestsPerSecond: param('qps'),
  },
});

export const secureDns: BuiltinTemplate = {
  name: 'DoH, DoT, DoQ compared',
  description:
    'The same DNS queries over HTTPS, over TLS and over QUIC, at the same time and at the same rate. The results by target show latency and opening of connections of each: port 15443 is HTTPS, 15853 TLS, 15854 QUIC.',
  tags: 'dns,tls,quic,rate,performance',
  task: {
    comment: 'DoH, DoT, DoQ compared',
    configuration: [dnsEntry('doh', '15443'), dnsEntry('dot', '15853'), dnsEntry('doq', '15854')],
  },
  slots: twoAgents('dns'),
  parameters: [
    whole('qps', 500, [1, 1_000_000], 'Queries per second over each of the three'),
    whole('connections', 4, [1, 1000], 'Connections of each of the three'),
    { name: 'name', type: 'string', default: 'www.example.test', description: 'Query name' },
    ...lasting.parameters,
  ],
};

const httpEntry = (version: string, ports: string) => ({
  plugin: { id: 1 },
  values: {
    ...endsAt(ports),
    ...lasting.values,
    httpParams: { version, connections: param('connections'), responseSize: param('responseSize') },
    tlsParams: { versions: ['1.3'] },
    requestsPerSecond: param('rps'),
    maxStreams: param('streams'),
  },
});

export const http3AgainstHttp2: BuiltinTemplate = {
  name: 'HTTP/3 against HTTP/2 on the same path',
  description:
    'The same requests over HTTP/2 and HTTP/3, at the same time, at the same rate and between the same agents. The results by target show both: port 18443 is HTTP/2, 18444 HTTP/3. On a path with losses the latency of HTTP/3 should be lower, because one lost packet does not hold up the other streams.',
  tags: 'http,tls,quic,rate,performance',
  task: {
    comment: 'HTTP/3 against HTTP/2 on the same path',
    configuration: [httpEntry('2', '18443'), httpEntry('3', '18444')],
  },
  slots: twoAgents('http'),
  parameters: [
    whole('rps', 500, [1, 10_000_000], 'Requests per second over each of the two'),
    whole('connections', 10, [1, 100_000], 'Connections of each of the two'),
    whole('streams', 10, [1, 10_000], 'Requests under way on one connection'),
    whole('responseSize', 16_384, [0, 67_108_864], 'Response size in bytes'),
    ...lasting.parameters,
  ],
};
