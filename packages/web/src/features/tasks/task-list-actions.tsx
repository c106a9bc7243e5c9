import { Button, Group } from '@mantine/core';
import { IconPencilPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { ImportTaskButton } from './import-dialog.tsx';

/** Imports a task, or creates one in the editor. */
export const TaskListActions = () => {
  const may = useMay();
  return (
    <Group gap="xs">
      <ImportTaskButton />
      {may('tasks', 'create') && (
        <Button
          variant="default"
          leftSection={<IconPencilPlus size={16} />}
          renderRoot={(props) => <Link {...props} to="/tasks/new" />}
        >
          {text.newTest.fromScratch}
        </Button>
      )}
    </Group>
  );
};
