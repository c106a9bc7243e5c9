import { type BuiltinTemplate, duration, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const rfc2544: BuiltinTemplate = {
  name: 'RFC 2544 throughput and latency',
  description:
    'Finds the highest frame rate without loss for frames of 64, 512 and 1518 bytes, and the latency at that rate. With trials of 10 s it takes about ten minutes; the standard asks for 60 s. The agents need CAP_NET_RAW.',
  tags: 'rfc2544,throughput,latency,performance',
  task: {
    comment: 'RFC 2544 throughput and latency',
    configuration: [
      {
        plugin: { id: 7 },
        values: {
          ...ends,
          payload: {
            rfc2544: {
              frameSizes: [64, 512, 1518],
              tests: ['throughput', 'latency'],
              trialSec: param('trialSec'),
              confirmSec: param('trialSec'),
              acceptableLossPct: param('lossPct'),
            },
          },
        },
      },
    ],
  },
  slots: twoAgents('stream'),
  parameters: [
    whole('trialSec', 10, [1, 3600], 'Length of each trial; 60 by the standard', {
      label: 'Trial duration',
      unit: 's',
    }),
    {
      ...{ name: 'lossPct', type: 'number', default: 0, min: 0, max: 50, label: 'Accepted loss', unit: '%' },
      description: 'Share of frames that may be lost in a passed trial',
    },
  ],
};

export const rfc9411Https: BuiltinTemplate = {
  name: 'HTTPS throughput (RFC 9411)',
  description:
    'Downloads objects over TLS as fast as the path allows, with many connections, like the HTTPS throughput test for security devices in RFC 9411. Repeat it with objects of 1, 16, 64 and 256 KiB.',
  tags: 'rfc9411,https,tls,throughput,performance',
  task: {
    comment: 'HTTPS throughput (RFC 9411)',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          httpParams: { connections: param('connections'), responseSize: param('objectSize') },
          tlsParams: { versions: ['1.2', '1.3'] },
          rpsUnlimited: true,
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    whole('objectSize', 65_536, [1, 67_108_864], 'Bytes of every response', { label: 'Object size', unit: 'bytes' }),
    whole('connections', 100, [1, 100_000], 'Concurrent TLS connections', { label: 'Connections' }),
    whole('seconds', 60, [1, 86_400], 'How long traffic is sent', duration),
    whole('warmUpSec', 5, [0, 3600], 'At the beginning, excluded from results', { label: 'Warm-up', unit: 's' }),
  ],
};
