import { type Static, Type } from 'typebox';

/**
 * How fast events are begun. With `rate` the model is open: events are due at set times whatever the target does, and
 * latency counts from those times. Without it the model is closed: the next event begins when the one before has ended.
 */
export const loadOf = (description: string) =>
  Type.Object(
    {
      rate: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, description: 'Events a second. Left out: as fast as possible.' }),
      ),
      initialRate: Type.Optional(Type.Number({ minimum: 0, description: 'Rate to begin with.' })),
      rampStep: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, description: 'Raise of the rate each second until `rate`.' }),
      ),
    },
    { additionalProperties: false, default: {}, description },
  );

export const Load = loadOf('Requests a second.');
export type Load = Static<typeof Load>;
