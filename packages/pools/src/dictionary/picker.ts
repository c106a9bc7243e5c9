import { createPermutation, type Permutation } from '../values/permutation.ts';
import { integerBelow, type Key, keyOf, type Seed, subkeyOf, unitOf } from '../values/random.ts';
import { floorIndex } from '../values/value-range.ts';
import type { SelectionRule } from './selection-rule.ts';

/** Identifies the reader. Processes with equal options agree on every row. */
export interface DrawOptions {
  readonly seed: Seed;
  /** Users of the agent, numbered from 0. Default 1. */
  readonly users?: number | undefined;
  /** Requests in one iteration, for scope `request`. Default 1. */
  readonly requests?: number | undefined;
  /** The agent that emulates the user, also when its peer computes the value. Default 0 of 1. */
  readonly agentIndex?: number | undefined;
  readonly agentCount?: number | undefined;
}

export interface DrawPosition {
  readonly user?: number | undefined;
  readonly iteration?: number | undefined;
  readonly request?: number | undefined;
}

/** The number of a row; undefined after the last row. */
export type Picker = (position: DrawPosition) => bigint | undefined;

export interface PickerParts {
  /** Rows to pick from. */
  readonly size: bigint;
  readonly rule: SelectionRule;
  readonly options: DrawOptions;
  /** Distinguishes the dictionaries of one task. */
  readonly label: number;
  /** Sequences of random values have no order. */
  readonly isRandomType: boolean;
  weightOf?: ((row: bigint) => number) | undefined;
}

export function createPicker({ size, rule, options, label, isRandomType, weightOf }: PickerParts): Picker {
  const { agentIndex = 0, agentCount = 1 } = options;
  if (!(agentIndex >= 0 && agentIndex < agentCount)) throw new RangeError(`no agent ${agentIndex} of ${agentCount}`);
  const [index, count] = [BigInt(agentIndex), BigInt(agentCount)];
  // One row for the whole task cannot be divided.
  const isSharded = rule.shard && rule.scope !== 'task';
  const own = !isSharded ? size : size > index ? (size - index - 1n) / count + 1n : 0n;
  if (own === 0n) return () => undefined;
  // Agents that divide the rows take every agentCount-th one.
  const rowOf = (pick: bigint): bigint => (isSharded ? index + pick * count : pick);
  const key = keyOf(rule.seed ?? options.seed, 'dictionary', label, rule.scope === 'task' ? 0 : agentIndex);
  const pick = createPick({ own, rule, options, key, isRandomType, weightAt: weightOf && ((k) => weightOf(rowOf(k))) });
  return (position) => {
    const picked = pick(position);
    return picked === undefined ? undefined : rowOf(picked);
  };
}

interface PickParts {
  readonly own: bigint;
  readonly rule: SelectionRule;
  readonly options: DrawOptions;
  readonly key: Key;
  readonly isRandomType: boolean;
  readonly weightAt: ((pick: bigint) => number) | undefined;
}

function createPick(parts: PickParts): Picker {
  const { own, rule, options, key, isRandomType } = parts;
  switch (rule.selection) {
    case 'pinned':
      return ({ user = 0 }) => integerBelow(subkeyOf(key, user), own);
    case 'weighted':
      return createWeightedPick(parts);
    case 'random':
      return (position) => integerBelow(coordinateKey(key, rule, position), own);
    case 'sequential':
      if (isRandomType) return (position) => integerBelow(coordinateKey(key, rule, position), own);
      return createOrderedPick(parts, (_pass, index) => index);
    case 'unique':
      if (!isRandomType) return createOrderedPick(parts, (_pass, index) => index);
      return createOrderedPick(parts, createShuffle(own, key));
    case 'shuffle':
      return createOrderedPick(parts, createShuffle(own, key));
    default:
      throw new RangeError(`unknown selection "${rule.selection satisfies never}" for ${options.seed}`);
  }
}

type IndexOf = (pass: number, index: bigint) => bigint;

/** A permutation of its own for every pass; only the latest is kept, as passes follow each other. */
function createShuffle(own: bigint, key: Key): IndexOf {
  let latest: { pass: number; permutation: Permutation } | undefined;
  return (pass, index) => {
    if (latest?.pass !== pass) latest = { pass, permutation: createPermutation(own, subkeyOf(key, pass)) };
    return latest.permutation.at(index);
  };
}

function createOrderedPick({ own, rule, options }: PickParts, indexOf: IndexOf): Picker {
  return (position) => {
    const ordinal = BigInt(ordinalOf(rule, options, position));
    if (ordinal < own || rule.onEnd === 'wrap') return indexOf(Number(ordinal / own), ordinal % own);
    return rule.onEnd === 'stop' ? undefined : indexOf(0, own - 1n);
  };
}

function createWeightedPick({ own, rule, key, weightAt = () => 1 }: PickParts): Picker {
  const sums = new Float64Array(Number(own) + 1);
  for (let i = 0; i < Number(own); i++) sums[i + 1] = (sums[i] ?? 0) + weightAt(BigInt(i));
  const total = sums.at(-1) ?? 0;
  if (total === 0) return () => undefined;
  return (position) => {
    const row = floorIndex(sums, unitOf(coordinateKey(key, rule, position)) * total);
    return BigInt(Math.min(row, sums.length - 2));
  };
}

/** The n-th draw of the agent, counted over all its users. */
function ordinalOf(rule: SelectionRule, options: DrawOptions, position: DrawPosition): number {
  const { user = 0, iteration = 0, request = 0 } = position;
  const { users = 1, requests = 1, agentIndex = 0 } = options;
  if (user >= users) throw new RangeError(`user ${user} of ${users}: say how many users there are`);
  switch (rule.scope) {
    case 'task':
      return 0;
    case 'agent':
      return rule.shard ? 0 : agentIndex;
    case 'user':
      return user;
    case 'session':
      return iteration * users + user;
    case 'request':
      if (request >= requests) throw new RangeError(`request ${request} of ${requests}: say how many there are`);
      return (iteration * users + user) * requests + request;
  }
}

function coordinateKey(key: Key, rule: SelectionRule, position: DrawPosition): Key {
  const { user = 0, iteration = 0, request = 0 } = position;
  const depth = { task: 0, agent: 0, user: 1, session: 2, request: 3 }[rule.scope];
  let found = key;
  for (const coordinate of [user, iteration, request].slice(0, depth)) found = subkeyOf(found, coordinate);
  return found;
}
