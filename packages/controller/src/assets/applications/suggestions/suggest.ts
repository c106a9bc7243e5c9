import type { Suggestion } from '@rushhour/contract';
import type { RecordedStep } from '../captures/session-steps.ts';
import { type Candidate, type Occurrence, occurrencesOf } from './candidate.ts';
import { knownByLook, knownByName, type SuggestionContext } from './rules.ts';
import { isUsable, readStep, type StepText } from './step-text.ts';

const maxSuggestions = 100;
const maxCandidates = 500;
/** For all steps together; later steps are not examined. */
const maxTextBytes = 4_194_304;

/**
 * Suggested parameters, highest confidence first. Their mappings never overlap, so all of them can be used together;
 * a value that the server sent before the client is extracted, not generated.
 */
export const suggestParameters = (recorded: readonly RecordedStep[], context: SuggestionContext): Suggestion[] => {
  const steps = [...readSteps(recorded)];
  const candidates = [...distinct(candidatesOf(steps, context))].sort(
    (left, right) => right.confidence - left.confidence || right.value.length - left.value.length,
  );
  const taken = new Taken();
  const names = new Set<string>();
  const suggestions: Suggestion[] = [];
  for (const candidate of candidates) {
    if (suggestions.length >= maxSuggestions) break;
    const occurrences = mappableOccurrences(candidate, steps).filter((occurrence) =>
      taken.take(occurrence, candidate.value.length),
    );
    if (occurrences.length > 0)
      suggestions.push(suggestionOf(candidate, { occurrences, steps, name: nameFor(candidate, names) }));
  }
  return suggestions;
};

function* readSteps(recorded: readonly RecordedStep[]): Generator<StepText> {
  const inOrder = [...recorded].sort(
    (left, right) => left.atMs - right.atMs || left.sessionIdx - right.sessionIdx || left.stepIdx - right.stepIdx,
  );
  let left = maxTextBytes;
  for (const step of inOrder) {
    const read = readStep(step);
    left -= read.text.length;
    if (left < 0) return;
    yield read;
  }
}

function* candidatesOf(steps: readonly StepText[], context: SuggestionContext): Generator<Candidate> {
  for (const [at, step] of steps.entries()) {
    for (const named of step.values) if (isUsable(named)) yield* knownByName(named, at, steps);
    yield* knownByLook(step, context);
  }
}

function* distinct(candidates: Iterable<Candidate>): Generator<Candidate> {
  const seen = new Set<string>();
  for (const candidate of candidates) {
    const key = JSON.stringify([candidate.value, candidate.source, candidate.type]);
    if (seen.has(key)) continue;
    seen.add(key);
    yield candidate;
    if (seen.size >= maxCandidates) return;
  }
}

const mappableOccurrences = ({ value, from }: Candidate, steps: readonly StepText[]) =>
  occurrencesOf(value, steps, from === undefined ? 0 : from.at + 1);

/** Occurrences that already belong to a suggestion. */
class Taken {
  readonly #regions = new Map<number, { offset: number; end: number }[]>();

  take({ at, offset }: Occurrence, length: number): boolean {
    const regions = this.#regions.get(at) ?? [];
    if (regions.some((region) => offset < region.end && region.offset < offset + length)) return false;
    regions.push({ offset, end: offset + length });
    this.#regions.set(at, regions);
    return true;
  }
}

const nameFor = ({ name }: Candidate, names: Set<string>) => {
  const base = name.slice(0, 100);
  let free = base;
  for (let number = 2; names.has(free); number++) free = `${base}${number}`;
  names.add(free);
  return free;
};

const suggestionOf = (
  candidate: Candidate,
  { occurrences, steps, name }: { occurrences: Occurrence[]; steps: readonly StepText[]; name: string },
): Suggestion => {
  const { value, from, type, source, confidence, reason, defaultValue = '', start = '' } = candidate;
  const stepAt = (at: number) => (steps[at] as StepText).step;
  const origin = from && stepAt(from.at);
  return {
    name,
    description: reason,
    type,
    side: 'both',
    source,
    prefix: '',
    defaultValue,
    min: '',
    max: '',
    start,
    step: source === 'counter' ? '1' : '',
    allowedValues: [],
    extractSessionIdx: origin?.sessionIdx ?? 0,
    extractStepIdx: origin?.stepIdx ?? 0,
    extractOffset: from?.offset ?? 0,
    extractLength: from ? value.length : 0,
    stepsMappings: occurrences.map(({ at, offset }) => {
      const { sessionIdx, stepIdx, side } = stepAt(at);
      return { sessionIdx, stepIdx, side, offset, length: value.length };
    }),
    confidence,
    reason,
  };
};
