import { type Static, Type } from 'typebox';
import { StrictObject, strict } from '../../../schema.ts';
import { choice } from '../../protocols/field.ts';

const rates = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond'] as const;
type Rate = (typeof rates)[number];
/** Handshakes a second of the plugin that loads IKE. */
const ikeRate = 'ipsecLoadHsRatePps';

/** What a search can look for: rates that a run can change while it runs, and what follows from them. */
const searchedLoads = [
  'requestsPerSecond',
  'sessionsPerSecond',
  'packetsPerSecond',
  'handshakesPerSecond',
  'throughputBps',
  'concurrentSessions',
] as const;

/** Tests of RFC 9411, by section. */
export const rfc9411Tests: Readonly<Record<string, string>> = {
  '7.1': 'Throughput with a mix of applications',
  '7.2': 'TCP connections per second with HTTP',
  '7.3': 'HTTP throughput',
  '7.4': 'HTTP transaction latency',
  '7.5': 'Concurrent TCP connections with HTTP',
  '7.6': 'TCP connections per second with HTTPS',
  '7.7': 'HTTPS throughput',
  '7.8': 'HTTPS transaction latency',
  '7.9': 'Concurrent TCP connections with HTTPS',
};

const aggregations = ['avg', 'min', 'max', 'p50', 'p90', 'p95', 'p99', 'p999', 'sum', 'rate', 'last', 'count'] as const;
const load = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000_000_000, description });

const condition = StrictObject({
  metric: Type.String({ minLength: 1, maxLength: 128, description: 'Metric of the plugin' }),
  aggregation: choice('Over the time of a trial', aggregations),
  operator: choice('Comparison with the value', ['<=', '<', '>', '>=', '==', '!=']),
  value: Type.Number({ description: 'What must hold in a trial: `aggregation(metric) operator value`' }),
});

const members = {
  metric: choice(
    'The load that is searched, of all agents together. Bits of `throughputBps` are those above TCP or UDP in both directions; `concurrentSessions` are connections kept open',
    searchedLoads,
  ),
  objective: choice('The highest load at which everything holds', ['max']),
  while: Type.Array(condition, {
    default: [],
    maxItems: 20,
    description: 'What must hold in a trial, besides that the load was reached',
  }),
  maxFailedPct: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Requests, sessions or packets that may fail in a trial; RFC 9411 allows 0.001 %',
    }),
  ),
  start: load('Load of the first trial'),
  max: load('Highest load that is tried'),
  resolutionPct: Type.Number({
    default: 5,
    minimum: 0.5,
    maximum: 50,
    description: 'The search ends when the highest load that held and the lowest that did not differ by less',
  }),
  trialSec: Type.Number({ default: 10, minimum: 2, maximum: 3600, description: 'Length of a trial' }),
  settleSec: Type.Number({
    default: 3,
    minimum: 0,
    maximum: 600,
    description: 'Time after a change of load that is not judged',
  }),
  order: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 100,
    description:
      'Searches of a task with the lowest order come first, the next ones when they have ended; before and after its search an entry sends next to nothing',
  }),
  rfc9411: choice('Section of RFC 9411 that the report names', ['', ...Object.keys(rfc9411Tests)]),
};

/** A search for the highest load, instead of a rate. */
export const goal = Type.Optional(
  Type.Object(members, {
    ...strict,
    description:
      'Search the highest load at which conditions hold, instead of a rate: it is doubled from `start` until a trial fails, then halved in between; the result is tried twice. The entry ends when it is found',
  }),
);
const GoalValues = Type.Object(members);
export type GoalValues = Static<typeof GoalValues>;

/** A goal with its defaults, as a task may have been stored without them. */
export const filledGoal = (given: Partial<GoalValues> & Pick<GoalValues, 'start' | 'max'>): GoalValues => ({
  ...{
    metric: 'requestsPerSecond',
    objective: 'max',
    resolutionPct: 5,
    trialSec: 10,
    settleSec: 3,
    order: 0,
    rfc9411: '',
  },
  ...given,
  while: (given.while ?? []).map((condition) => ({ ...{ aggregation: 'avg', operator: '<=' }, ...condition })),
});

/** The rate that a search changes; undefined where a plugin has none and where it changes the number of sessions. */
export const searchedRate = (metric: string, members: object): Rate | undefined => {
  if (metric === 'throughputBps') return rates.find((rate) => rate in members);
  if (metric !== 'handshakesPerSecond') return rates.find((rate) => rate === metric && rate in members);
  return 'sessionsPerSecond' in members || ikeRate in members ? 'sessionsPerSecond' : undefined;
};

/** The member of the values that gives the first load of a search. */
export const firstLoadMember = (metric: string, members: object): string | undefined =>
  metric === 'handshakesPerSecond' && ikeRate in members ? ikeRate : searchedRate(metric, members);

/** Events per second that tell how many bits each of them carries, before the first trial of `throughputBps`. */
export const calibrationRate = 10;

/** Load of an entry before and after its search, of all its agents together: it cannot be nothing. */
export const idleLoad = 0.01;

/** Seconds until a change of load is seen in samples. */
export const goalLagSec = 2;

/** More trials than a search takes. */
export const maxGoalTrials = ({ start, max, resolutionPct }: Pick<GoalValues, 'start' | 'max' | 'resolutionPct'>) => {
  const doublings = Math.ceil(Math.log2(Math.max(1, max / start)));
  const halvings = Math.ceil(Math.log2(start)) + 1;
  const bisections = Math.ceil(Math.log2(100 / resolutionPct)) + 1;
  return Math.max(doublings, halvings) + 2 * bisections + 4;
};

/** The longest time that a search takes. */
export const goalSeconds = (goal: GoalValues): number =>
  Math.ceil((maxGoalTrials(goal) + 1) * (goal.trialSec + goal.settleSec + 2 * goalLagSec));
