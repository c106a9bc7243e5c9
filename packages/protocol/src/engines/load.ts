import { type Static, Type } from 'typebox';

/**
 * Load model. With `rate` the model is open: events are due at fixed times regardless of the target, and
 * latency counts from those times. Without it the model is closed: an event starts when the previous one has ended.
 */
export const loadOf = (description: string) =>
  Type.Object(
    {
      rate: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, description: 'Events per second. Default: as fast as possible.' }),
      ),
      initialRate: Type.Optional(Type.Number({ minimum: 0, description: 'Initial rate.' })),
      rampStep: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Increase per second until `rate`.' })),
    },
    { additionalProperties: false, default: {}, description },
  );

export const Load = loadOf('Requests a second.');
export type Load = Static<typeof Load>;
