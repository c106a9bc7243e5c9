import { RequestFailed } from '@rushhour/client';
import { lazy, Suspense } from 'react';
import { explain } from '../lib/explain.ts';

const IssueList = lazy(() => import('./issue-list.tsx'));

/** An error in words. The labels of fields are loaded when they are needed first: the controller has just answered. */
export const Explanation = ({ error }: { error: unknown }) => {
  const issues = error instanceof RequestFailed ? (error.data.issues ?? []) : [];
  if (issues.length === 0) return explain(error);
  return (
    <Suspense>
      <IssueList issues={issues} />
    </Suspense>
  );
};
