import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { optional, StrictObject, strict } from '../../../schema.ts';
import { addressPattern, choice, flag, section } from '../../protocols/field.ts';
import { goal } from './goal.ts';

const maxInteger = Number.MAX_SAFE_INTEGER;
const maxRate = 1_000_000_000;

/** Members without a default: absent unless given. */
export const optionalInteger = (description: string, [minimum, maximum]: readonly [number, number] = [0, maxInteger]) =>
  Type.Optional(Type.Integer({ description, minimum, maximum }));

export const optionalNumber = (description: string, more: object = {}) =>
  Type.Optional(Type.Number({ description, ...more }));

export const optionalText = (description: string, more: object = {}) =>
  optional.string({ description, minLength: 1, maxLength: 4096, ...more });

/** Events per second. */
export const optionalRate = (description: string) => optionalInteger(description, [1, maxRate]);

/** A whole number of milliseconds. */
export const milliseconds = (description: string, value: number, maximum = 86_400_000) =>
  Type.Integer({ description, default: value, minimum: 0, maximum });

/** 0 or 1: the API declares some flags as integers. */
export const bit = (description: string, value: 0 | 1 = 0) =>
  Type.Integer({ description: `${description}; 1 for yes`, default: value, minimum: 0, maximum: 1 });

export const address = (description: string) =>
  optional.string({ description, maxLength: 45, pattern: addressPattern });

/** Ports and ranges, such as "80,8000-8100". */
export const portsPattern = '^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$';

export const listOf = <S extends TSchema>(description: string, item: S, maxItems = 1000) =>
  Type.Array(item, { description, default: [], maxItems });

/** An object without a default: absent unless given. */
export const optionalObject = <P extends TProperties>(description: string, members: P) =>
  Type.Optional(Type.Object(members, { description, ...strict }));

export const item = <P extends TProperties>(members: P) => StrictObject(members);

/** Accepted because the API declares it, but no engine implements it: a run is refused if it is given another value than its default. */
export const ignored = <S extends TSchema>(schema: S): S =>
  // Copies property descriptors: TypeBox marks optional members by a non-enumerable property.
  Object.defineProperties(
    {},
    {
      ...Object.getOwnPropertyDescriptors(schema),
      'x-ignored': { value: true, enumerable: true },
    },
  ) as S;

/** All of these members, each ignored. */
export const ignoredAll = <P extends TProperties>(members: P): P =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, ignored(schema)])) as P;

/** The schema of a plugin's `values`. */
export const valuesOf = <P extends TProperties>(members: P) => StrictObject(members);

const seconds = (description: string) => Type.Number({ default: 0, minimum: 0, maximum: 31_536_000, description });

export const stageShapes = ['linear', 'step', 'spike', 'sine'] as const;

const stage = item({
  seconds: Type.Number({ exclusiveMinimum: 0, maximum: 31_536_000, description: 'Length of the stage' }),
  target: Type.Integer({
    minimum: 0,
    maximum: maxRate,
    description:
      'Load that the stage leads to, in the unit of the load of the entry: requests, sessions or packets a second, or connections where each sends as fast as answers come',
  }),
  shape: choice(
    'linear: changes evenly to the target; step: at the target from the first moment; spike: rises evenly to the target and falls back; sine: swings to the target and back',
    stageShapes,
  ),
});
export type StageValues = Static<typeof stage>;

/** How long an entry lasts. */
export const duration = section('How long traffic lasts', {
  mode: choice('It ends after `seconds`, after `count` events, or when it is stopped', ['time', 'count', 'continuous']),
  seconds: Type.Number({
    default: 10,
    exclusiveMinimum: 0,
    maximum: 31_536_000,
    description: 'The whole length from the common start, ramps included',
  }),
  count: optionalInteger('Requests, packets, queries or sessions in mode `count`, of all agents together', [1, 1e15]),
  rampUpSec: seconds('The rate rises evenly from nothing during this time'),
  warmUpSec: seconds('Time at full load before judgement begins'),
  rampDownSec: seconds('The rate falls evenly to nothing at the end'),
  stages: listOf(
    'Load over time, from nothing on, instead of ramps; `seconds` is their sum then, and a rate is not needed: the highest target is the rate',
    stage,
    200,
  ),
  goal,
});
export type DurationValues = Static<typeof duration>;

/** A rate that is raised in steps. */
export const rampMembers = {
  initialTps: optionalInteger('Rate to begin with, in the unit of the rate it rises to', [0, 1_000_000_000]),
  tpsRampStep: optionalRate('Raise of the rate each second until it is reached'),
};

export const requestLoad = {
  requestsPerSecond: optionalRate(
    'Arrival rate (open model): requests per second of all agents together, started on schedule whatever the target does',
  ),
  rpsUnlimited: flag(
    'Users (closed model) instead of an arrival rate: each connection sends its next request once it has the answer',
  ),
  ...rampMembers,
};

export const sessionLoad = {
  sessionsPerSecond: optionalRate('Arrival rate (open model): sessions opened a second by all agents together'),
  totalSessions: optionalInteger('Sessions in all; the entry ends after the last', [1, 1e15]),
  reopenSessionTime: milliseconds('Milliseconds before a closed session is opened again', 0),
};

export const packetLoad = {
  packetsPerSecond: optionalRate('Packets a second of all agents together'),
  ppsUnlimited: flag('As fast as the machine can'),
};
