import { type Static, Type } from 'typebox';
import { Payload } from '../payload.ts';

/** Requests are gRPC calls. */
export const GrpcSettings = Type.Object(
  {
    call: Type.Union(
      [
        Type.Literal('unary'),
        Type.Literal('serverStreaming'),
        Type.Literal('clientStreaming'),
        Type.Literal('bidirectional'),
      ],
      { default: 'unary' },
    ),
    message: Payload,
    answer: Payload,
    isEcho: Type.Boolean({ default: true, description: 'The server answers with the last message of the client.' }),
    messages: Type.Integer({ minimum: 1, default: 1, description: 'Messages of the client in one call.' }),
    answers: Type.Integer({ minimum: 1, default: 1, description: 'Messages of the server in one call.' }),
    compression: Type.Union([Type.Literal('none'), Type.Literal('gzip')], {
      default: 'none',
      description: 'Of messages; a server compresses for clients that accept it.',
    }),
    status: Type.Integer({ minimum: 0, maximum: 16, default: 0 }),
  },
  { additionalProperties: false },
);
export type GrpcSettings = Static<typeof GrpcSettings>;
