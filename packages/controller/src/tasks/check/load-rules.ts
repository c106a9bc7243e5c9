import { entryDuration, type StageValues, stagesPeak, stagesSeconds } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { fullLoadOf, rateMembers, stagedRateOf } from '../../plan/core/load/load-stages.ts';
import type { CheckedEntry, FilledValues, Rule } from './checked-entry.ts';

/** Limit of the steps of a rate. */
const maxSteps = 86_400;

interface LoadMember {
  /** The flag for "as fast as possible". */
  readonly unlimited: 'rpsUnlimited' | 'ppsUnlimited';
  /** Members, any of which gives a rate. */
  readonly rates: readonly string[];
  /** Members of `payload`, any of which replaces a rate. */
  readonly inPayload: readonly string[];
}

const loadMembers: readonly LoadMember[] = [
  { unlimited: 'rpsUnlimited', rates: ['requestsPerSecond', 'sessionsPerSecond'], inPayload: [] },
  {
    unlimited: 'ppsUnlimited',
    rates: ['packetsPerSecond', 'ppsPerConnection'],
    inPayload: ['rateBps', 'linePct', 'rfc2544'],
  },
];

const stagesIn = (values: FilledValues): readonly StageValues[] =>
  (values['duration'] as { readonly stages?: readonly StageValues[] } | undefined)?.stages ?? [];

const givenRates = ({ values }: CheckedEntry, { rates }: LoadMember) =>
  rates.filter((name) => values[name] !== undefined);

const loadMemberIssues = (entry: CheckedEntry, member: LoadMember): Issue[] => {
  const { path, values, plugin } = entry;
  if (!(member.unlimited in plugin.schema.properties) || values.isServer) return [];
  const given = givenRates(entry, member);
  if ((values['duration'] as { goal?: unknown } | undefined)?.goal !== undefined) return [];
  if (values[member.unlimited] === true) {
    const message = `cannot be given together with ${member.unlimited}`;
    return given.map((name) => ({ path: `${path}/${name}`, code: 'RATE_CONFLICT', message }));
  }
  const payload = (values['payload'] ?? {}) as Readonly<Record<string, unknown>>;
  if (given.length > 0 || stagesIn(values).length > 0 || member.inPayload.some((name) => payload[name] !== undefined))
    return [];
  const [first = ''] = member.rates;
  const names = member.rates.filter((name) => name in plugin.schema.properties).join(', ');
  return [{ path: `${path}/${first}`, code: 'RATE_MISSING', message: `needs ${names} or ${member.unlimited}` }];
};

/** Exactly one kind of load is given. */
export const rates: Rule = (entry) => {
  const { path, values } = entry;
  const isTwice = values['packetsPerSecond'] !== undefined && values['ppsPerConnection'] !== undefined;
  const twice = { code: 'RATE_CONFLICT', message: 'cannot be given together with packetsPerSecond' };
  return [
    ...loadMembers.flatMap((member) => loadMemberIssues(entry, member)),
    ...(isTwice ? [{ path: `${path}/ppsPerConnection`, ...twice }] : []),
  ];
};

const mainRate = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond', 'ppsPerConnection'];

/** A rate that rises in steps reaches its target. */
export const ramp: Rule = ({ path, values }) => {
  const [initial, step] = [values['initialTps'], values['tpsRampStep']] as (number | undefined)[];
  if (initial === undefined && step === undefined) return [];
  const name = mainRate.find((member) => values[member] !== undefined);
  if (name === undefined) {
    const member = initial === undefined ? 'tpsRampStep' : 'initialTps';
    return [{ path: `${path}/${member}`, code: 'RATE_MISSING', message: 'needs a rate to rise to' }];
  }
  const rate = values[name] as number;
  if ((initial ?? 0) > rate) {
    return [{ path: `${path}/initialTps`, code: 'RATE_CONFLICT', message: `is above ${name}, which is ${rate}` }];
  }
  const steps = step === undefined ? 0 : (rate - (initial ?? rate)) / step;
  if (steps <= maxSteps) return [];
  const message = `makes ${Math.ceil(steps)} steps of a second each, more than ${maxSteps}`;
  return [{ path: `${path}/tpsRampStep`, code: 'RAMP_TOO_LONG', message }];
};

