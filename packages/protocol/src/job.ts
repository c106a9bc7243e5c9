import { type Static, Type } from 'typebox';

const seconds = (description: string) => Type.Number({ minimum: 0, default: 0, description });

/** How long a run lasts. Parts follow one another: ramp-up, warm-up, the steady part, ramp-down. */
export const Duration = Type.Object(
  {
    mode: Type.Union([Type.Literal('time'), Type.Literal('count'), Type.Literal('continuous')], {
      default: 'time',
      description: 'time: ends after `seconds`; count: ends after `count` events; continuous: ends when it is stopped.',
    }),
    seconds: Type.Number({ exclusiveMinimum: 0, default: 10, description: 'The whole length from the common start.' }),
    count: Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Requests, packets, queries or sessions in mode `count`.',
    }),
    rampUpSec: seconds('The rate rises evenly from nothing during this time.'),
    warmUpSec: seconds('Time at full load before judgement begins.'),
    rampDownSec: seconds('The rate falls evenly to nothing at the end.'),
  },
  { additionalProperties: false, default: {} },
);
export type Duration = Static<typeof Duration>;

/** What the controller asks of an agent: one engine, its configuration, and the limits it must respect. */
export const Job = Type.Object(
  {
    runId: Type.Integer({ minimum: 1 }),
    epoch: Type.Integer({
      minimum: 0,
      description: 'Rises with every assignment; what comes from an older one is dropped.',
    }),
    engine: Type.String(),
    config: Type.Unknown({ description: 'Checked against the schema of the engine.' }),
    duration: Duration,
    startAfterSec: Type.Optional(Type.Number({ minimum: 0, description: 'Begins so long after the common start.' })),
    allowedTargets: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Addresses and networks that may be sent to. Loopback and private ranges when left out.',
      }),
    ),
    claims: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Addresses the machine answers for while the order lasts: single ones, networks, or first-last. Needed where a server listens on addresses that no interface has.',
      }),
    ),
    cpuCores: Type.Integer({ minimum: 1, maximum: 256, default: 1 }),
  },
  { additionalProperties: false },
);
export type Job = Static<typeof Job>;

/**
 * May stand for any text in the configuration of a job. The agent puts there the absolute path of the file, or its
 * content; the file must be among the `files` of the same `prepare`.
 */
export const FileReference = Type.Object(
  {
    $file: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file.' }),
    as: Type.Optional(Type.Union([Type.Literal('path'), Type.Literal('text'), Type.Literal('base64')])),
  },
  { additionalProperties: false },
);
export type FileReference = Static<typeof FileReference>;
