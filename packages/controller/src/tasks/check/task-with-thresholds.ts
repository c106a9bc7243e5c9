import { Threshold } from '@rushhour/contract';
import { Type } from 'typebox';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import { definitionOf } from '../records/write-task.ts';
import { issuesOfUnknown } from './check-definition.ts';
import { thresholdIssues } from './threshold-rules.ts';

const checkThresholds = createSchemaCheck(Type.Array(Threshold, { maxItems: 200 }));

/** All issues of a task and its `thresholds` that can be found without the database. */
export const issuesWithThresholds = (given: Readonly<Record<string, unknown>>): Issue[] => {
  const { thresholds = [], ...task } = given;
  const issues = [...issuesOfUnknown(task), ...checkThresholds(structuredClone(thresholds), '/thresholds')];
  // Only a well-formed task says which metrics it has.
  return issues.length > 0 ? issues : thresholdIssues(definitionOf(task as never), thresholds as Threshold[]);
};
