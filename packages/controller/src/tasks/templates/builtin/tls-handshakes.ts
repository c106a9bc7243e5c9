import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from './builtin-template.ts';

export const tlsHandshakes: BuiltinTemplate = {
  name: 'TLS handshakes',
  description:
    'Full TLS 1.3 handshakes at a set rate, nothing after them: what the key exchange and certificates cost.',
  tags: 'tls,rate,starter',
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
    whole('handshakes', 100, [1, 1_000_000], 'Handshakes a second'),
    whole('connections', 100, [1, 100_000], 'Most handshakes at once'),
    ...lasting.parameters,
  ],
};
