import { dictionaryNames } from '../../store/assets/applications.ts';
import type { Executor } from '../../store/engine/database.ts';
import { dictionariesOf, type FoundIssue, type Parameter } from './parameter.ts';

/** Parameters that draw from a dictionary that is not there. */
export const dictionaryIssues = async (parameters: readonly Parameter[], read: Executor): Promise<FoundIssue[]> => {
  const used = dictionariesOf(parameters);
  if (used.length === 0) return [];
  const known = await dictionaryNames(
    read,
    used.map(({ dictionaryId }) => dictionaryId),
  );
  return used
    .filter(({ dictionaryId }) => !known.has(dictionaryId))
    .map(({ dictionaryId, index }) => ({
      path: `/parameters/${index}/defaultValue`,
      code: 'DICTIONARY_UNKNOWN',
      message: `there is no dictionary ${dictionaryId}`,
      severity: 'error',
    }));
};
