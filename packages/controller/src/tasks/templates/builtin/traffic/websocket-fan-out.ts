import { type BuiltinTemplate, ends, lasting, param, twoAgents, whole } from '../builtin-template.ts';

export const websocketFanOut: BuiltinTemplate = {
  name: 'WebSocket fan-out',
  description:
    'A server sends the same messages to many open WebSockets: how many connections hold, how evenly messages arrive, and the round trip of pings meanwhile.',
  tags: 'http,websocket,performance',
  task: {
    comment: 'WebSocket fan-out',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          ...ends,
          ...lasting.values,
          httpParams: {
            connections: param('connections'),
            webSocket: {
              mode: 'receive',
              message: { type: 'zero', size: param('messageSize') },
              pushPerSecond: param('messages'),
              pingIntervalMs: 1000,
            },
          },
          rpsUnlimited: true,
        },
      },
    ],
  },
  slots: twoAgents('http'),
  parameters: [
    whole('connections', 1000, [1, 1_000_000], 'Open WebSockets'),
    whole('messages', 1, [1, 1000], 'Messages per second on each WebSocket'),
    whole('messageSize', 256, [0, 1_048_576], 'Message size in bytes'),
    ...lasting.parameters,
  ],
};
