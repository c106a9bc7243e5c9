import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const httpsRate: BuiltinTemplate = {
  name: 'HTTPS requests per second',
  description:
    'Finds the maximum rate of HTTPS requests over kept TLS 1.3 connections: what encryption costs compared with "HTTP maximum rate".',
  tags: 'http,tls,maximum,performance',
  task: {
    comment: 'HTTPS requests per second',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          httpParams: { connections: param('connections'), responseSize: param('responseSize') },
          tlsParams: { versions: ['1.3'] },
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

export const tlsResumption: BuiltinTemplate = {
  name: 'TLS handshakes, resumed and full',
  description:
    'TLS 1.3 handshakes as fast as they succeed, resumed by pre-shared key or full. Run it once with each value and compare: the difference is what certificates and key exchange cost.',
  tags: 'tls,resumption,maximum,performance',
  task: {
    comment: 'TLS handshakes, resumed and full',
    configuration: [
      {
        plugin: { id: 11 },
        values: {
          ...ends,
          ...lasting.values,
          tlsParams: { versions: ['1.3'], connections: param('connections'), resumption: param('resumption') },
        },
      },
    ],
  },
  slots: twoAgents('tls'),
  parameters: [
    {
      name: 'resumption',
      type: 'string',
      default: 'psk',
      description: 'psk for resumed handshakes, none for full ones',
    },
    whole('connections', 100, [1, 100_000], 'Handshakes under way at once'),
    ...lasting.parameters,
  ],
};
