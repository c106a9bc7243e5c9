import { type Static, Type } from 'typebox';

const closed = { additionalProperties: false } as const;
const number = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });
const percent = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });
const frameSize = Type.Integer({ minimum: 64, maximum: 16_000, description: 'Bytes with FCS.' });

const TestName = Type.Union([
  Type.Literal('throughput'),
  Type.Literal('latency'),
  Type.Literal('frameLoss'),
  Type.Literal('backToBack'),
]);

/** RFC 2544 trials, run for one frame size after another. */
export const Rfc2544Plan = Type.Object(
  {
    frameSizes: Type.Array(frameSize, { minItems: 1, maxItems: 32 }),
    tests: Type.Array(TestName, { minItems: 1, maxItems: 4, uniqueItems: true }),
    trialSec: Type.Number({ exclusiveMinimum: 0, description: 'Length of a trial.' }),
    confirmSec: Type.Optional(
      Type.Number({ minimum: 0, description: 'Length of the trial that confirms a throughput; 0 or absent: none.' }),
    ),
    settleSec: Type.Number({ minimum: 0, description: 'Wait after a trial for frames in transit.' }),
    resolutionPct: Type.Number({ exclusiveMinimum: 0, maximum: 50, description: 'Resolution of the search.' }),
    acceptableLossPct: percent('Share of frames that may be missing in a trial that counts as passed.'),
    burstSec: Type.Number({ exclusiveMinimum: 0, description: 'Length of the longest burst.' }),
    burstRepeats: Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Number of searches; their results are averaged.',
    }),
  },
  closed,
);
export type Rfc2544Plan = Static<typeof Rfc2544Plan>;

const ofSize = { side: Type.Literal('rfc2544'), frameSize };

/** What limited the rate: the path, or a cause that makes the result a lower bound. */
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
    number: Type.Integer({ minimum: 1, description: 'Number of the trial within the run.' }),
    offeredFps: number,
    sent: count,
    received: count,
    lossPct: percent('Share that did not arrive.'),
    drops: Type.Integer({ minimum: 0, description: 'Frames dropped by the receiver because it was too slow.' }),
    passed: Type.Boolean(),
  },
  closed,
);

const Throughput = Type.Object(
  {
    ...ofSize,
    kind: Type.Literal('throughput'),
    fps: Type.Number({ minimum: 0, description: 'Highest rate without loss; 0 when none was found.' }),
    bps: Type.Number({ minimum: 0, description: 'Frame bits with FCS per second.' }),
    linePct: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
      description: 'Null when the interface reports no speed.',
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
    isLongest: Type.Boolean({ description: 'The longest burst passed without loss.' }),
  },
  closed,
);

/** Records of trials, reported by the sender. */
export const Rfc2544Record = Type.Union([Trial, Throughput, Latency, FrameLoss, BackToBack]);
export type Rfc2544Record = Static<typeof Rfc2544Record>;

/** Maximum number of trials of a search; then it ends with the best result so far. */
export const maxTrialsOf = ({ resolutionPct }: Pick<Rfc2544Plan, 'resolutionPct'>): number =>
  10 + Math.ceil(Math.log2(100 / resolutionPct));

/** Maximum number of trials that confirm a throughput, each at a lower rate than the one before. */
export const maxConfirmations = 4;

const lossSteps = 10;
const talkSec = 1;
const beginSec = 10;

/** Upper bound of the duration in seconds. */
export const longestRfc2544Sec = (plan: Rfc2544Plan): number => {
  const { tests, trialSec, confirmSec = 0, settleSec, burstSec, burstRepeats, frameSizes } = plan;
  const pauses = settleSec + talkSec;
  const each = {
    throughput:
      maxTrialsOf(plan) * (trialSec + pauses) +
      (confirmSec > 0 ? maxConfirmations * (Math.max(trialSec, confirmSec) + pauses) : 0),
    latency: trialSec + pauses,
    frameLoss: lossSteps * (trialSec + pauses),
    // A burst may be sent far below the rate it was calculated from.
    backToBack: burstRepeats * maxTrialsOf(plan) * (2 * burstSec + pauses) + trialSec + pauses,
  };
  const perSize = tests.reduce((sum, test) => sum + each[test], 0);
  return Math.ceil(beginSec + frameSizes.length * perSize);
};
