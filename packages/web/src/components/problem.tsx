import { Alert } from '@mantine/core';
import { explain } from '../lib/explain.ts';
import { text } from '../lib/text.ts';

/** What the controller refused and why; stays as long as it is true. */
export const Problem = ({ error, title = text.errors.title }: { error: unknown; title?: string }) => (
  <Alert color="red" role="alert" title={title} style={{ whiteSpace: 'pre-line' }}>
    {explain(error)}
  </Alert>
);
