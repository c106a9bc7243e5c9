import type { Seed } from '../values/random.ts';
import type { Section } from './section.ts';

export const selections = ['sequential', 'random', 'shuffle', 'weighted', 'unique', 'pinned'] as const;
export type Selection = (typeof selections)[number];

export const drawScopes = ['task', 'agent', 'user', 'session', 'request'] as const;
/** How long a drawn row lasts: the whole task, one agent, one user, one session (iteration), one request. */
export type DrawScope = (typeof drawScopes)[number];

/** The `$selection` of a dictionary. */
export interface SelectionRule {
  readonly selection: Selection;
  /** Behaviour after the last row; by default `stop` for unique, otherwise `wrap`. */
  readonly onEnd: 'wrap' | 'stop' | 'last';
  readonly scope: DrawScope;
  /** Agents divide the rows among themselves instead of each using all. Always true for unique. */
  readonly shard: boolean;
  /** Overrides the seed of the task. */
  readonly seed: Seed | undefined;
  readonly offset: number;
  /** 0: all rows. */
  readonly limit: number;
  /** One weight per row. */
  readonly weights: readonly number[] | undefined;
  readonly weightColumn: string | undefined;
}

export function readSelectionRule(selection: Selection, section: Section): SelectionRule {
  const rule = {
    selection,
    onEnd: section.choice('onEnd', ['wrap', 'stop', 'last']) ?? (selection === 'unique' ? 'stop' : 'wrap'),
    scope: section.choice('scope', drawScopes) ?? 'session',
    shard: section.flag('shard') || selection === 'unique',
    seed: section.text('seed'),
    offset: section.integer('offset', 0) ?? 0,
    limit: section.integer('limit', 0) ?? 0,
    weights: readWeights(section),
    weightColumn: section.text('weightColumn'),
  };
  if (selection === 'weighted' && section.raw('weights') === undefined && rule.weightColumn === undefined) {
    section.error('weights', 'WEIGHTS_MISSING', 'selection weighted needs weights or weightColumn');
  }
  if (rule.weights !== undefined && rule.weightColumn !== undefined) {
    section.error('weightColumn', 'WEIGHTS_AMBIGUOUS', 'give either weights or weightColumn');
  }
  section.reportUnknown();
  return rule;
}

function readWeights(section: Section): readonly number[] | undefined {
  const weights = section.raw('weights');
  if (weights === undefined) return undefined;
  if (!Array.isArray(weights) || !weights.every((weight) => Number.isFinite(weight) && weight >= 0)) {
    return section.error('weights', 'WEIGHT_INVALID', 'weights are numbers from 0 on');
  }
  if (!weights.some((weight) => weight > 0)) return section.error('weights', 'WEIGHTS_ZERO', 'all weights are 0');
  return weights;
}
