import type { ApplicationParameter, ParameterDraft } from '@rushhour/contract';
import { findDictionaryReference, issuesOfParameter } from '@rushhour/pools';
import type { Issue } from '../../errors.ts';

/** A parameter with all its members; `id` once it is stored. */
export type Parameter = Omit<ApplicationParameter, 'id' | 'applicationId'> & { readonly id?: number };

/** Fills in the defaults. */
export const parameterOf = (draft: ParameterDraft): Parameter => ({
  ...(draft.id && { id: draft.id }),
  name: draft.name,
  description: draft.description ?? '',
  type: draft.type ?? 'string',
  side: draft.side ?? 'both',
  source: draft.source ?? 'fixed',
  prefix: draft.prefix ?? '',
  defaultValue: draft.defaultValue ?? '',
  min: draft.min ?? '',
  max: draft.max ?? '',
  start: draft.start ?? '',
  step: draft.step ?? '',
  allowedValues: draft.allowedValues ?? [],
  extractSessionIdx: draft.extractSessionIdx ?? 0,
  extractStepIdx: draft.extractStepIdx ?? 0,
  extractOffset: draft.extractOffset ?? 0,
  extractLength: draft.extractLength ?? 0,
  stepsMappings: draft.stepsMappings ?? [],
});

export interface FoundIssue extends Omit<Issue, 'in'> {
  readonly severity: 'error' | 'warning';
}

/** All problems that can be found without the capture. */
export const issuesOfParameters = (parameters: readonly Parameter[]): FoundIssue[] => {
  const names = new Map<string, number>();
  return parameters.flatMap((parameter, index) => {
    const path = `/parameters/${index}`;
    const issues: FoundIssue[] = issuesOfParameter(parameter).map((issue) => ({ ...issue, path: path + issue.path }));
    const first = names.get(parameter.name);
    if (first === undefined) names.set(parameter.name, index);
    else {
      const message = `parameter ${first} has this name`;
      issues.push({ path: `${path}/name`, code: 'DUPLICATE_NAME', message, severity: 'error' });
    }
    return issues;
  });
};

/** The dictionaries that parameters draw from. */
export const dictionariesOf = (parameters: readonly Pick<Parameter, 'source' | 'defaultValue'>[]) =>
  parameters.flatMap(({ source, defaultValue }, index) => {
    const found = source === 'dictionary' ? findDictionaryReference(defaultValue) : undefined;
    return found ? [{ ...found, index }] : [];
  });
