import type { StepText } from './step-text.ts';

/** A parameter that might be worth having, and the recorded value it stands for. */
export interface Candidate {
  readonly name: string;
  readonly value: string;
  readonly type: string;
  readonly source: string;
  readonly defaultValue?: string;
  readonly start?: string;
  readonly confidence: number;
  readonly reason: string;
  /** Where the value is extracted from; it is mapped only behind that step. */
  readonly from?: Occurrence;
}

export interface Occurrence {
  /** Position of the step in the order of time. */
  readonly at: number;
  readonly offset: number;
}

const isWord = (character: string | undefined) => character !== undefined && /[A-Za-z0-9_@]/.test(character);
const maxOccurrences = 1000;

const findIn = (text: string, value: string, from: number) => {
  for (let offset = text.indexOf(value, from); offset >= 0; offset = text.indexOf(value, offset + value.length)) {
    if (!isWord(text[offset - 1]) && !isWord(text[offset + value.length])) return offset;
  }
  return -1;
};

/** The first occurrence of a value in a server step before the step `end`. */
export const findInServerSteps = (value: string, steps: readonly StepText[], end: number): Occurrence | undefined => {
  for (const [at, { step, text }] of steps.slice(0, end).entries()) {
    const offset = step.side === 'server' ? findIn(text, value, 0) : -1;
    if (offset >= 0) return { at, offset };
  }
  return undefined;
};

/** Occurrences of a value as a separate word, in chronological order. */
export const occurrencesOf = (value: string, steps: readonly StepText[], from = 0): Occurrence[] => {
  const found: Occurrence[] = [];
  for (let at = from; at < steps.length; at++) {
    const text = steps[at]?.text ?? '';
    for (let offset = findIn(text, value, 0); offset >= 0; offset = findIn(text, value, offset + value.length)) {
      if (found.length >= maxOccurrences) return found;
      found.push({ at, offset });
    }
  }
  return found;
};
