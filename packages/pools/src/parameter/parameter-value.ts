import { findAlphabet } from '../dictionary/alphabet.ts';
import { formatUuid } from '../dictionary/random-column.ts';
import { digitsOf } from '../dictionary/sequence.ts';
import { formatMac, localSpace } from '../macs/mac.ts';
import { bitsOf, integerBelow, type Key, keyOf, type Seed, subkeyOf } from '../values/random.ts';
import { findDictionaryReference, mappedLength, type ParameterDraft, type SystemValue } from './parameter-draft.ts';
import { type Scale, scaleOf } from './scale.ts';

export interface ParameterContext {
  /** The task's seed. */
  readonly seed: Seed;
  readonly user: number;
  readonly iteration: number;
  /**
   * Users of the task. With it, lists and counters continue over all users; without it, each user starts from the first
   * value.
   */
  readonly users?: number | undefined;
  readonly system?: Partial<Readonly<Record<SystemValue, string | number>>> | undefined;
  /** The value a dictionary yields at this user and iteration. */
  readonly dictionary?: ((dictionaryId: number, column: string) => string | undefined) | undefined;
}

/**
 * The value of a parameter for one user and iteration: a pure function, so both ends of an exchange compute the same.
 * Undefined after the last row of a dictionary. `extract` has no value of its own: it is taken from received bytes.
 */
export function parameterValue(parameter: ParameterDraft, context: ParameterContext): string | undefined {
  switch (parameter.source) {
    case 'fixed':
      return parameter.defaultValue ?? '';
    case 'list':
      return listValue(parameter, context);
    case 'counter':
      return (parameter.prefix ?? '') + counterValue(parameter, ordinalOf(context));
    case 'random':
      return (parameter.prefix ?? '') + randomValue(parameter, keyOfPosition(parameter, context));
    case 'dictionary':
      return dictionaryValue(parameter, context);
    case 'system':
      return systemValue(parameter, context);
    default:
      throw new RangeError(`a parameter with source "${parameter.source}" has no computed value`);
  }
}

function ordinalOf({ user, iteration, users }: ParameterContext): number {
  return users === undefined ? iteration : iteration * users + user;
}

function keyOfPosition(parameter: ParameterDraft, { seed, user, iteration }: ParameterContext): Key {
  const key = keyOf(seed, 'parameter', parameter.id ?? parameter.name ?? '');
  return subkeyOf(subkeyOf(key, user), iteration);
}

function listValue(parameter: ParameterDraft, context: ParameterContext): string {
  const values = parameter.allowedValues ?? [];
  const value = values[ordinalOf(context) % values.length];
  if (value === undefined) throw new RangeError('a list parameter needs allowedValues');
  return value;
}

/** start + n · step; once both bounds are known, by `min` and `max` or by the type, it goes round between them. */
function counterValue(parameter: ParameterDraft, ordinal: number): string {
  const scale = scaleOf(parameter.type, parameter.start ?? '0');
  const start = parseOn(scale, parameter.start || '0', 'start');
  const step = BigInt(parameter.step || 1);
  const value = start + BigInt(ordinal) * step;
  const highest = parameter.max ? parseOn(scale, parameter.max, 'max') : scale.highest;
  const lowest = parameter.min ? parseOn(scale, parameter.min, 'min') : (scale.lowest ?? start);
  if (highest === undefined) return scale.print(value);
  if (lowest > highest) throw new RangeError('max is below min');
  const span = highest - lowest + 1n;
  return scale.print(lowest + ((((value - lowest) % span) + span) % span));
}

function parseOn(scale: Scale, text: string, name: string): bigint {
  const value = scale.find(text);
  if (value === undefined) throw new RangeError(`${name} "${text}" does not fit the type`);
  return value;
}

/** Uniform between `min` and `max` where the type has an order, else a random text of the mapped length. */
function randomValue(parameter: ParameterDraft, key: Key): string {
  const { type, min, max } = parameter;
  const length = mappedLength(parameter);
  if (type === 'enum') return randomChoice(parameter, key);
  if (type === 'string') return randomText(Math.max(1, length - (parameter.prefix ?? '').length), key);
  if (type === 'base64') return randomBytes(length, key).toString('base64');
  if (!min && !max) {
    if (type === 'hex') return randomBytes(length, key).toString('hex');
    if (type === 'uuid') return formatUuid(BigInt.asUintN(122, bitsOf(key, 128)));
    if (type === 'mac') return formatMac(localSpace.at(Number(integerBelow(key, localSpace.size))));
  }
  const scale = scaleOf(type, min ?? max ?? '');
  const widest = type === 'integer' ? 10n ** BigInt(Math.min(length, 30)) - 1n : (scale.highest ?? 2n ** 32n - 1n);
  const lowest = min ? parseOn(scale, min, 'min') : 0n;
  const highest = max ? parseOn(scale, max, 'max') : widest;
  if (lowest > highest) throw new RangeError('max is below min');
  return scale.print(lowest + integerBelow(key, highest - lowest + 1n));
}

function randomChoice(parameter: ParameterDraft, key: Key): string {
  const values = parameter.allowedValues ?? [];
  return values[Number(integerBelow(key, BigInt(values.length)))] ?? '';
}

const alphabet = findAlphabet('alnum') ?? [];

function randomText(length: number, key: Key): string {
  const index = integerBelow(key, BigInt(alphabet.length) ** BigInt(length));
  return digitsOf(index, alphabet.length, length)
    .map((digit) => alphabet[digit])
    .join('');
}

function randomBytes(length: number, key: Key): Buffer {
  const hex = bitsOf(key, length * 8)
    .toString(16)
    .padStart(length * 2, '0');
  return Buffer.from(hex.slice(-length * 2), 'hex');
}

function dictionaryValue(parameter: ParameterDraft, context: ParameterContext): string | undefined {
  const reference = findDictionaryReference(parameter.defaultValue ?? '');
  if (reference === undefined || context.dictionary === undefined) {
    throw new RangeError(`"${parameter.defaultValue}" names no dictionary of the context`);
  }
  return context.dictionary(reference.dictionaryId, reference.column);
}

function systemValue(parameter: ParameterDraft, context: ParameterContext): string {
  const known = { userIndex: context.user, iteration: context.iteration, ...context.system };
  const value = known[parameter.defaultValue as SystemValue];
  if (value === undefined) throw new RangeError(`system value "${parameter.defaultValue}" is not in the context`);
  return String(value);
}
