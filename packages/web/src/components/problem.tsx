import { Alert } from '@mantine/core';
import { explain } from '../lib/explain.ts';
import { text } from '../lib/text.ts';

/** An error, explained. */
export const Problem = ({ error, title = text.errors.title }: { error: unknown; title?: string }) => (
  <Alert color="red" role="alert" title={title} style={{ whiteSpace: 'pre-line' }}>
    {explain(error)}
  </Alert>
);
