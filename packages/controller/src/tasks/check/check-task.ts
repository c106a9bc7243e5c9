import type { Issue } from '../../errors.ts';
import type { Executor } from '../../store/engine/database.ts';
import { type Definition, definitionIssues } from './check-definition.ts';
import { referenceIssues } from './reference-rules.ts';

/** All issues of a task, with JSON pointers into it; none when it may be stored. */
export const checkTask = async (
  executor: Executor,
  definition: Definition,
  options: { withoutAgents?: boolean } = {},
): Promise<Issue[]> => [...definitionIssues(definition), ...(await referenceIssues(executor, definition, options))];
