import type { ClientObservation } from '@rushhour/protocol';
import { RE2JS } from 're2js';
import type { BlockPolicy } from './evidence.ts';

interface Patterns {
  readonly block: RE2JS | undefined;
  readonly pass: RE2JS | undefined;
}

const known = new WeakMap<BlockPolicy, Patterns>();

const patternsOf = (policy: BlockPolicy): Patterns => {
  const compiled = (pattern: string | undefined) => (pattern ? RE2JS.compile(pattern) : undefined);
  const patterns = known.get(policy) ?? { block: compiled(policy.blockRegex), pass: compiled(policy.passRegex) };
  known.set(policy, patterns);
  return patterns;
};

/** The reason why a pattern for answers cannot be used; undefined if it can. */
export const answerPatternProblem = (pattern: string): string | undefined => {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be read';
  }
};

/**
 * What the policy says of an answer that is not from our server: detail of a verdict, which follows from what both ends
 * have seen. Empty when the policy does not know the answer.
 */
export const answerDetailOf = (
  { status, excerpt = '' }: Pick<ClientObservation, 'status' | 'excerpt'>,
  policy: BlockPolicy,
): string => {
  const { block, pass } = patternsOf(policy);
  const text = Buffer.from(excerpt, 'base64').toString();
  const found = [
    policy.blockStatus.includes(status) ? `status ${status} is one of blockStatus` : '',
    block?.matcher(text).find() ? 'its text fits blockRegex' : '',
    policy.passStatus.includes(status) ? `status ${status} is one of passStatus` : '',
    pass?.matcher(text).find() ? 'its text fits passRegex' : '',
  ];
  return found.filter((detail) => detail !== '').join(', ');
};
