import { Button } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMay } from '../lib/session.ts';
import { text } from '../lib/text.ts';

interface TestWithButtonProps {
  /** Name of a built-in template whose first record is this one. */
  template: string;
  /** The template alone when left out. */
  id?: number;
}

/** Opens a new test that uses a record. */
export const TestWithButton = ({ template, id }: TestWithButtonProps) =>
  useMay()('tasks', 'fromTemplate') && (
    <Button
      variant="default"
      leftSection={<IconPlayerPlay size={16} />}
      renderRoot={(props) => (
        <Link {...props} to="/new" search={{ template, ...(id !== undefined && { record: id }) }} />
      )}
    >
      {id === undefined ? text.nav.newTest : text.newTest.testWith}
    </Button>
  );
