import { type Static, Type } from 'typebox';
import { HostStack } from '../engines/hosts/host-stack.ts';

const seconds = (description: string) => Type.Number({ minimum: 0, default: 0, description });

/** Duration of a run. Phases in order: ramp-up, warm-up, steady, ramp-down. */
const share = Type.Number({ minimum: 0, maximum: 1_000_000_000, description: 'Share of the full load.' });
const LoadPiece = Type.Object(
  { seconds: Type.Number({ exclusiveMinimum: 0 }), from: share, to: share },
  { additionalProperties: false },
);

export const Duration = Type.Object(
  {
    mode: Type.Union([Type.Literal('time'), Type.Literal('count'), Type.Literal('continuous')], {
      default: 'time',
      description: 'time: ends after `seconds`; count: ends after `count` events; continuous: ends when stopped.',
    }),
    seconds: Type.Number({ exclusiveMinimum: 0, default: 10, description: 'Total duration from the common start.' }),
    count: Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Requests, packets, queries or sessions in mode `count`.',
    }),
    rampUpSec: seconds('Linear increase of the rate from 0.'),
    warmUpSec: seconds('Time at full load before results count.'),
    rampDownSec: seconds('Linear decrease of the rate to 0 at the end.'),
    curve: Type.Optional(
      Type.Array(LoadPiece, { minItems: 1, maxItems: 10_000, description: 'Load over time, instead of ramps.' }),
    ),
  },
  { additionalProperties: false, default: {} },
);
export type Duration = Static<typeof Duration>;

/** A unit of work for an agent: one engine, its configuration and its limits. */
export const Job = Type.Object(
  {
    runId: Type.Integer({ minimum: 1 }),
    epoch: Type.Integer({
      minimum: 0,
      description: 'Increases with every assignment; messages of older epochs are dropped.',
    }),
    engine: Type.String(),
    config: Type.Unknown({ description: 'Validated against the schema of the engine.' }),
    duration: Duration,
    startAfterSec: Type.Optional(Type.Number({ minimum: 0, description: 'Start delay after the common start.' })),
    allowedTargets: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Permitted target addresses and networks. Default: loopback and private ranges.',
      }),
    ),
    claims: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Addresses, networks or ranges (first-last) that are added to the machine while the job runs. Needed for servers on addresses that no interface has.',
      }),
    ),
    stack: Type.Optional(HostStack),
    cpuCores: Type.Integer({ minimum: 1, maximum: 256, default: 1 }),
  },
  { additionalProperties: false },
);
export type Job = Static<typeof Job>;

/**
 * Can replace any string in the configuration of a job. The agent substitutes the absolute path of the file or its
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
