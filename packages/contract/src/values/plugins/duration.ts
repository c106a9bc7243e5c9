import { type Static, Type } from 'typebox';
import { choice, section } from '../protocols/field.ts';
import { maybeWhole } from './member.ts';

const seconds = (description: string) => Type.Number({ default: 0, minimum: 0, maximum: 31_536_000, description });

/** How long an entry lasts. */
export const duration = section('How long traffic lasts', {
  mode: choice('It ends after `seconds`, after `count` events, or when it is stopped', ['time', 'count', 'continuous']),
  seconds: Type.Number({
    default: 10,
    exclusiveMinimum: 0,
    maximum: 31_536_000,
    description: 'The whole length from the common start, ramps included',
  }),
  count: maybeWhole('Requests, packets, queries or sessions in mode `count`, of all agents together', [1, 1e15]),
  rampUpSec: seconds('The rate rises evenly from nothing during this time'),
  warmUpSec: seconds('Time at full load before judgement begins'),
  rampDownSec: seconds('The rate falls evenly to nothing at the end'),
});
export type DurationValues = Static<typeof duration>;
