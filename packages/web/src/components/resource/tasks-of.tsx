import { Button } from '@mantine/core';
import { IconTimeline } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../lib/session.ts';

interface TasksOfProps {
  label: string;
  /** Search parameters of the task list. */
  filter: Record<string, number>;
}

/** Opens the tasks of an agent or project. */
export const TasksOf = ({ label, filter }: TasksOfProps) =>
  useMay()('tasks', 'list') && (
    <Button
      variant="default"
      leftSection={<IconTimeline size={16} />}
      renderRoot={(props) => (
        <Link {...props} to="/resources/$name" params={{ name: 'tasks' }} search={filter as never} />
      )}
    >
      {label}
    </Button>
  );
