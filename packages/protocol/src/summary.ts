import { type Static, Type } from 'typebox';

export const Phase = Type.Union(
  [
    Type.Literal('warmUp'),
    Type.Literal('rampUp'),
    Type.Literal('steady'),
    Type.Literal('rampDown'),
    Type.Literal('windDown'),
  ],
  {
    description:
      'The part of the run the second belongs to; judgements are made on the steady part. windDown comes after the planned end: nothing new is begun, what is under way ends.',
  },
);
export type Phase = Static<typeof Phase>;

/** What one engine did towards one target in one second. `target` is empty for what concerns no target. */
export const Series = Type.Object(
  {
    target: Type.String(),
    counters: Type.Record(Type.String(), Type.Number(), {
      description: 'Increase during the second; zeros are left out.',
    }),
    gauges: Type.Record(Type.String(), Type.Number(), { description: 'Value at the end of the second.' }),
    histograms: Type.Record(Type.String(), Type.String(), {
      description: 'Histogram of the second, as base64 of its bytes; empty ones are left out.',
    }),
  },
  { additionalProperties: false },
);
export type Series = Static<typeof Series>;

/** Most records of one summary. */
export const maxRecords = 500;

/** One second of one engine. Sequence numbers start at 1 and have no gaps, so a receiver can ask for what it missed. */
export const Summary = Type.Object(
  {
    seq: Type.Integer({ minimum: 1 }),
    at: Type.Number({ description: 'End of the second, milliseconds since 1970.' }),
    spanMs: Type.Number({ exclusiveMinimum: 0 }),
    phase: Phase,
    series: Type.Array(Series),
    records: Type.Optional(
      Type.Array(Type.Unknown(), {
        maxItems: maxRecords,
        description: 'What was seen of single attempts, see `AttemptRecord`; the rest comes with the next summary.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type Summary = Static<typeof Summary>;
