import { seededBytes } from '../signatures/expressions/seeded-bytes.ts';
import { mutators } from './mutators.ts';

export interface Weighted {
  readonly name: string;
  readonly weight: number;
}

export type PayloadPosition = 'replace' | 'prefix' | 'postfix' | 'infix' | 'replace-regex';

/** A named part of a request that cases change. */
export interface FuzzPart {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface FuzzRules {
  readonly seed: number;
  /** All of them alike where none is named. */
  readonly mutators: readonly Weighted[];
  readonly words: readonly string[];
  readonly position: PayloadPosition;
  /** Changes several parts at once. */
  readonly isMultiple: boolean;
}

export interface FuzzCase {
  readonly number: number;
  /** New bytes by the name of the part. */
  readonly changed: ReadonlyMap<string, Buffer>;
  /** Ways that were taken, such as `bit-flip path`. */
  readonly changes: readonly string[];
}

const everyMutator: readonly Weighted[] = Object.keys(mutators).map((name) => ({ name, weight: 1 }));

/** A case is what seed and number say and nothing else: any of them can be made again by itself. */
export const fuzzCase = (parts: readonly FuzzPart[], rules: FuzzRules, number: number): FuzzCase => {
  const chance = seededBytes(`${rules.seed}/${number}`);
  const count = rules.isMultiple ? 1 + chance.below(parts.length) : 1;
  const changed = new Map<string, Buffer>();
  const changes: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const part = parts[chance.below(parts.length)] as FuzzPart;
    const name = chosen(rules.mutators.length > 0 ? rules.mutators : everyMutator, chance.below(2 ** 32) / 2 ** 32);
    const before = changed.get(part.name) ?? part.bytes;
    const after = mutators[name]?.(before, chance, rules.words) ?? before;
    changed.set(part.name, placed(before, after, rules.position));
    changes.push(`${name} ${part.name}`);
  }
  return { number, changed, changes };
};

/** Beside what was there, or in its place. */
const placed = (before: Buffer, after: Buffer, position: PayloadPosition): Buffer => {
  if (position === 'prefix') return Buffer.concat([after, before]);
  if (position === 'postfix') return Buffer.concat([before, after]);
  if (position !== 'infix') return after;
  const middle = Math.floor(before.length / 2);
  return Buffer.concat([before.subarray(0, middle), after, before.subarray(middle)]);
};

const chosen = (weighted: readonly Weighted[], share: number): string => {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  let rest = share * total;
  for (const { name, weight } of weighted) {
    rest -= weight;
    if (rest < 0) return name;
  }
  return weighted.at(-1)?.name ?? 'bit-flip';
};
