import { type Static, Type } from 'typebox';
import { Listen } from '../endpoint.ts';
import { Payload } from '../payload.ts';

export const StatelessServerConfig = Type.Object(
  {
    role: Type.Literal('server', { default: 'server' }),
    listen: Type.Array(Listen, { minItems: 1 }),
    protocol: Type.Union([Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('icmp'), Type.Literal('raw')], {
      default: 'udp',
      description: 'icmp and raw need emulated hosts; raw: IP packets of all protocols but ICMP.',
    }),
    mode: Type.Union([Type.Literal('echo'), Type.Literal('discard'), Type.Literal('chargen'), Type.Literal('reply')], {
      default: 'echo',
      description: 'reply: answer everything that arrives with `reply`; chargen: answer with characters (RFC 864).',
    }),
    reply: Payload,
    delayMs: Type.Number({ minimum: 0, default: 0 }),
    maxRate: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Maximum answers per second; the rest is dropped. 0: no limit.',
    }),
  },
  { additionalProperties: false },
);
export type StatelessServerConfig = Static<typeof StatelessServerConfig>;
