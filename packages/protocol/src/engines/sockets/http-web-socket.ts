import { type Static, Type } from 'typebox';
import { Payload } from '../payload.ts';

/** Messages over WebSocket instead of requests. */
export const WebSocketSettings = Type.Object(
  {
    mode: Type.Union([Type.Literal('echo'), Type.Literal('send'), Type.Literal('receive')], { default: 'echo' }),
    isText: Type.Boolean({ default: true }),
    message: Payload,
    pushPerSecond: Type.Number({
      exclusiveMinimum: 0,
      default: 1,
      description: 'Mode receive: messages per second of the server on each connection.',
    }),
    subprotocol: Type.String({ default: '' }),
    isCompressed: Type.Boolean({ default: false }),
    fragmentBytes: Type.Integer({ minimum: 0, default: 0, description: 'Longest frame; 0: no limit.' }),
    pingIntervalMs: Type.Integer({ minimum: 0, default: 0, description: 'Client only; 0: no pings.' }),
    maxMessageBytes: Type.Integer({ minimum: 1, default: 1_048_576 }),
    closeCode: Type.Integer({ minimum: 1000, maximum: 4999, default: 1000 }),
  },
  { additionalProperties: false },
);
export type WebSocketSettings = Static<typeof WebSocketSettings>;
