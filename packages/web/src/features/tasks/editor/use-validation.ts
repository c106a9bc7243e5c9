import { useDebouncedValue } from '@mantine/hooks';
import { RequestFailed } from '@rushhour/client';
import type { Estimate, TaskDraft, ValidationIssue } from '@rushhour/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from '../../../lib/client.ts';
import { draftOf, type TaskForm } from './task-form.ts';

const typingMs = 500;

interface Checked {
  readonly valid: boolean;
  readonly issues: readonly ValidationIssue[];
  readonly estimate?: Estimate;
}

/** A masked secret keeps the stored one, but validation sees only the draft and reports it as unknown. */
const isRelevant = (hasSecrets: boolean) => (issue: ValidationIssue) =>
  !(hasSecrets && issue.code === 'SECRET_UNKNOWN');

const check = async (draft: TaskDraft, hasSecrets: boolean): Promise<Checked> => {
  try {
    const { data } = await client.tasks.validate({ body: draft });
    const issues = data.issues.filter(isRelevant(hasSecrets));
    return { ...data, issues, valid: issues.every(({ severity }) => severity !== 'error') };
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.status !== 400) throw error;
    const issues = error.data.issues ?? [];
    return { valid: false, issues: issues.map((issue) => ({ ...issue, severity: 'error' as const })) };
  }
};

/** Validates the task in the editor half a second after the last change. */
export const useValidation = (form: TaskForm, isStored: boolean) => {
  const [settled] = useDebouncedValue(form, typingMs);
  const draft = draftOf(settled);
  const { data, isFetching, error } = useQuery({
    queryKey: ['tasks', 'validate', JSON.stringify(draft), isStored],
    queryFn: () => check(draft, isStored),
    enabled: draft.configuration.length > 0,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
  return {
    checked: draft.configuration.length > 0 ? data : undefined,
    isChecking: isFetching || (settled !== form && form.configuration.length > 0),
    error,
  };
};
