import { Alert } from '@mantine/core';
import { text } from '../lib/text.ts';
import { Explanation } from './explanation.tsx';

/** An error, explained. */
export const Problem = ({ error, title = text.errors.title }: { error: unknown; title?: string }) => (
  <Alert color="red" role="alert" title={title} style={{ whiteSpace: 'pre-line' }}>
    <Explanation error={error} />
  </Alert>
);
