import { bitsOf, type Key, subkeyOf, wordOf } from './random.ts';

/** A keyed bijection of 0 … size − 1 onto itself that needs no memory: a Feistel network with cycle walking. */
export interface Permutation {
  at(index: bigint): bigint;
  indexOf(value: bigint): bigint;
}

const roundCount = 6;

export function createPermutation(size: bigint, key: Key): Permutation {
  if (size < 1n) throw new RangeError('a permutation needs at least one member');
  const halfBits = Math.max(1, Math.ceil((size - 1n).toString(2).length / 2));
  return halfBits <= 26 ? narrowPermutation(Number(size), halfBits, key) : widePermutation(size, halfBits, key);
}

// Both halves fit 32-bit integer arithmetic, and the whole is an exact number.
function narrowPermutation(size: number, halfBits: number, key: Key): Permutation {
  const side = 2 ** halfBits;
  const mask = side - 1;
  const mix = (round: number, half: number): number => wordOf(key, half + round * 2 ** 26) & mask;
  const forward = (value: number): number => {
    let left = Math.floor(value / side);
    let right = value % side;
    for (let round = 0; round < roundCount; round++) {
      const next = left ^ mix(round, right);
      left = right;
      right = next;
    }
    return left * side + right;
  };
  const backward = (value: number): number => {
    let left = Math.floor(value / side);
    let right = value % side;
    for (let round = roundCount - 1; round >= 0; round--) {
      const previous = right ^ mix(round, left);
      right = left;
      left = previous;
    }
    return left * side + right;
  };
  const walk = (step: (value: number) => number, from: bigint): bigint => {
    let value = step(Number(from));
    while (value >= size) value = step(value);
    return BigInt(value);
  };
  return { at: (index) => walk(forward, index), indexOf: (value) => walk(backward, value) };
}

function widePermutation(size: bigint, halfBits: number, key: Key): Permutation {
  const shift = BigInt(halfBits);
  const mask = (1n << shift) - 1n;
  const mix = (round: number, half: bigint): bigint => {
    let roundKey = subkeyOf(key, round);
    for (let rest = half; rest > 0n; rest >>= 32n) roundKey = subkeyOf(roundKey, Number(rest & 0xffffffffn));
    return bitsOf(roundKey, halfBits) & mask;
  };
  const forward = (value: bigint): bigint => {
    let [left, right] = [value >> shift, value & mask];
    for (let round = 0; round < roundCount; round++) [left, right] = [right, left ^ mix(round, right)];
    return (left << shift) | right;
  };
  const backward = (value: bigint): bigint => {
    let [left, right] = [value >> shift, value & mask];
    for (let round = roundCount - 1; round >= 0; round--) [left, right] = [right ^ mix(round, left), left];
    return (left << shift) | right;
  };
  const walk = (step: (value: bigint) => bigint, from: bigint): bigint => {
    let value = step(from);
    while (value >= size) value = step(value);
    return value;
  };
  return { at: (index) => walk(forward, index), indexOf: (value) => walk(backward, value) };
}