const rampMembers = ['initialTps', 'tpsRampStep'];
const rampSeconds = ['rampUpSec', 'rampDownSec'] as const;
/** A length that was not given has its default. */
const { default: defaultSeconds } = entryDuration.properties.seconds as { default?: number };

const stagedLoadIssues = ({ path, values, plugin }: CheckedEntry, stages: readonly StageValues[]): Issue[] => {
  const peak = stagesPeak(stages);
  const staged = stagedRateOf(plugin);
  const full = fullLoadOf(values) ?? (values['ppsUnlimited'] === true || staged === undefined ? undefined : peak);
  const at = `${path}/duration/stages`;
  if (full === undefined) {
    const message = 'need a load in events per second, or http requests that are sent as fast as answers come';
    return [{ path: at, code: 'STAGES_WITHOUT_LOAD', message }];
  }
  if (peak === 0) return [{ path: at, code: 'STAGES_WITHOUT_LOAD', message: 'need a target above 0' }];
  if (values['rpsUnlimited'] === true && peak > full) {
    return [{ path: at, code: 'RATE_CONFLICT', message: `lead to more than the ${full} of httpParams.connections` }];
  }
  const message = `is given by the stages, which lead to ${peak}: leave it out`;
  return rateMembers
    .filter((name) => values[name] !== undefined && values[name] !== peak)
    .map((name) => ({ path: `${path}/${name}`, code: 'RATE_CONFLICT', message }));
};

/** Stages replace the other ways to describe load over time. */
export const stages: Rule = (entry) => {
  const { path, values } = entry;
  const given = stagesIn(values);
  if (given.length === 0 || values.isServer) return [];
  const duration = values['duration'] as Duration;
  const sum = stagesSeconds(given);
  const conflict = { code: 'RATE_CONFLICT', message: 'cannot be given together with duration.stages' };
  const isOther = duration.seconds !== sum && duration.seconds !== defaultSeconds;
  return [
    ...rampMembers
      .filter((name) => values[name] !== undefined)
      .map((name) => ({ path: `${path}/${name}`, ...conflict })),
    ...rampSeconds
      .filter((name) => duration[name] > 0)
      .map((name) => ({ path: `${path}/duration/${name}`, ...conflict })),
    ...(duration.mode === 'time'
      ? []
      : [{ path: `${path}/duration/mode`, code: 'RATE_CONFLICT', message: 'must be time: stages have an end' }]),
    ...(isOther
      ? [{ path: `${path}/duration/seconds`, code: 'RATE_CONFLICT', message: `must be ${sum}, the sum of the stages` }]
      : []),
    ...stagedLoadIssues(entry, given),
  ];
};

interface Duration {
  readonly mode: string;
  readonly seconds: number;
  readonly count?: number;
  readonly rampUpSec: number;
  readonly warmUpSec: number;
  readonly rampDownSec: number;
  readonly stages?: readonly StageValues[];
}

/** The duration covers all parts. */
export const durationIssues = (path: string, { mode, count, stages: given = [], ...parts }: Duration): Issue[] => {
  const seconds = given.length > 0 ? stagesSeconds(given) : parts.seconds;
  if (mode === 'count' && count === undefined) {
    return [{ path: `${path}/count`, code: 'REQUIRED', message: 'is required when the mode is count' }];
  }
  const needed = parts.rampUpSec + parts.warmUpSec + parts.rampDownSec;
  if (mode !== 'time' || needed < seconds) return [];
  const message = `ramps and warm-up take all ${seconds} seconds: no time is left to measure`;
  return [{ path: `${path}/seconds`, code: 'DURATION_TOO_SHORT', message }];
};

export const duration: Rule = ({ path, values }) =>
  values['duration'] === undefined ? [] : durationIssues(`${path}/duration`, values['duration'] as Duration);
