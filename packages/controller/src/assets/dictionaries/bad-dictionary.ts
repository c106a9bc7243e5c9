import { type Issue, invalid } from '../../errors.ts';

export const badDictionary = (issues: readonly Issue[]) => invalid(issues, 'INVALID_DICTIONARY');
