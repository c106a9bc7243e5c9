import type { Parameter } from '../parameter.ts';

/** The identity of a step: side, length and hash. */
export interface StepPrint {
  readonly sha256: string;
  readonly length: number;
}

/** A session before and after trimming: its new index, if it is kept, and its steps. */
export interface MovedSession {
  readonly to: number | undefined;
  readonly before: readonly StepPrint[];
  readonly after: readonly StepPrint[];
}

/** A mapping whose step was removed. */
export interface Orphan {
  readonly parameter: string;
  /** JSON pointer into the application as it was. */
  readonly path: string;
  readonly reason: string;
}

/** Moves every mapping to the same bytes of the new capture; mappings whose step was removed are left out. */
export const remapParameters = (parameters: readonly Parameter[], moved: (sessionIdx: number) => MovedSession) => {
  const sessions = new Map<number, { to: number; steps: Map<number, number> } | undefined>();
  const targetOf = (sessionIdx: number, stepIdx: number) => {
    if (!sessions.has(sessionIdx)) sessions.set(sessionIdx, alignment(moved(sessionIdx)));
    const found = sessions.get(sessionIdx);
    const step = found?.steps.get(stepIdx);
    return found === undefined || step === undefined ? undefined : { sessionIdx: found.to, stepIdx: step };
  };
  const reasonFor = (sessionIdx: number) =>
    sessions.get(sessionIdx) === undefined ? `session ${sessionIdx} is removed` : 'the step is not left as it was';
  const orphans: Orphan[] = [];
  const kept = parameters.flatMap((parameter, p): Parameter[] => {
    const { name, source, extractSessionIdx, extractStepIdx } = parameter;
    const extract = source === 'extract' ? targetOf(extractSessionIdx, extractStepIdx) : undefined;
    if (source === 'extract' && extract === undefined) {
      orphans.push({ parameter: name, path: `/parameters/${p}`, reason: reasonFor(extractSessionIdx) });
      return [];
    }
    const stepsMappings = parameter.stepsMappings.flatMap((mapping, m) => {
      const there = targetOf(mapping.sessionIdx, mapping.stepIdx);
      if (there) return [{ ...mapping, ...there }];
      const path = `/parameters/${p}/stepsMappings/${m}`;
      orphans.push({ parameter: name, path, reason: reasonFor(mapping.sessionIdx) });
      return [];
    });
    const extracted = extract && { extractSessionIdx: extract.sessionIdx, extractStepIdx: extract.stepIdx };
    return [{ ...parameter, ...extracted, stepsMappings }];
  });
  return { parameters: kept, orphans };
};

/** Which old step is which new one: equal bytes, in the old order. */
const alignment = ({ to, before, after }: MovedSession) => {
  if (to === undefined) return undefined;
  const steps = new Map<number, number>();
  let from = 0;
  for (const [index, { sha256, length }] of after.entries()) {
    const found = before.findIndex(
      (step, at) => at >= from && sha256 !== '' && step.sha256 === sha256 && step.length === length,
    );
    if (found < 0) continue;
    steps.set(found, index);
    from = found + 1;
  }
  return { to, steps };
};
