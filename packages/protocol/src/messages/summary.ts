import { type Static, Type } from 'typebox';
import { amount, instant, ordinal, short } from '../bounds.ts';

export const Phase = Type.Union(
  [
    Type.Literal('warmUp'),
    Type.Literal('rampUp'),
    Type.Literal('steady'),
    Type.Literal('rampDown'),
    Type.Literal('windDown'),
    Type.Literal('paused'),
  ],
  {
    description:
      'Phase of the run; verdicts use the steady phase. windDown follows the planned end: nothing new starts, sessions in progress finish. paused: sending is suspended.',
  },
);
export type Phase = Static<typeof Phase>;

/** Metrics of one kind in one series. */
const maxValues = 4096;

/** Metrics of one engine and target for one second. `target` is empty for metrics without a target. */
export const Series = Type.Object(
  {
    target: short(),
    counters: Type.Record(Type.String(), amount(), {
      maxProperties: maxValues,
      description: 'Increase during the second; zeros are omitted after the first report of a counter.',
    }),
    gauges: Type.Record(Type.String(), amount(), {
      maxProperties: maxValues,
      description: 'Value at the end of the second.',
    }),
    histograms: Type.Record(Type.String(), Type.String({ maxLength: 262_144 }), {
      maxProperties: maxValues,
      description: 'Histogram of the second, base64; empty ones are omitted.',
    }),
  },
  { additionalProperties: false },
);
export type Series = Static<typeof Series>;

/** Maximum number of records in one summary. */
export const maxRecords = 500;

/** One second of one engine. Sequence numbers start at 1 without gaps, so a receiver can detect missing summaries. */
export const Summary = Type.Object(
  {
    seq: ordinal(),
    at: instant({ description: 'End of the second, milliseconds since 1970.' }),
    spanMs: Type.Number({ exclusiveMinimum: 0, maximum: 86_400_000 }),
    phase: Phase,
    series: Type.Array(Series, { maxItems: 100_000 }),
    records: Type.Optional(
      Type.Array(Type.Unknown(), {
        maxItems: maxRecords,
        description: 'Records of attempts and trials and rows of tables; the rest follows with the next summary.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type Summary = Static<typeof Summary>;
