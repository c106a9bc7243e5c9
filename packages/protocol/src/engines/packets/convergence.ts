import { type Static, Type } from 'typebox';
import { Listen } from '../endpoint.ts';
import { StreamClientConfig } from './stream.ts';

const closed = { additionalProperties: false } as const;

/** Numbered frames of all flows in rotation: streams without trials. */
export const ConvergenceClientConfig = Type.Omit(
  StreamClientConfig,
  ['rfc2544', 'modifiers', 'hasWrongChecksums'],
  closed,
);
export type ConvergenceClientConfig = Static<typeof ConvergenceClientConfig>;

export const ConvergenceServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1 }),
    sendingSec: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'Flows end so long after the start; default: when the receiver is stopped.',
      }),
    ),
    isCounted: Type.Boolean({ default: false, description: 'Flows end with their last packet.' }),
    isEncapsulated: Type.Boolean({ default: false, description: 'Packets arrive inside of another protocol.' }),
  },
  closed,
);
export type ConvergenceServerConfig = Static<typeof ConvergenceServerConfig>;

export const ConvergenceConfig = Type.Union([ConvergenceClientConfig, ConvergenceServerConfig]);
export type ConvergenceConfig = Static<typeof ConvergenceConfig>;
