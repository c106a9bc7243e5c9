import { type BuiltinTemplate, ends, lasting, param, record, twoAgents, whole } from '../builtin-template.ts';

export const tlsHandshakes: BuiltinTemplate = {
  name: 'TLS handshakes',
  description:
    'Full TLS 1.3 handshakes without application data at a fixed rate: the cost of key exchange and certificates.',
  tags: 'tls,rate,starter,performance',
  task: {
    comment: 'TLS handshakes',
    configuration: [
      {
        plugin: { id: 11 },
        values: {
          ...ends,
          ...lasting.values,
          tlsParams: { versions: ['1.3'], connections: param('connections') },
          sessionsPerSecond: param('handshakes'),
        },
      },
    ],
  },
  slots: twoAgents('tls'),
  parameters: [
    whole('handshakes', 100, [1, 1_000_000], 'Handshakes per second'),
    whole('connections', 100, [1, 100_000], 'Maximum concurrent handshakes'),
    ...lasting.parameters,
  ],
};

export const certificateHandshakes: BuiltinTemplate = {
  name: 'TLS handshakes with a certificate',
  description:
    'Full TLS handshakes with a server that has the given certificate: what a device makes of it, and what it costs.',
  tags: 'tls,certificate,rate,performance',
  task: {
    comment: 'TLS handshakes with a certificate',
    configuration: [
      {
        plugin: { id: 11 },
        values: {
          ...ends,
          ...lasting.values,
          tlsParams: { certificateID: param('certificate') },
          sessionsPerSecond: param('handshakes'),
        },
      },
    ],
  },
  slots: twoAgents('tls'),
  parameters: [
    record('certificate', 'certificate', 'Certificate of the server, with its private key', { label: 'Certificate' }),
    whole('handshakes', 50, [1, 1_000_000], 'Handshakes per second'),
    ...lasting.parameters,
  ],
};
