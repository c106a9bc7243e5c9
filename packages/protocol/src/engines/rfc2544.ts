import { type Static, Type } from 'typebox';

const closed = { additionalProperties: false } as const;
const number = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
const percent = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });
const frameSize = Type.Integer({ minimum: 64, maximum: 16_000, description: 'Bytes with the check sequence.' });

const TestName = Type.Union([
  Type.Literal('throughput'),
  Type.Literal('latency'),
  Type.Literal('frameLoss'),
  Type.Literal('backToBack'),
]);

/** Which trials of RFC 2544 are made, for each size of frames one after the other. */
export const Rfc2544Plan = Type.Object(
  {
    frameSizes: Type.Array(frameSize, { minItems: 1, maxItems: 32 }),
    tests: Type.Array(TestName, { minItems: 1, maxItems: 4, uniqueItems: true }),
    trialSec: Type.Number({ exclusiveMinimum: 0, description: 'Length of a trial.' }),
    settleSec: Type.Number({ minimum: 0, description: 'Wait after a trial for frames that are still on their way.' }),
    resolutionPct: Type.Number({ exclusiveMinimum: 0, maximum: 50, description: 'How close the search comes.' }),
    acceptableLossPct: percent('Share of frames that may be missing in a trial that counts as passed.'),
    burstSec: Type.Number({ exclusiveMinimum: 0, description: 'Length of the longest burst that is tried.' }),
    burstRepeats: Type.Integer({ minimum: 1, maximum: 100, description: 'Searches whose results are averaged.' }),
  },
  closed,
);
export type Rfc2544Plan = Static<typeof Rfc2544Plan>;

const ofSize = { side: Type.Literal('rfc2544'), frameSize };

/** What kept a rate from being higher: the path, or something that makes the result a lower bound of what the path can do. */
const Limit = Type.Union([
  Type.Literal('path'),
  Type.Literal('line'),
  Type.Literal('ordered'),
  Type.Literal('generator'),
  Type.Literal('receiver'),
]);

const Trial = Type.Object(
  {
    ...ofSize,
    kind: Type.Literal('trial'),
    test: TestName,
    number: Type.Integer({ minimum: 1, description: 'Counted over the whole run.' }),
    offeredFps: number,
    sent: count,
    received: count,
    lossPct: percent('Share that did not arrive.'),
    drops: Type.Integer({ minimum: 0, description: 'Frames that arrived and that the receiver was too slow for.' }),
    passed: Type.Boolean(),
  },
  closed,
);

const Throughput = Type.Object(
  {
    ...ofSize,
    kind: Type.Literal('throughput'),
    fps: Type.Number({ minimum: 0, description: 'The highest rate found without loss; 0 when there was none.' }),
    bps: Type.Number({ minimum: 0, description: 'Bits of frames with their check sequence.' }),
    linePct: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
      description: 'Null where the line says nothing.',
    }),
    trials: count,
    limit: Limit,
  },
  closed,
);

const Latency = Type.Object(
  {
    ...ofSize,
    kind: Type.Literal('latency'),
    offeredFps: number,
    frames: count,
    minUs: number,
    avgUs: number,
    p50Us: number,
    p99Us: number,
    maxUs: number,
  },
  closed,
);

const FrameLoss = Type.Object(
  {
    ...ofSize,
    kind: Type.Literal('frameLoss'),
    ratePct: percent('Of the highest rate that is offered.'),
    offeredFps: number,
    sent: count,
    received: count,
    lossPct: percent('Share that did not arrive.'),
  },
  closed,
);

const BackToBack = Type.Object(
  {
    ...ofSize,
    kind: Type.Literal('backToBack'),
    frames: Type.Number({ minimum: 0, description: 'Longest burst without loss, on average.' }),
    burstFps: number,
    repeats: count,
    isLongest: Type.Boolean({ description: 'The longest burst that was to be tried came through.' }),
  },
  closed,
);

/** What the sender tells of its trials as it goes on. */
export const Rfc2544Record = Type.Union([Trial, Throughput, Latency, FrameLoss, BackToBack]);
export type Rfc2544Record = Static<typeof Rfc2544Record>;

/** A search that has not come close enough after so many trials ends with what it has. */
export const maxTrialsOf = ({ resolutionPct }: Pick<Rfc2544Plan, 'resolutionPct'>): number =>
  10 + Math.ceil(Math.log2(100 / resolutionPct));

const lossSteps = 10;
const talkSec = 1;
const beginSec = 10;

/** Seconds after which everything has certainly been tried. */
export const longestRfc2544Sec = (plan: Rfc2544Plan): number => {
  const { tests, trialSec, settleSec, burstSec, burstRepeats, frameSizes } = plan;
  const pauses = settleSec + talkSec;
  const each = {
    throughput: maxTrialsOf(plan) * (trialSec + pauses),
    latency: trialSec + pauses,
    frameLoss: lossSteps * (trialSec + pauses),
    // A burst may go at a rate far below the one it was measured by.
    backToBack: burstRepeats * maxTrialsOf(plan) * (2 * burstSec + pauses) + trialSec + pauses,
  };
  const perSize = tests.reduce((sum, test) => sum + each[test], 0);
  return Math.ceil(beginSec + frameSizes.length * perSize);
};
